"""What is replaced in Triton and torch while a recorder records."""

import importlib.abc
import importlib.util
import sys
import types
import weakref

from .launch import Launch, of_kernel, timed


def apply(recorder):
    """Patch what is imported now, and the rest when it is."""
    for name, patch in PATCHES.items():
        if name in sys.modules:
            patch(recorder, sys.modules[name])
    finder = Finder(recorder)
    sys.meta_path.insert(0, finder)
    recorder.undo.append(lambda: sys.meta_path.remove(finder))


class Finder(importlib.abc.MetaPathFinder):
    """Patches modules when the script imports them, and not before: a script may set
    the environment that torch and Triton read."""

    def __init__(self, recorder):
        self.recorder, self.busy = recorder, False

    def find_spec(self, name, path=None, target=None):
        if name not in PATCHES or self.busy:
            return None
        self.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy = False
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        recorder, execute = self.recorder, spec.loader.exec_module

        def exec_module(module):
            execute(module)
            PATCHES[name](recorder, module)

        spec.loader.exec_module = exec_module
        return spec


def patch_compiler(recorder, module):
    """Triton: a compiled kernel keeps its launcher as `run` (to 3.2) or `_run`."""
    kernel_class = getattr(module, "CompiledKernel", None)
    original = getattr(kernel_class, "_init_handles", None)
    if original is None:
        recorder.problem("this version of Triton loads kernels in a way that is not known")
        return
    kernels = weakref.WeakSet()

    def _init_handles(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if recorder.depth > 0:
            wrap(self)
        return result

    def wrap(kernel):
        for name in ("_run", "run"):
            run = vars(kernel).get(name)
            if callable(run) and not isinstance(run, Launch):
                setattr(kernel, name, Launch(recorder, kernel, run))
                kernels.add(kernel)

    def unwrap():
        for kernel in list(kernels):
            for name in ("_run", "run"):
                run = vars(kernel).get(name)
                if isinstance(run, Launch) and run.recorder is recorder:
                    setattr(kernel, name, run.run)

    recorder.replace(kernel_class, "_init_handles", _init_handles)
    recorder.undo.append(unwrap)


def patch_inductor(recorder, module):
    """PyTorch's compiler launches its kernels without Triton's launcher."""
    for name in ("StaticallyLaunchedTritonKernel", "StaticallyLaunchedCudaKernel"):
        kernel_class = getattr(module, name, None)
        if kernel_class is None or "run" not in vars(kernel_class):
            continue

        def run(self, *args, _original=kernel_class.run, **kwargs):
            bound = types.MethodType(_original, self)
            if not recorder.wants():
                return bound(*args, **kwargs)
            # Its arguments have no function and no hooks: grid, stream, the kernel's own.
            return timed(recorder, lambda *a, **k: bound(*args, **kwargs), args[:4], {}, lambda: of_kernel(self))

        recorder.replace(kernel_class, "run", run)


def patch_profiler(recorder, module):
    """The range: cudaProfilerStart and -Stop as a script reaches them."""
    owners = [(module, "start", True), (module, "stop", False)]
    cudart = getattr(getattr(sys.modules.get("torch"), "_C", None), "_cudart", None)
    if cudart is not None:
        owners += [(cudart, "cudaProfilerStart", True), (cudart, "cudaProfilerStop", False)]
    for owner, name, opens in owners:
        original = getattr(owner, name, None)
        if original is None:
            continue

        def switch(*args, _original=original, _opens=opens, **kwargs):
            if not _opens:
                recorder.set_open(False)
            result = _original(*args, **kwargs)
            if _opens:
                recorder.set_open(True)
            return result

        recorder.replace(owner, name, switch)


PATCHES = {
    "triton.compiler.compiler": patch_compiler,
    "torch._inductor.runtime.static_triton_launcher": patch_inductor,
    "torch._inductor.runtime.static_cuda_launcher": patch_inductor,
    "torch.cuda.profiler": patch_profiler,
}
