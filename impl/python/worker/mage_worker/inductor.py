"""Which kernels torch.compile made, as far as this version of inductor tells, and
the one kernel of an operation in the form that another launcher needs."""

import base64
import contextlib
import glob
import hashlib
import os
import types

from .errors import Failure, Unavailable


def identity(operation, modules, mode):
    """The identity of what was compiled. modules are those that were generated."""
    notes, source = {"inductor mode": mode}, hashlib.sha256()
    # The module that calls the kernels holds their sources as well; those of the
    # kernels, and of candidates that tuning rejected, are loaded only once a process.
    for module in sorted([m for m in modules if hasattr(m, "call")], key=lambda m: m.__file__):
        with open(module.__file__, "rb") as f:
            source.update(f.read())
    found = {"notes": notes}
    if modules:
        found["source_sha256"] = source.hexdigest()
    binaries = launched(operation) if operation.gpu is not None else []
    if binaries:
        notes["kernels"] = ", ".join("%s %s" % (name, digest[:16]) for name, digest in binaries)
        found["entry"] = "+".join(name for name, _ in binaries)
        found["binary_kind"] = "cubin"
        # Of one kernel its own hash; of several the hash of theirs, in order.
        digests = [digest for _, digest in binaries]
        found["binary_sha256"] = digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return found


def launched(operation):
    """(kernel name, SHA-256 of its binary) of every Triton kernel that inductor
    generated for an operation, in order, each once."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    with recorded(CachingAutotuner) as launches:
        operation.run()
    binaries = []
    for launcher, _ in launches:
        path, cubin = cubin_of(launcher)
        if cubin is not None:
            binaries.append((os.path.basename(path)[: -len(".cubin")], hashlib.sha256(cubin).hexdigest()))
    return list(dict.fromkeys(binaries))


def cubin_of(launcher):
    """The file that a launcher's binary was loaded from, and its bytes."""
    where = getattr(launcher, "cache_hash", None)
    for path in where and glob.glob(os.path.join(os.environ.get("TRITON_CACHE_DIR", ""), where, "*.cubin")) or []:
        with open(path, "rb") as f:
            return path, f.read()
    return None, None


def export(operation):
    """The kernel of an opened torch/compile, if an operation is that one kernel,
    from the operation's inputs to its output; in the form of export.py.

    What an operation launches is seen where generated code hands a kernel to its
    launcher; that it does nothing else is read from the CUDA graph of one
    operation: it has exactly as many nodes."""
    what = "%s %s through another launcher" % (operation.name, operation.contract)
    if operation.gpu is None:
        raise Unavailable(what, "what inductor generates for a CPU is no GPU kernel")
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    with recorded(CachingAutotuner) as launches:
        graph, nodes = operation.gpu.capture(types.SimpleNamespace(submit=operation.submit, graph_pool=lambda: None), 1)
    try:
        buffers = {at: name for name, at in operation.inputs.addresses().items()}
        buffers[operation.buffers.cell[0].data_ptr()] = "out"
        launcher, given = alone(what, launches, nodes)
        found = description(what, launcher, given, buffers)
    finally:
        del launches[:]
        operation.buffers.cell[0] = None  # before the graph whose memory it is
        del graph
    identity = operation.identity
    if found["sha256"] != identity.get("binary_sha256"):
        raise Failure("%s: the kernel that runs is not the one that was identified" % what)
    found.update({k: identity[k] for k in ("compiler", "compile_ms", "source_sha256")})
    return found


@contextlib.contextmanager
def recorded(autotuner):
    """Lists every launch of a generated Triton kernel meanwhile: the launcher that
    inductor wrote for it, and the arguments of the runner that it calls: grid,
    stream, and what the kernel takes."""
    launches, run = [], autotuner.run

    def recording(self, *args, **kw):
        launcher = self.launchers[0] if len(self.launchers) == 1 else None  # not before it is tuned
        scope = getattr(launcher, "__globals__", {})  # of its own: its source was executed there
        if "runner" not in scope:
            return run(self, *args, **kw)
        runner = scope["runner"]

        def record(*given):
            launches.append((launcher, given))
            return runner(*given)

        scope["runner"] = record
        try:
            return run(self, *args, **kw)
        finally:
            scope["runner"] = runner

    autotuner.run = recording
    try:
        yield launches
    finally:
        autotuner.run = run


