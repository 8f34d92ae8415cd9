"""Arms of tests: each misbehaves in the way that its name says, in the request named
after the colon, cheat/crash:run."""

import base64, hashlib, os, resource, signal, subprocess, sys, threading, time
from . import errors, pure_arms

def misbehave(how):
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "exit":
        os._exit(7)
    elif how == "leave":
        raise SystemExit(0)
    elif how == "hang":
        time.sleep(3600)
    elif how == "pool":  # hangs with a child of its own
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        print("child", child.pid, flush=True)
        time.sleep(3600)
    elif how == "raise":
        raise ValueError("first line\n{'not': 'an answer'}")
    elif how == "memory":
        raise MemoryError("nothing left")
    elif how == "garbage":
        print('{"seq": 1, "result": "garbage"}')
        os.write(1, b'\xff\x00{"seq": 2}\n' * 1000)
        os.write(2, b'{"seq": 3, "result": null}\n')
    elif how == "limit":  # no more memory for this process
        resource.setrlimit(resource.RLIMIT_AS, (int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (8 << 20),) * 2)
    elif how == "answer":  # garbage on the answers themselves
        os.write(4, b'{"seq": 0, "result": "stale"}\n')
    elif how == "close":
        os.close(4)
        time.sleep(3600)
    elif how == "fork":  # a child that holds everything open, and is left behind
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(7)
    elif how == "stray":  # a child that goes on as if it were this process
        os.fork()
    elif how == "daemon":  # the same, outside the group
        ready, done = os.pipe()
        if os.fork() == 0:
            os.setsid()
            os.write(done, b".")
            time.sleep(5)
            os._exit(0)
        os.read(ready, 1)
        os._exit(7)
    elif how == "mute":
        os.close(1)
        os.close(2)
        raise ValueError("nobody hears")
    elif how == "blind":
        sys.stdout = sys.stderr = None
        raise ValueError("nobody hears")
    elif how == "thread":  # that does not end, and fails
        threading.Thread(target=time.sleep, args=(3600,)).start()
        threading.Thread(target=lambda: 1 / 0).start()
    elif how == "handler":  # for every signal that there is
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, lambda *_: None)
    elif how == "truncate":
        os.ftruncate(6, 0)
    elif how == "shut":
        os.close(6)

def parts(*cuts):
    def write(view, whole):
        for low, high in cuts:
            view[low:high] = whole[low:high]
    return write

# What is left out of an answer, which then holds the end or the middle of another.
unwritten = {"stale": parts(), "short": parts((0, -16)), "hole": parts((0, 4096), (-4096, None)), "late": parts((512, None))}

def offers(implementation, device):
    pass

class Operation(pure_arms.Operation):
    def __init__(self, request):
        how, _, self.when = request["implementation"].partition("/")[2].partition(":")
        self.how = how
        super().__init__(request, pure_arms.contracts[request["contract"]])
        if how in unwritten:
            self.write_output = lambda view: unwritten[how](view, memoryview(self.buffers.whole))
        elif how == "forgetful":
            self.write_inputs = lambda views: None
        self.maybe("open")
        if self.when == "output":
            good = self.write_output
            def write(view):
                good(view)
                view[: len(view) // 2] = bytes(len(view) // 2)
                misbehave(how)
            self.write_output = write
        if how == "wrong":
            good = self.submit
            def submit():
                good()
                self.buffers.whole[self.buffers.guard + 3] ^= 0x40
            self.submit = submit
        elif how == "idle":
            self.submit = lambda: None
        elif how == "guard":
            good = self.submit
            def submit():
                good()
                self.buffers.whole[-1] = 0
            self.submit = submit

    def maybe(self, request):
        if self.when == request:
            misbehave(self.how)

    def export(self):
        print("exporting", self.how, flush=True)
        if self.how == "library":
            raise errors.Unavailable("its export", "it calls a library")
        cubin = b"no cubin, but bytes"
        return {
            "cubin": base64.b64encode(cubin).decode(), "sha256": hashlib.sha256(b"others" if self.how == "other" else cubin).hexdigest(),
            "entry": "kernel", "grid": [5, 1, 1], "block": [64, 1, 1], "shared": 16,
            "arguments": [{"name": "a", "buffer": True}, {"name": "argument 1", "type": "i32", "value": -7}, {"name": "global_scratch", "null": True}, {"name": "out", "buffer": True}],
            "params": {"XBLOCK": 256.0}, "compiler": "a compiler", "compile_ms": 1.5, "source_sha256": "5" * 64,
        }

    def run(self):
        self.maybe("run")
        super().run()

    def measure(self, request):
        self.maybe("measure")
        if request["kind"] != "kernel":
            return super().measure(request)
        # Two kernels an operation; the first lasts as many microseconds as inputs
        # say, so that a test can tell whether they arrived.
        print("traced by", os.getpid(), flush=True)
        self.maybe("kernel")
        records, us = [], int(self.buffers.arrays["a"][0] * 1e6) % 1000
        for i in range(3):
            self.submit()
            records += [["one", i * 10000000, i * 10000000 + us * 1000], ["two", i * 10000000 + 5000000, i * 10000000 + 5002000]]
        if self.when == "traced":
            self.buffers.whole[self.buffers.guard] ^= 0x55
            self.buffers.whole[self.buffers.guard + 3] ^= 0x40
        return {"instrument": "cupti", "samples": [], "operations": 3, "records": records}

def open_operation(request):
    return Operation(request)
