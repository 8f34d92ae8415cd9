"""One launch of a kernel, between two events."""

import contextlib
import sys
import weakref

from .recorder import first_line


class Launch:
    """Stands for what launches one compiled kernel (Triton calls it `run`)."""

    def __init__(self, recorder, kernel, run):
        self.recorder, self.run, self.facts = recorder, run, None
        self.kernel = weakref.ref(kernel)  # which holds this

    def __getattr__(self, name):
        return getattr(self.run, name)

    def __call__(self, *args, **kwargs):
        if not self.recorder.wants():
            return self.run(*args, **kwargs)
        return timed(self.recorder, self.run, args, kwargs, self.describe)

    def describe(self):
        if self.facts is None:
            self.facts = of_kernel(self.kernel())
        return self.facts


def timed(recorder, run, args, kwargs, describe):
    """Launch between two events. Arguments of a launcher are, in every Triton 3:
    grid (3), stream, function, packed metadata, launch metadata, enter hook, exit
    hook, the kernel's own. The events are recorded in the hooks, inside the script's
    own, which is as near to the launch as one comes; around the launch otherwise."""
    torch = sys.modules.get("torch")
    if torch is None or len(args) < 4:
        recorder.problem("kernels are timed with torch's events, and the script does not import torch" if torch is None
                         else "a kernel is launched in a way that is not known")
        return run(*args, **kwargs)
    try:
        events = recorder.time(torch.cuda, args[3])
    except Exception as e:
        recorder.problem(f"no events: {first_line(e)}")
        return run(*args, **kwargs)
    facts = describe()
    ctas = facts.get("ctas", 1)
    launch = dict(facts, type="launch", grid=[int(args[0]) * ctas, int(args[1]), int(args[2])], stream=int(args[3] or 0),
                  device=torch.cuda.current_device())
    note_versions(recorder, torch)
    if events is None:
        result = run(*args, **kwargs)
        recorder.add(dict(launch, captured=True), None)
        return result
    pair, stream = events
    _, start, end = pair
    if len(args) > 8 and all(h is None or callable(h) for h in args[7:9]):
        enter, leave = args[7:9]

        def entered(metadata):
            if enter is not None:
                enter(metadata)
            start.record(stream)

        def left(metadata):
            end.record(stream)
            if leave is not None:
                leave(metadata)

        result = run(*args[:7], entered, left, *args[9:], **kwargs)
    else:
        start.record(stream)
        result = run(*args, **kwargs)
        end.record(stream)
    recorder.add(launch, pair)
    return result


def of_kernel(kernel):
    """What is known of a kernel that Triton compiled. What it does not say is absent."""
    metadata = getattr(kernel, "metadata", kernel)
    facts = {"name": str(getattr(kernel, "name", None) or getattr(metadata, "name", "")), "ctas": int(getattr(metadata, "num_ctas", 1) or 1)}
    warps = getattr(metadata, "num_warps", None)
    target = getattr(metadata, "target", None)
    if warps is not None:
        facts["block"] = int(warps) * int(getattr(target, "warp_size", None) or getattr(metadata, "warp_size", None) or 32)
    for key, owner, name in (("registers", kernel, "n_regs"), ("spills", kernel, "n_spills"), ("shared", metadata, "shared")):
        value = getattr(owner, name, None)
        if isinstance(value, int):
            facts[key] = value
    return facts


def note_versions(recorder, torch):
    if not recorder.versions:
        triton = sys.modules.get("triton")
        recorder.versions = {"python": sys.version.split()[0], "torch": str(torch.__version__)}
        if triton is not None:
            recorder.versions["triton"] = str(getattr(triton, "__version__", ""))
        with contextlib.suppress(Exception):
            recorder.versions["device_name"] = torch.cuda.get_device_name()


def first_line(e):
    return (str(e).strip() or type(e).__name__).splitlines()[0]
