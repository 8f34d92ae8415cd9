"""torch/eager, torch/eager-out, torch/eager-csr, torch/compile, torch/compile-max."""

import time

from . import memory, torch_ops
from .errors import Failure, Unavailable
from .sampling import HostTimer
from .versions import load_torch

# Not "max-autotune": that replays CUDA graphs inside a call, which here is a
# timing mode of its own, and would hide the launch path that is measured.
modes = {"torch/compile": "default", "torch/compile-max": "max-autotune-no-cudagraphs"}


def offers(implementation, device):
    """Raises Unavailable when this implementation cannot run on the device."""
    prepare(implementation, device)
    if implementation not in modes and implementation not in ("torch/eager", "torch/eager-out", "torch/eager-csr"):
        raise Failure("no implementation %r" % implementation)


def prepare(implementation, device):
    """Returns torch, the torch device, and the GPU (None for "cpu")."""
    torch = load_torch(implementation)
    if device == "cpu":
        return torch, torch.device("cpu"), None
    from .cuda import Device

    gpu = Device.of(device)
    return torch, gpu.device, gpu


class Operation:
    """What the requests of one open operation do; subclasses prepare submit."""

    def __init__(self, request):
        self.name = request["implementation"]
        self.torch, self.device, self.gpu = prepare(self.name, request["device"])
        self.inputs = memory.Inputs(self.torch, request, self.device, self.gpu)
        self.read_inputs, self.write_inputs = self.inputs.read, self.inputs.write
        self.identity = {"compiler": "torch " + self.torch.__version__}
        if self.gpu is None:
            self.timer = HostTimer(self.flush_cpu)

    def settle(self):
        if self.gpu is not None:
            self.gpu.synchronize()

    def flush_cpu(self):
        self.torch.ones(128 << 20, dtype=self.torch.uint8)

    def run(self):
        self.submit()
        self.settle()

    def poison(self, value):
        self.buffers.poison(value)
        self.settle()

    def write_output(self, view):
        self.buffers.write(view)

    def graph_pool(self):
        return self.buffers.graph_pool()

    def captured(self, graph):
        self.buffers.captured(graph)

    def measure(self, request):
        if self.gpu is None:
            return self.timer.measure(self.submit, request)
        return self.gpu.measure(self, request)

    def close(self):
        self.submit = None
        if self.gpu is not None and self.gpu.owner is self.buffers:
            self.gpu.owner = None
        if isinstance(self.buffers, memory.Returned):
            self.buffers.release()
        self.buffers = None
        self.inputs = None

    # returning makes submit of a function that allocates its result. The last
    # result is dropped first, so that one block serves every call: its memory is
    # then as hot, or as cold, as that of an operation with a fixed output.
    def returning(self, request, f, arguments):
        self.buffers = memory.Returned(self.torch, request, self.device, self.gpu)
        cell = self.buffers.cell

        def submit():
            cell[0] = None
            cell[0] = f(*arguments)

        self.submit = submit


class Eager(Operation):
    def __init__(self, request):
        super().__init__(request)
        form = torch_ops.csr if self.name == "torch/eager-csr" else torch_ops.eager
        self.returning(request, *form(self.torch, request["contract"], request["dims"], self.inputs.tensors))
        self.identity["entry"] = self.name


class EagerOut(Operation):
    def __init__(self, request):
        super().__init__(request)
        self.buffers = memory.Given(self.torch, request, self.device, self.gpu)
        self.submit = torch_ops.out(self.torch, request["contract"], request["dims"], self.inputs.tensors, self.buffers.out)
        self.identity["entry"] = self.name


class Compiled(Operation):
    def __init__(self, request):
        super().__init__(request)
        self.contract = request["contract"]
        f, arguments = torch_ops.eager(self.torch, self.contract, request["dims"], self.inputs.tensors)
        f = fresh(f)
        self.code = f.__code__
        try:
            compiled = self.torch.compile(f, mode=modes[self.name], fullgraph=True, dynamic=False)
        except BaseException as e:
            raise missing_compiler(self.name, e) or e
        self.returning(request, compiled, arguments)
        before = generated_modules()
        started = time.perf_counter()
        try:
            self.run()  # traces, compiles, and tunes what inductor tunes
        except BaseException as e:
            raise missing_compiler(self.name, e) or e
        self.identity["compile_ms"] = (time.perf_counter() - started) * 1e3
        for _ in range(3):
            self.run()
        from . import inductor

        self.identity.update(inductor.identity(self, generated_modules() - before, modes[self.name]))
        self.buffers.cell[0] = None

    def measure(self, request):
        before = self.compilations()
        result = super().measure(request)
        if self.compilations() != before:
            raise Failure("torch compiled again while it was measured")
        return result

    def export(self):
        from . import inductor

        return inductor.export(self)

    def compilations(self):
        counters = self.torch._dynamo.utils.counters
        return {k: counters["stats"][k] for k in ("calls_captured", "unique_graphs")}, dict(counters["frames"])

    def close(self):
        super().close()
        reset = getattr(self.torch._dynamo, "reset_code", None)
        if reset is not None:
            reset(self.code)


def fresh(f):
    """The same function with a code object of its own: dynamo keeps what it
    compiled by code object, and every entry of another shape costs a guard check
    in every call."""
    import types

    copy = types.FunctionType(f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    return copy


def generated_modules():
    import sys

    cache = sys.modules.get("torch._inductor.codecache")
    if cache is None:
        return set()
    return set(cache.PyCodeCache.modules)


def missing_compiler(name, e):
    text = "%s: %s" % (type(e).__name__, e)
    for sign in ("InvalidCxxCompiler", "Python.h", "TritonMissing", "Cannot find a working triton"):
        if sign in text:
            return Unavailable(name, "torch.compile has no compiler to build its code with: " + text.splitlines()[0][:200],
                               "install a C++ compiler and Python's headers (CPU), or triton (GPU)")
    return None


def open_operation(request):
    name = request["implementation"]
    offers(name, request["device"])
    if name in modes:
        return Compiled(request)
    if name == "torch/eager-out":
        return EagerOut(request)
    return Eager(request)
