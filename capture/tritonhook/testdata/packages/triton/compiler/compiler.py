import os
from collections import namedtuple

import torch

MANNERS = os.environ.get("STANDIN_TRITON", "3.6")
Metadata = namedtuple("Metadata", "name num_warps num_ctas shared target")
Target = namedtuple("Target", "warp_size")


class Hooks:
    enter = exit = None


class Launcher:
    """What compiles arguments and calls the driver; the C code calls the hooks."""

    flavour = "C"

    def __init__(self, us):
        self.us = us

    def __call__(self, x, y, z, stream, function, packed, metadata, enter, exit, *args):
        torch.cuda.clock += 0.1  # the host prepares
        if enter is not None:
            enter(metadata)
        if "fail" in args:
            raise RuntimeError("Triton Error [CUDA]: invalid argument")
        torch.cuda.clock += self.us / 1e3
        if exit is not None:
            exit(metadata)
        torch.cuda.clock += 0.1


class CompiledKernel:
    def __init__(self, name="kernel", us=1.5, ctas=1):
        self.metadata = Metadata(name, 4, ctas, 512, Target(32))
        self.name, self.us, self.module = name, us, None

    def load(self):
        if self.module is None:
            self.module, self.function, self.n_regs, self.n_spills = 1, 7, 42, 0
            launcher = Launcher(self.us)
            if MANNERS == "3.2":
                self.run = launcher
            else:
                self._run = launcher

    def launch(self, *args, grid=(2, 3, 1), stream=0):
        """As JITFunction.run does."""
        self._init_handles()  # launch_metadata() does, each time
        self.run(*grid, stream, self.function, (4, 1, 512), {"name": self.name}, Hooks.enter, Hooks.exit, *args)


if MANNERS == "3.6":
    CompiledKernel._init_handles = CompiledKernel.load

    def _run(self):
        if getattr(self, "_run", None) is None:
            self._init_handles()
        return self._run

    CompiledKernel.run = property(_run)
elif MANNERS == "3.2":
    CompiledKernel._init_handles = CompiledKernel.load

    def _get(self, name):
        if name == "run":
            self._init_handles()
        return object.__getattribute__(self, name)

    CompiledKernel.__getattribute__ = _get
