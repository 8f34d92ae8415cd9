"""Hands out a compiled Triton kernel, so that another launcher can run it.

What Triton passes to its kernel is written down in the order in which the driver
wants it: arguments that the compiler turned into constants are gone, and since
Triton 3.4 two scratch pointers follow (global and profiling scratch), null when
their sizes are zero.
"""

import base64
import hashlib
import inspect
import time

from . import triton_arms
from .errors import Failure, Unavailable
from .versions import load_triton


def export(request):
    name, contract, dims = request["implementation"], request["contract"], request["dims"]
    triton = load_triton(name)
    if triton_arms.interpreted():
        raise Unavailable("export of " + name, "interpreted kernels are not compiled", "unset TRITON_INTERPRET")
    module = triton_arms.source(name, contract)
    kernel = getattr(module, contract)
    tunables, options = module.fixed(dims), {}
    for key, value in (request.get("params") or {}).items():
        if key in tunables:
            tunables[key] = int(value)
        elif key in ("num_warps", "num_stages"):
            options[key] = int(value)
        else:
            raise Failure("%s %s has no tunable %s" % (name, contract, key))
    scalars = module.scalars(dims)
    started = time.perf_counter()
    compiled = compile_for(triton, kernel, module.arguments, scalars, tunables, options, request["arch"])
    compile_ms = (time.perf_counter() - started) * 1e3
    meta = compiled.metadata
    for scratch in ("global_scratch_size", "profile_scratch_size"):
        if getattr(meta, scratch, 0):
            raise Unavailable("export of " + name, "its kernel needs scratch memory (%s)" % scratch)
    if getattr(meta, "num_ctas", 1) != 1:
        raise Unavailable("export of " + name, "its kernel is launched in clusters")
    arguments = []
    constant = constants(compiled)
    for parameter in module.arguments:
        if parameter in constant:
            continue
        if parameter in scalars:
            kind = signature(compiled)[parameter]
            arguments.append({"name": parameter, "type": kind, "value": scalars[parameter]})
        else:
            arguments.append({"name": parameter, "buffer": True})
    arguments += [{"name": s, "null": True} for s in ("global_scratch", "profile_scratch") if hasattr(meta, s + "_size")]
    cubin = compiled.asm["cubin"]
    return {
        "cubin": base64.b64encode(cubin).decode(),
        "sha256": hashlib.sha256(cubin).hexdigest(),
        "entry": meta.name,
        "grid": list(triton_arms.fits(module.grid(dims, tunables), name)),
        "block": [32 * meta.num_warps, 1, 1],
        "shared": int(meta.shared),
        "arguments": arguments,
        "params": {k: float(v) for k, v in dict(tunables, **options).items()},
        "compiler": "triton " + triton.__version__,
        "compile_ms": compile_ms,
        "source_sha256": hashlib.sha256(inspect.getsource(module).encode()).hexdigest(),
    }


def compile_for(triton, kernel, names, scalars, tunables, options, arch):
    """Compiles as a launch of these arguments would: integers equal to 1 become
    constants; those, and addresses, that 16 divides are promised to be so.
    Every buffer here is aligned to 256 bytes at least, and an output lies 4096
    bytes into its allocation."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kinds, constant, attributes = {}, {}, {}
    for position, name in enumerate(names):
        divisible = True
        if name in scalars:
            value = scalars[name]
            divisible = value % 16 == 0
            if value == 1:
                kinds[name], constant[(position,)] = "constexpr", 1
                continue
            kinds[name] = "i32" if -(2**31) <= value < 2**31 else "i64"
        else:
            kinds[name] = "*i32" if name in ("rowptr", "indices") else "*fp32"
        if divisible:
            attributes[(position,)] = [["tt.divisibility", 16]]
    for position, (name, value) in enumerate(tunables.items(), len(names)):
        kinds[name], constant[(position,)] = "constexpr", value
    source = ASTSource(fn=kernel, signature=kinds, constexprs=constant, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=dict(options))


def signature(compiled):
    return {name: kind for name, kind in compiled.src.signature.items()}


def constants(compiled):
    return {name for name, kind in compiled.src.signature.items() if kind == "constexpr"}
