"""A script on the real Triton and torch, with the driver replaced: kernels are
compiled for a GPU that is not there, and only the launch itself is not real."""
import sys
import types

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

clock = 0.0


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self, stream):
        self.at = clock

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return end.at - self.at


stream = types.SimpleNamespace(cuda_stream=0)
for name, value in dict(
    Event=Event, is_current_stream_capturing=lambda: False, current_device=lambda: 0, current_stream=lambda *a: stream,
    get_device_name=lambda *a: "Stand-in GPU",
).items():
    setattr(torch.cuda, name, value)


class Launcher:
    def __init__(self, src, metadata):
        pass

    def __call__(self, x, y, z, stream, function, packed, metadata, enter, exit, *args):
        global clock
        if enter is not None:
            enter(metadata)
        clock += 0.0025
        if exit is not None:
            exit(metadata)


# To 3.3 without the greatest number of threads of a block.
LOADED = (1, 7, 40, 0, 1024)[: 4 if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 4) else 5]


class Driver:
    launcher_cls = Launcher
    utils = types.SimpleNamespace(
        load_binary=lambda *a: LOADED,
        get_device_properties=lambda *a: dict(max_shared_mem=232448, multiprocessor_count=132, warpSize=32, max_num_regs=65536),
    )

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_active_torch_device(self):
        return torch.device("cpu")


driver.set_active(Driver())


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


class Pointer:
    """A tensor of the GPU that is not there."""
    dtype = torch.float32

    def data_ptr(self):
        return 16


x = Pointer()
scale[(8, 2)](x, x, 1000, BLOCK=128, num_warps=2)
said = []
hook = lambda metadata: said.append(metadata.get()["name"])
if not hasattr(triton, "knobs"):
    triton.compiler.CompiledKernel.launch_enter_hook = hook
elif hasattr(triton.knobs.runtime.launch_enter_hook, "add"):
    triton.knobs.runtime.launch_enter_hook.add(hook)
else:
    triton.knobs.runtime.launch_enter_hook = hook
scale[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, x, 1000, BLOCK=256)
assert said == ["scale"], said
print(triton.__version__, file=sys.stderr)
