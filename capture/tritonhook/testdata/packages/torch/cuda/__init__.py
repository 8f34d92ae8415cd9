import os

clock = 0.0  # ms
capturing = False
broken = False  # events cannot be read, as after a fault
recorded = []  # streams on which events were recorded


class Stream:
    def __init__(self, handle):
        self.cuda_stream = handle


class Event:
    made = 0

    def __init__(self, enable_timing=False):
        assert enable_timing
        Event.made += 1
        self.at = None

    def record(self, stream):
        self.at = clock
        recorded.append(stream.cuda_stream)

    def query(self):
        return self.at is not None

    def synchronize(self):
        if broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered\nmore")
        assert self.at is not None

    def elapsed_time(self, end):
        return end.at - self.at


_current = Stream(0)


def current_stream():
    return _current


def default_stream():
    return Stream(0)


def ExternalStream(handle):
    return Stream(handle)


def is_current_stream_capturing():
    return capturing


def current_device():
    return 0


def get_device_name():
    return "Stand-in GPU"


def cudart():
    import torch

    return torch._C._cudart


if not os.environ.get("STANDIN_NO_PROFILER"):
    from . import profiler  # noqa: E402,F401
