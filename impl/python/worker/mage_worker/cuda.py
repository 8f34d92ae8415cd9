"""One GPU as torch sees it: stream, events, flush buffer, driver calls, and the
launch order of every measurement.

It mirrors timing/launchorder.go line by line: the stream is idle before each
sample; a span is record, submit, record; a batch records around N submissions; a
graph is captured once and replayed between two events.
"""

import ctypes
import gc
import itertools
import time

from . import arena
from .errors import Failure, Unavailable
from .sampling import nothing, sample
from .versions import load_torch

now = time.perf_counter_ns


class Driver:
    """The few calls of libcuda that torch does not offer: the same memset that
    the Go laboratory flushes and poisons with, copies of raw addresses to and
    from memory of this process, and the number of nodes in a graph."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(code, ctypes.byref(text))
            raise Failure("%s: %s" % (name, (text.value or b"error %d" % code).decode()))

    def fill(self, at, value, count, stream):
        if count:
            self.call("cuMemsetD8Async", ctypes.c_uint64(at), ctypes.c_ubyte(value), ctypes.c_size_t(count), ctypes.c_void_p(stream))

    def read(self, at, into, count, stream):
        if count:
            self.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(into), ctypes.c_uint64(at), ctypes.c_size_t(count), ctypes.c_void_p(stream))

    def write(self, at, source, count, stream):
        if count:
            self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(at), ctypes.c_void_p(source), ctypes.c_size_t(count), ctypes.c_void_p(stream))

    def lock(self, at, count):
        """Keeps host memory where it is; says whether it could."""
        try:
            self.call("cuMemHostRegister_v2", ctypes.c_void_p(at), ctypes.c_size_t(count), ctypes.c_uint(0))
            return True
        except Failure:
            return False

    def unlock(self, at):
        self.call("cuMemHostUnregister", ctypes.c_void_p(at))

    def nodes(self, graph):
        count = ctypes.c_size_t()
        self.call("cuGraphGetNodes", ctypes.c_void_p(graph), None, ctypes.byref(count))
        return count.value


class Device:
    """The GPU of this worker. Every operation shares its one stream."""

    opened = {}

    @classmethod
    def of(cls, name):
        if name not in cls.opened:
            cls.opened[name] = cls(name)
        return cls.opened[name]

    def __init__(self, name):
        torch = load_torch(name)
        if not torch.cuda.is_available():
            reason = "torch %s sees no GPU (torch.cuda.is_available() is false)" % torch.__version__
            if torch.version.cuda is None:
                reason = "torch %s is built without CUDA" % torch.__version__
            raise Unavailable("torch on " + name, reason, "install a torch build for CUDA and an NVIDIA driver that is new enough for it")
        self.torch, self.device = torch, torch.device(name)
        torch.cuda.set_device(self.device)
        # A stream of its own, like the Go laboratory: not the legacy default
        # stream, which waits for others. All allocations happen on it too.
        self.stream = torch.cuda.Stream(self.device)
        torch.cuda.set_stream(self.stream)
        self.driver = Driver()
        self.start = torch.cuda.Event(enable_timing=True)
        self.end = torch.cuda.Event(enable_timing=True)
        properties = torch.cuda.get_device_properties(self.device)
        self.flush_bytes = 2 * properties.L2_cache_size or 256 << 20
        self.flush_buffer = torch.empty(self.flush_bytes, dtype=torch.uint8, device=self.device)
        self.flush_value = 0
        self.traced = False
        arena.shared.serve(self.driver)
        self.owner = None  # the operation whose results lie in poisoned memory

    def synchronize(self):
        self.stream.synchronize()

    def fill(self, at, value, count):
        self.driver.fill(at, value, count, self.stream.cuda_stream)

    def read(self, at, into, count):
        self.driver.read(at, into, count, self.stream.cuda_stream)

    def write(self, at, source, count):
        self.driver.write(at, source, count, self.stream.cuda_stream)

    def flush(self):
        self.flush_value = (self.flush_value + 1) % 256
        self.fill(self.flush_buffer.data_ptr(), self.flush_value, self.flush_bytes)

    def settle_cold(self):
        self.flush()
        self.stream.synchronize()

    def between(self, submit):
        """Returns a function that measures submit between two events."""
        start, end, stream = self.start, self.end, self.stream
        record_start, record_end, wait = start.record, end.record, end.synchronize

        def once():
            record_start(stream)
            submit()
            record_end(stream)
            wait()
            return start.elapsed_time(end) * 1e3

        return once

    def measure(self, operation, request):
        kind, n, submit = request["kind"], request["n"], operation.submit
        settle = self.settle_cold if request["cache"] == "cold" else self.stream.synchronize
        if kind == "graph":
            return self.graph(operation, request, settle)
        for _ in range(request["warmup"]):
            submit()
        self.stream.synchronize()
        if kind == "kernel":
            return self.kernels(submit, request, settle)
        synchronize = self.stream.synchronize
        operations, instrument = 1, "cuda-event"
        if kind == "span":
            once = self.between(submit)
        elif kind == "batch":
            operations = n

            def submit_all():
                for _ in itertools.repeat(None, n):
                    submit()

            whole = self.between(submit_all)
            once = lambda: whole() / n
        elif kind == "submit":
            instrument = "host-clock"

            def once():
                t0 = now()
                submit()
                us = (now() - t0) / 1e3
                synchronize()
                return us
        elif kind == "latency":
            instrument = "host-clock"

            def once():
                t0 = now()
                submit()
                synchronize()
                return (now() - t0) / 1e3
        else:
            raise Failure("unknown timing mode %r" % kind)
        return {"instrument": instrument, "samples": sample(request, settle, once), "operations": operations}

    def graph(self, operation, request, settle):
        n = request["n"]
        for _ in range(request["warmup"]):
            operation.submit()
        self.stream.synchronize()
        graph, nodes = self.capture(operation, n)
        operation.captured(graph)
        for _ in range(max(1, min(request["warmup"], 3))):
            graph.replay()
        self.stream.synchronize()
        replays, whole = [], self.between(graph.replay)

        def once():
            t0 = now()
            us = whole()
            replays.append((now() - t0) / 1e3)
            return us / n

        samples = sample(request, settle, once)
        return {"instrument": "cuda-event", "samples": samples, "operations": n, "launches": nodes // n, "replay_us": replays}

    def capture(self, operation, n):
        """Captures n operations; returns the graph and its number of nodes, 0
        when this torch does not tell it."""
        torch = self.torch
        try:
            graph = torch.cuda.CUDAGraph(keep_graph=True)
        except TypeError:
            graph = torch.cuda.CUDAGraph()
        # Not torch.cuda.graph(): that empties the allocator's cache, which holds
        # the poisoned memory, and captures on a stream of its own.
        pool = operation.graph_pool()
        gc.collect()
        graph.capture_begin(*([pool] if pool else []), capture_error_mode="thread_local")
        try:
            for _ in itertools.repeat(None, n):
                operation.submit()
        finally:
            graph.capture_end()
        nodes = 0
        if hasattr(graph, "raw_cuda_graph"):
            nodes = self.driver.nodes(graph.raw_cuda_graph())
            graph.instantiate()
        return graph, nodes

    def kernels(self, submit, request, settle):
        """Kernel durations from CUPTI, through torch's profiler. The answer holds
        the records; they are summed where those of every other arm are."""
        n = self.affordable(submit, request)
        if not self.traced:
            self.trace(submit, 1, self.stream.synchronize)  # the first start is slow and may miss records
            self.traced = True
        return {"instrument": "cupti", "samples": [], "operations": n, "records": self.trace(submit, n, settle)}

    def trace(self, submit, n, settle):
        torch = self.torch
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=False) as profile:
            for _ in range(n):
                settle()
                submit()
            self.stream.synchronize()
        records = []
        for e in profile.profiler.kineto_results.events():
            if e.device_type() != torch.autograd.DeviceType.CUDA or e.is_user_annotation():
                continue
            name = e.name()
            if name.startswith(("Memset", "Memcpy")) or not e.duration_ns():
                continue  # kernels only, as everywhere; the flush is a memset
            records.append([name, e.start_ns(), e.start_ns() + e.duration_ns()])
        return records

    def affordable(self, submit, request):
        self.stream.synchronize()
        t0 = now()
        submit()
        self.stream.synchronize()
        us = (now() - t0) / 1e3
        n = max(request["samples"], 1)
        if request["budget_us"] > 0 and us > 0:
            n = min(n, int(request["budget_us"] / us))
        return max(n, 1, min(request["min_samples"], max(request["samples"], 1)))


def calibrate(name):
    """What the instruments of this process resolve, and the proof of its flush:
    the raw readings, which timing/raw.go judges."""
    d = Device.of(name)
    request = {"samples": 101, "min_samples": 101, "budget_us": 0}
    empty = sample(request, d.stream.synchronize, d.between(nothing))
    size = d.flush_bytes // 8  # as in the Go laboratory
    source = d.torch.empty(size, dtype=d.torch.uint8, device=d.device)
    target = d.torch.empty_like(source)
    copied = d.between(lambda: target.copy_(source))
    hot, cold = [], []
    for _ in range(15):
        d.stream.synchronize()
        copied()
        d.stream.synchronize()
        hot.append(copied())
        d.settle_cold()
        cold.append(copied())
    steps, last = [], now()
    for _ in range(2001):
        t = now()
        steps.append((t - last) / 1e3)
        last = t
    return {"event_us": empty, "clock_us": steps, "flush_bytes": d.flush_bytes, "read_bytes": size, "hot_us": hot, "cold_us": cold}
