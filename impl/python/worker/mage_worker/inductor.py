"""Which kernels torch.compile made, as far as this version of inductor tells."""

import glob
import hashlib
import os


def identity(torch, modules, mode):
    """modules are the generated modules of one compilation."""
    notes, source, binaries = {"inductor mode": mode}, hashlib.sha256(), []
    for module in sorted(modules, key=lambda m: getattr(m, "__file__", "") or ""):
        path = getattr(module, "__file__", None)
        if path:
            with open(path, "rb") as f:
                source.update(f.read())
        for name, value in sorted(vars(module).items()):
            binaries.extend(cubins(name, value))
    binaries = list(dict.fromkeys(binaries))  # a kernel's module and its user's both name it
    found = {"notes": notes}
    if modules:
        found["source_sha256"] = source.hexdigest()
    if binaries:
        notes["kernels"] = ", ".join("%s %s" % (name, digest[:16]) for name, digest in binaries)
        found["entry"] = "+".join(name for name, _ in binaries)
        found["binary_kind"] = "cubin"
        # Of one kernel its own hash; of several the hash of theirs, in order.
        digests = [digest for _, digest in binaries]
        found["binary_sha256"] = digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return found


def cubins(name, value):
    """(kernel name, SHA-256) of a generated Triton kernel's binary, if value is
    such a kernel and its binary lies where this version of inductor puts it."""
    for launcher in getattr(value, "launchers", None) or []:
        where = getattr(launcher, "cache_hash", None)
        if not where:
            continue
        for path in glob.glob(os.path.join(os.environ.get("TRITON_CACHE_DIR", ""), where, "*.cubin")):
            with open(path, "rb") as f:
                yield os.path.basename(path)[: -len(".cubin")], hashlib.sha256(f.read()).hexdigest()
            return
