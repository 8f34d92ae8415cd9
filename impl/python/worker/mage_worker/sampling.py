"""The loop that collects samples, and the measurements on the host's clock.

The definitions are those of Mage's own loops (timing/sampler.go, timing/host.go):
a Python arm and a Go arm differ in what is called, not in how it is timed.
"""

import gc
import itertools
import time

from .errors import Unavailable

now = time.perf_counter_ns


def sample(request, settle, once):
    """Calls settle and then once, which returns microseconds, until enough."""
    wanted = max(request["samples"], 1)
    least = min(max(request["min_samples"], 1), wanted)
    budget = request["budget_us"] * 1e3
    samples = []
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        began = now()
        while len(samples) < wanted and (
            len(samples) < least or budget <= 0 or now() - began < budget
        ):
            settle()
            samples.append(once())
    finally:
        if collecting:
            gc.enable()
    return samples


class HostTimer:
    """Measures a call that is complete when it returns."""

    def __init__(self, flush):
        self.flush = flush  # writes twice the last-level cache

    def measure(self, submit, request):
        kind, n = request["kind"], request["n"]
        if kind == "submit":
            raise Unavailable("submit on cpu", "a call on CPU tensors has run when it returns: there is no submission apart from execution")
        if kind == "graph":
            raise Unavailable("graph:%d on cpu" % n, "a CPU has no graph replay")
        if kind == "kernel":
            raise Unavailable("kernel on cpu", "no device kernels are launched")
        repeats = n if kind == "batch" else 1
        for _ in range(request["warmup"]):
            submit()

        def once():
            times = itertools.repeat(None, repeats)
            t0 = now()
            for _ in times:
                submit()
            return (now() - t0) / 1e3 / repeats

        cold = request["cache"] == "cold"
        samples = sample(request, self.flush if cold else nothing, once)
        return {"instrument": "host-clock", "samples": samples, "operations": repeats}


def nothing():
    pass
