"""What was launched, and the file it is written to."""

import json
import os
import threading
import time

FORMAT = 1
DRAIN_AT = 10000  # launches whose events are held before finished ones are read
DRAIN_EVERY = 0.2  # seconds between readings while the device waits for the script anyway


class Recorder:
    """Also restores, at its end, whatever was replaced for it."""

    def __init__(self, prefix, on_range=False, most=0):
        self.prefix, self.on_range, self.most = prefix, on_range, most
        self.lock = threading.RLock()
        self.depth = 0  # of `with recorder`
        self.undo = []  # what restores the world, last first
        self.open = self.opened = not on_range
        self.main = os.getpid()
        self.begin()

    def begin(self):
        """Start over, as in a child of fork: the parent's launches are the parent's."""
        self.lock = threading.RLock()
        self.pid = os.getpid()
        self.pending, self.lines, self.spare = [], [], []
        self.launches = 0
        self.drained = time.monotonic()
        self.problems = set()
        self.versions = {}
        self.started = False
        self.finished = False

    # -- writing --

    def say(self, **line):
        self.lines.append(line)

    def problem(self, text):
        if text not in self.problems:
            self.problems.add(text)
            self.say(type="problem", text=text)

    def write(self):
        """Append what there is. The file is opened each time: a script may close
        every descriptor, or change its directory."""
        lines, self.lines = self.lines, []
        if not self.started:
            self.started = True
            lines.insert(0, {"type": "start", "format": FORMAT, "pid": self.pid, "range": "cuda" if self.on_range else "all"})
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()
        try:
            fd = os.open(f"{self.prefix}.{self.pid}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                while text:
                    text = text[os.write(fd, text):]
            finally:
                os.close(fd)
        except OSError:
            pass  # the missing end says so

    # -- launches --

    def wants(self):
        return (self.depth > 0 and self.open and not self.finished and os.getpid() == self.pid
                and not (self.most and self.launches >= self.most))

    def time(self, cuda, stream):
        """A pair of events and the stream to record them on; None while the stream
        is being captured: a replay of the graph does not come back here."""
        if cuda.is_current_stream_capturing():
            return None
        device = cuda.current_device()
        with self.lock:
            pair = self.spare.pop() if self.spare else None
        if pair is None or pair[0] != device:
            pair = (device, cuda.Event(enable_timing=True), cuda.Event(enable_timing=True))
        if stream == cuda.current_stream().cuda_stream:
            return pair, cuda.current_stream()
        return pair, cuda.ExternalStream(stream) if stream else cuda.default_stream()

    def add(self, launch, pair):
        with self.lock:
            self.launches += 1
            self.pending.append((launch, pair))
            if pair is not None and (len(self.pending) >= DRAIN_AT or self.caught_up()):
                self.drain(wait=False)

    def caught_up(self):
        """Whether the device has done all but the newest launch: it loses nothing by
        a pause of the script, in which whoever follows the file is told."""
        if time.monotonic() - self.drained < DRAIN_EVERY or len(self.pending) < 2:
            return False
        pair = self.pending[-2][1]
        try:
            return pair is None or pair[2].query()
        except Exception:
            return False  # drain says why

    def drain(self, wait):
        """Read the events of launches that have ended, in order of launch."""
        self.drained = time.monotonic()
        done = 0
        for launch, pair in self.pending:
            if pair is not None:
                _, start, end = pair
                try:
                    if wait:
                        end.synchronize()
                    elif not end.query():
                        break
                    launch["us"] = start.elapsed_time(end) * 1e3
                    self.spare.append(pair)
                except Exception as e:  # the device is lost: the rest has no times
                    self.problem(f"events could not be read: {first_line(e)}")
            self.say(**launch)
            done += 1
        del self.pending[:done]
        if self.lines:
            self.write()

    def finish(self):
        """Wait for the launches, and write the end. Once, and only where it began."""
        with self.lock:
            if self.finished or os.getpid() != self.pid:
                return
            if self.pid != self.main and not self.launches:
                return  # a child that has nothing to do with Triton
            self.drain(wait=True)
            self.finished = True
            if self.versions:
                self.say(type="versions", **self.versions)
            self.say(type="end", launches=self.launches, opened=self.opened)
            self.write()

    def set_open(self, yes):
        if self.on_range and os.getpid() == self.pid:
            self.open = yes
            self.opened = self.opened or yes

    # -- what is watched --

    def __enter__(self):
        self.depth += 1
        if self.depth == 1:
            from . import patches

            patches.apply(self)
        return self

    def __exit__(self, *exception):
        self.depth -= 1
        if self.depth == 0:
            while self.undo:
                self.undo.pop()()
        return False

    def replace(self, owner, name, new):
        """Set an attribute, and put it back at the end unless somebody else has set
        it since: theirs calls ours, which then does nothing."""
        old = getattr(owner, name)
        setattr(owner, name, new)

        def restore():
            if getattr(owner, name, None) is new:
                setattr(owner, name, old)

        self.undo.append(restore)


def first_line(e):
    return (str(e).strip() or type(e).__name__).splitlines()[0]
