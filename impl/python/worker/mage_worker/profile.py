"""Shows the work of one operation alone to a profiler around this process."""

import ctypes

from .errors import Failure, Unavailable


def driver():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as e:
        raise Unavailable("profiling", str(e)) from None


def call(function, name):
    code = function()
    if code != 0:
        raise Failure("%s: error %d" % (name, code))


def profile(operation, n):
    """Runs the operation once to warm up, then n times in the profiler's range."""
    library = driver()
    operation.run()
    call(library.cuProfilerStart, "cuProfilerStart")
    try:
        for _ in range(n):
            operation.run()
    finally:
        call(library.cuProfilerStop, "cuProfilerStop")
