"""A stand-in for Triton: kernels that advance the clock of the stand-in for torch.
STANDIN_TRITON chooses whose manners it has: 3.6 (default), 3.2, or "unknown"."""
from .compiler import compiler

__version__ = compiler.MANNERS
kernel = compiler.CompiledKernel
