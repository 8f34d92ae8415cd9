"""Exports kernels from operations whose GPU is a stand-in: argv[1] holds the
worker's source. A kernel is compiled by Triton for a GPU that is not there, and
launched by torch's own classes. Prints one JSON object."""

import json
import os
import sys
import types

sys.path.insert(0, sys.argv[1])

try:
    import torch
    import triton
    import triton.language as tl
    from torch._inductor.runtime import hints, triton_heuristics
    from torch._inductor.runtime.static_triton_launcher import StaticallyLaunchedCudaKernel
except ImportError as e:
    print(json.dumps({"skip": str(e)}))
    sys.exit()

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from mage_worker import errors, inductor


@triton.jit
def triton_poi_fused_0(in_ptr0, out_ptr0, xnumel, one, XBLOCK: tl.constexpr):
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    tl.store(out_ptr0 + x, tl.load(in_ptr0 + x, x < xnumel) * one, x < xnumel)


config = triton_heuristics.Config({"XBLOCK": 256}, num_warps=8, num_stages=1)
signature = {"in_ptr0": "*fp32", "out_ptr0": "*fp32", "xnumel": "i32", "one": "constexpr", "XBLOCK": "constexpr"}
constants = {"one": 1, "XBLOCK": 256}


def kernel():
    source = ASTSource(fn=triton_poi_fused_0, signature=signature, constexprs={(3,): 1, (4,): 256})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8})


class Driver:
    """What torch's static launcher is given instead of the driver."""

    def _load_kernel(self, path, name, shared, device):
        return 1, 16, 0

    def _launch_kernel(self, function, x, y, z, warps, shared, kinds, arguments, stream):
        assert len(kinds) == len(arguments) == 5 and arguments[3:] == (None, None)


def autotuner(static):
    compiled, meta = kernel(), {"signature": signature, "constants": constants, "device": 0, "device_type": "cuda"}
    grid = {"grid_type": "Grid1D", "kernel_name": "triton_poi_fused_0"}
    if static:
        where = os.path.join(os.environ["TRITON_CACHE_DIR"], triton_heuristics.triton_hash_to_path_key(compiled.hash))
        compiled._cubin_path = os.path.join(where, "triton_poi_fused_0.cubin")
        assert os.path.exists(compiled._cubin_path)
        made = StaticallyLaunchedCudaKernel(compiled)
        made.C_impl = Driver()
        result = triton_heuristics.StaticTritonCompileResult(made, config, meta, grid)
    else:
        compiled._init_handles = lambda: None
        compiled._run = lambda *arguments: None
        result = triton_heuristics.TritonCompileResult(compiled, config, meta, grid)
    found = object.__new__(triton_heuristics.CachingAutotuner)
    found.launchers = [result.make_launcher()]
    found.device_props = types.SimpleNamespace(type="cuda")
    found.triton_interpret = found.dump_launch_params = found.dump_launch_tensors = False
    found.inductor_meta, found.fn, found.triton_meta = grid, triton_poi_fused_0, meta
    return found


class Operation:
    name, contract = "torch/compile", "gelu"

    def __init__(self, tuners, nodes, to="out"):
        self.a, self.temporary, out = torch.zeros(1000), torch.zeros(1000), torch.zeros(1000)
        self.buffers = types.SimpleNamespace(cell=[None])
        self.inputs = types.SimpleNamespace(addresses=lambda: {"a": self.a.data_ptr()})

        def submit():
            self.buffers.cell[0] = out
            for t in tuners:
                t.run(self.a, out if to == "out" else self.temporary, 1000, 1, stream=0)

        def capture(operation, n):
            for _ in range(n):
                operation.submit()
            return object(), nodes

        self.submit = self.run = submit
        self.gpu = types.SimpleNamespace(capture=capture)
        self.identity = {"compiler": "torch", "compile_ms": 1.0}
        self.identity.update(inductor.identity(self, set(), "default"))
        self.identity.setdefault("source_sha256", "")


static = autotuner(True)
before = triton_heuristics.CachingAutotuner.run, static.launchers[0].__globals__["runner"]
exported = {"static": inductor.export(Operation([static], 1)), "triton": inductor.export(Operation([autotuner(False)], 1))}

lacks = {}


def refused(how, operation):
    try:
        inductor.export(operation)
    except errors.Unavailable as e:
        lacks[how] = e.reason
    except errors.Failure as e:
        lacks[how] = str(e).partition(": ")[2]
    assert operation.buffers.cell == [None] or operation.gpu is None


refused("library", Operation([static], 3))
refused("only library", Operation([], 2))
refused("sequence", Operation([static, static], 2))
refused("intermediate", Operation([static], 1, to="temporary"))
refused("untold", Operation([static], 0))
changed = Operation([static], 1)
changed.identity["binary_sha256"] = "0" * 64
refused("another", changed)
host = Operation([static], 1)
host.gpu = None
refused("cpu", host)
gone = autotuner(True)
operation = Operation([gone], 1)
gone.launchers[0].cache_hash = "elsewhere"
refused("no binary", operation)


class Broken(Exception):
    pass


def fail(*_):
    raise Broken


scope = static.launchers[0].__globals__
scope["runner"] = fail
try:
    with inductor.recorded(triton_heuristics.CachingAutotuner) as launches:
        static.run(operation.a, operation.a, 1000, 1, stream=0)
except Broken:
    pass
assert scope["runner"] is fail and len(launches) == 1
scope["runner"] = before[1]
assert triton_heuristics.CachingAutotuner.run is before[0]
print(json.dumps({"exported": exported, "lacks": lacks}))
