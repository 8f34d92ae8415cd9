"""triton/fixed and triton/autotuned, launched by Triton."""

import hashlib
import importlib
import os
import time

from . import memory, torch_arms
from .errors import Failure, Unavailable
from .versions import load_triton

contracts = ("matmul", "gelu", "layernorm", "triangle", "neighbor")


def interpreted():
    return os.environ.get("TRITON_INTERPRET") == "1"


def offers(implementation, device):
    if implementation not in ("triton/fixed", "triton/autotuned"):
        raise Failure("no implementation %r" % implementation)
    load_triton(implementation)
    torch_arms.prepare(implementation, device)
    if device == "cpu" and not interpreted():
        raise Unavailable(implementation, "Triton runs on a GPU", "an NVIDIA GPU with a torch that sees it")


def source(name, contract):
    """The module of a contract's kernel."""
    if contract not in contracts:
        raise Unavailable("%s %s" % (name, contract), "no Triton kernel is written for it")
    return importlib.import_module("mage_kernels." + contract)


def fits(grid, name):
    if grid[0] > 2**31 - 1 or grid[1] > 65535 or grid[2] > 65535:
        raise Unavailable(name + " at this shape", "a grid of %d×%d×%d programs exceeds 2147483647×65535×65535" % grid)
    return grid


class Operation(torch_arms.Operation):
    def __init__(self, request):
        super().__init__(request)
        triton = load_triton(self.name)
        contract, dims = request["contract"], request["dims"]
        self.buffers = memory.Given(self.torch, request, self.device, self.gpu)
        module = source(self.name, contract)
        kernel = getattr(module, contract)
        values = dict(self.inputs.tensors, out=self.buffers.out, **module.scalars(dims))
        arguments = [values[name] for name in module.arguments]

        identity = self.identity
        identity["compiler"] = "triton %s (%s)" % (triton.__version__, identity["compiler"])
        with open(module.__file__, "rb") as f:
            identity["source_sha256"] = hashlib.sha256(f.read()).hexdigest()
        options = {}
        tunables = module.fixed(dims)
        if request.get("params"):  # chosen before, by another process of this run
            chosen = {k: int(v) for k, v in request["params"].items()}
            tunables = {k: chosen[k] for k in tunables}
            options = {k: v for k, v in chosen.items() if k not in tunables}
        elif self.name == "triton/autotuned":
            tunables, options = self.tune(triton, module, kernel, dims, arguments)
        grid = fits(module.grid(dims, tunables), self.name)
        tunables = dict(tunables, **options)
        # kernel[grid] makes a closure; it is made once. Everything else is what
        # every call of a Triton kernel does.
        launch = kernel[grid]
        self.submit = lambda: launch(*arguments, **tunables)

        started = time.perf_counter()
        compiled = self.submit()
        self.settle()
        # After tuning this is a look-up; "tuning" then holds the compilation.
        identity["compile_ms"] = (time.perf_counter() - started) * 1e3
        identity["params"] = {k: float(v) for k, v in tunables.items()}
        identity["grid"] = list(grid)
        identity["entry"] = contract
        if compiled is not None and hasattr(compiled, "asm"):
            found = binary(compiled)
            found["notes"].update(identity.get("notes", {}))
            identity.update(found)
        identity.setdefault("notes", {})

    def tune(self, triton, module, kernel, dims, arguments):
        """Lets Triton's autotuner choose from the module's list, once, outside
        every timed region. Operations then launch the chosen configuration like a
        fixed one: the autotuner's own look-up is no part of the kernel."""
        configs = module.configs(dims) if callable(module.configs) else module.configs
        listed = [triton.Config(t, num_warps=warps) for t, warps in configs]
        bench = None
        if self.gpu is None:
            bench = lambda call, quantiles=None: host_bench(call)
        tuner = triton.autotune(configs=listed, key=[], do_bench=bench)(kernel)
        started = time.perf_counter()
        tuner[lambda meta: module.grid(dims, meta)](*arguments)
        self.settle()
        total = (time.perf_counter() - started) * 1e3
        best = tuner.best_config
        # The autotuner compiles and measures in one go; its time is kept whole.
        self.identity["notes"] = {
            "tuning": "%d configurations, %.0f ms with compilation" % (len(listed), total),
            "chosen": ", ".join("%s=%s" % (k, v) for k, v in sorted(best.all_kwargs().items()) if v is not None),
        }
        return best.kwargs, {"num_warps": best.num_warps}


def host_bench(call):
    """Milliseconds of one call, as the three quantiles that Triton asks for."""
    best = float("inf")
    for _ in range(2):
        started = time.perf_counter()
        call()
        best = min(best, (time.perf_counter() - started) * 1e3)
    return [best, best, best]


def binary(compiled):
    """The identity of a compiled kernel's cubin."""
    found = {}
    cubin = compiled.asm.get("cubin")
    if cubin:
        found["binary_sha256"] = hashlib.sha256(cubin).hexdigest()
        found["binary_kind"] = "cubin"
    meta = compiled.metadata
    found["entry"] = meta.name
    found["block"] = [32 * meta.num_warps, 1, 1]
    found["dynamic_shared_bytes"] = int(meta.shared)
    found["notes"] = {
        what: str(getattr(compiled, name))
        for what, name in (("registers", "n_regs"), ("spill words", "n_spills"))
        if getattr(compiled, name, None) is not None
    }
    return found


def open_operation(request):
    offers(request["implementation"], request["device"])
    return Operation(request)