def alone(what, launches, nodes):
    """The only launch of an operation."""
    if len(launches) == 1 == nodes:
        return launches[0]
    if nodes == 0:
        raise Unavailable(what, "this torch does not tell what else an operation does")
    if nodes != len(launches):
        raise Unavailable(what, "of the %d steps of an operation %d are kernels that inductor generated; the others are calls of libraries" % (nodes, len(launches)))
    raise Unavailable(what, "an operation is %d kernels with intermediate results" % nodes)


def description(what, launcher, given, buffers):
    """A launch as export.py writes it down. buffers are names by address."""
    kernel = launcher.__globals__.get("bin")
    if kernel is None:  # torch's own launcher keeps what it needs of the kernel
        kernel = launcher.__globals__["runner"].__self__
        entry, warps, shared = kernel.name, kernel.num_warps, kernel.shared
        kinds, values = [{"O": "*", "i": "i32", "l": "i64"}.get(c, c) for c in kernel.arg_tys], given[4:]
        scratch = [s for s, has in (("global_scratch", kernel.has_global_scratch), ("profile_scratch", kernel.has_profile_scratch)) if has]
    else:
        meta = kernel.metadata
        entry, warps, shared = meta.name, meta.num_warps, meta.shared
        for special in ("global_scratch_size", "profile_scratch_size", "launch_pdl", "launch_cooperative_grid"):
            if getattr(meta, special, 0):
                raise Unavailable(what, "its kernel is launched with %s" % special)
        if getattr(meta, "num_ctas", 1) != 1:
            raise Unavailable(what, "its kernel is launched in clusters")
        scratch = [s for s in ("global_scratch", "profile_scratch") if hasattr(meta, s + "_size")]
        kinds = [kernel.src.signature[name] for name in kernel.src.fn.arg_names]
        values = given[9:]  # after grid, stream, function, metadata and hooks
        taken = [i for i, kind in enumerate(kinds) if kind != "constexpr"]
        if len(values) == len(kinds):
            kinds, values = [kinds[i] for i in taken], [values[i] for i in taken]
    if len(kinds) != len(values):
        raise Unavailable(what, "this version of inductor passes %d arguments to a kernel of %d" % (len(values), len(kinds)))
    path, cubin = cubin_of(launcher)
    if cubin is None:
        raise Unavailable(what, "its binary is not in Triton's cache")
    params = dict(launcher.config.kwargs, num_warps=warps, num_stages=launcher.config.num_stages)
    return {
        "cubin": base64.b64encode(cubin).decode(),
        "sha256": hashlib.sha256(cubin).hexdigest(),
        "entry": entry,
        "grid": [int(n) for n in given[:3]],
        "block": [32 * warps, 1, 1],
        "shared": int(shared),
        "arguments": [argument(what, i, kind, value, buffers) for i, (kind, value) in enumerate(zip(kinds, values))]
        + [{"name": s, "null": True} for s in scratch],
        "params": {k: float(v) for k, v in params.items() if isinstance(v, int)},
    }


def argument(what, position, kind, value, buffers):
    if kind.startswith("*"):
        name = buffers.get(value.data_ptr())
        if name is None:
            raise Unavailable(what, "argument %d of its kernel is neither an input nor the output" % position)
        return {"name": name, "buffer": True}
    if kind in ("i32", "i64") and type(value) is int:
        return {"name": "argument %d" % position, "type": kind, "value": value}
    raise Unavailable(what, "argument %d of its kernel is of type %s" % (position, kind))
