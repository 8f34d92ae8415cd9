"""A compiled kernel from elsewhere, launched by Python: cuda.bindings where that
package is installed, else the same driver call through ctypes.

Memory, stream and events are torch's, as for every other arm of this process:
only the launch differs. Arguments are packed once, as the Go launcher does.
"""

import ctypes
import hashlib
import time

from . import memory, torch_arms
from .errors import Failure


def offers(implementation, device):
    torch_arms.prepare(implementation, device)


class Bindings:
    """cuLaunchKernel of cuda.bindings, given the address of packed arguments."""

    def __init__(self):
        from cuda.bindings import driver

        self.driver = driver
        try:
            from importlib.metadata import version

            number = version("cuda-bindings")
        except Exception:
            number = "of unknown version"
        self.name = "cuda.bindings " + number

    def launch(self, function, grid, block, shared, stream, packed):
        call, done = self.driver.cuLaunchKernel, self.driver.CUresult.CUDA_SUCCESS
        function, stream = self.driver.CUfunction(function), self.driver.CUstream(stream)
        arguments = (function, *grid, *block, shared, stream, ctypes.addressof(packed), 0)

        def submit():
            (code,) = call(*arguments)
            if code != done:
                raise Failure("cuLaunchKernel: %s" % code.name)

        return submit


class Ctypes:
    name = "ctypes"

    def __init__(self, driver):
        self.driver = driver

    def launch(self, function, grid, block, shared, stream, packed):
        call = self.driver.lib.cuLaunchKernel
        arguments = (ctypes.c_void_p(function), *map(ctypes.c_uint, (*grid, *block, shared)), ctypes.c_void_p(stream), packed, None)
        driver = self.driver

        def submit():
            code = call(*arguments)
            if code:
                driver.call("cuCtxSynchronize")
                raise Failure("cuLaunchKernel: error %d" % code)

        return submit


class Operation(torch_arms.Operation):
    def __init__(self, request):
        super().__init__(request)
        cubin = request["cubin"]
        self.buffers = memory.Given(self.torch, request, self.device, self.gpu)
        self.scratch = {
            s["name"]: self.torch.empty(max(1, s["bytes"]), dtype=self.torch.uint8, device=self.device) for s in cubin["scratch"] or ()
        }
        self.address = {name: t.data_ptr() for name, t in {**self.inputs.tensors, **self.scratch, "out": self.buffers.out}.items()}
        # Of the whole allocation: an empty array has no address of its own.
        self.address.update(self.inputs.addresses())
        self.size = {name: t.numel() * t.element_size() for name, t in {**self.inputs.tensors, "out": self.buffers.out}.items()}
        self.size.update({s["name"]: s["bytes"] for s in cubin["scratch"] or ()})

        with open(cubin["path"], "rb") as f:
            image = f.read()
        if hashlib.sha256(image[:-1]).hexdigest() != cubin["sha256"]:
            raise Failure("the binary is not the one that was sent")
        driver = self.gpu.driver
        started = time.perf_counter()
        self.module = ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(self.module), image)
        load_ms = (time.perf_counter() - started) * 1e3
        try:
            launcher = Bindings()
        except ImportError:
            launcher = Ctypes(driver)
        self.keep, steps = [], []
        for l in cubin["launches"]:
            steps.extend(self.zeroing(l["zero"] or ()))
            if not l["empty"]:
                steps.append(self.launch(driver, launcher, l))
        if len(steps) == 1:
            self.submit = steps[0]
        else:
            self.submit = lambda: [s() for s in steps]
        first = cubin["launches"][0]
        self.identity.update(load_ms=load_ms, params=cubin["params"], entry="+".join(l["entry"] for l in cubin["launches"]), notes={"launcher": launcher.name})
        if len(cubin["launches"]) == 1:
            self.identity.update(grid=first["grid"], block=first["block"], dynamic_shared_bytes=first["shared"])

    def zeroing(self, names):
        fill, address, size = self.gpu.fill, self.address, self.size
        return [lambda at=address[n], count=size[n]: fill(at, 0, count) for n in names if size[n]]

    def launch(self, driver, launcher, l):
        function = ctypes.c_void_p()
        driver.call("cuModuleGetFunction", ctypes.byref(function), self.module, l["entry"].encode())
        if l["shared"] > 48 << 10:  # beyond what every kernel may have: ask for it
            dynamic_shared = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver.call("cuFuncSetAttribute", function, dynamic_shared, ctypes.c_int(l["shared"]))
        cells = []
        for a in l["args"]:
            value = self.address[a["buffer"]] if "buffer" in a else int(a["bits"])
            cells.append((ctypes.c_uint32 if a["size"] == 4 else ctypes.c_uint64)(value))
        packed = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(c) for c in cells))
        self.keep.append((cells, packed))
        return launcher.launch(function.value, l["grid"], l["block"], l["shared"], self.gpu.stream.cuda_stream, packed)

    def close(self):
        super().close()
        self.scratch, self.keep = None, None
        self.gpu.driver.call("cuModuleUnload", self.module)


def open_operation(request):
    offers(request["implementation"], request["device"])
    if request["device"] == "cpu":
        raise Failure("a GPU kernel cannot run on the CPU")
    return Operation(request)
