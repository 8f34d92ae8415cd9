"""Answers requests, one JSON line each, until the descriptor closes."""

import gc
import json
import os
import sys
import traceback

from . import arena, arms, errors, versions

operations = {}
frozen = set()  # those among the objects that are not collected


def find(request):
    try:
        return operations[request["id"]]
    except KeyError:
        raise errors.Failure("no operation %r is open" % request["id"]) from None


def open_operation(request):
    request["views"] = arena.shared.views(request)
    operation = arms.open_operation(request)
    del request["views"]
    operations[request["id"]] = operation
    collect()
    return operation.identity


def close_operation(request):
    operation = operations.pop(request["id"], None)
    if operation is not None:
        operation.close()
        del operation
        if request["id"] in frozen:
            gc.unfreeze()
            frozen.clear()
        collect()


def collect():
    """Collects garbage. What imports and compilation left is looked at once: with
    it, the collection before every measurement would take a fifth of a second."""
    gc.collect()
    if len(gc.get_objects()) > 10000:
        gc.freeze()
        frozen.update(operations)


def export_kernel(request):
    if "id" in request:  # of an opened operation
        return find(request).export()
    from . import export

    return export.export(request)


def profile_operation(request):
    from . import profile

    profile.profile(find(request), request["n"])


def calibrate(request):
    from . import cuda

    return cuda.calibrate(request["device"])


handlers = {
    "hello": lambda r: {"pid": os.getpid()},
    "versions": lambda r: versions.versions(r["device"]),
    "offers": lambda r: arms.offers(r["implementation"], r["device"]),
    "open": open_operation,
    "close": close_operation,
    "inputs": lambda r: find(r).write_inputs(arena.shared.views(r)),
    "set": lambda r: find(r).read_inputs(arena.shared.views(r)),
    "poison": lambda r: find(r).poison(r["value"]),
    "run": lambda r: find(r).run(),
    "output": lambda r: find(r).write_output(arena.shared.views(r)["out"]),
    "measure": lambda r: find(r).measure(r),
    "profile": profile_operation,
    "export": export_kernel,
    "calibrate": calibrate,
}


def answer(request):
    try:
        handler = handlers.get(request["do"])
        if handler is None:
            raise errors.Failure("unknown request %r" % request["do"])
        return {"result": handler(request)}
    except errors.Unavailable as e:
        return {"unavailable": {"what": e.what, "reason": e.reason, "remedy": e.remedy}}
    except BaseException as e:  # SystemExit too: a library must not end the others
        tell()
        return {"failure": {"reason": errors.one_line(e)}}


def tell():
    """Puts the whole story of an exception into the log; the answer is one line."""
    try:
        traceback.print_exc()
        sys.stderr.flush()
    except Exception:
        pass  # a library closed it


def serve(requests, answers):
    me = os.getpid()
    for line in requests:
        request = json.loads(line)
        reply = answer(request)
        if os.getpid() != me:
            os._exit(0)  # a child that a library forked, and that came back from there
        reply["seq"] = request["seq"]
        if "failure" in reply:
            gc.collect()  # what the failed call held on to
            reply["failure"]["fatal"] = broken_context()
        answers.write(json.dumps(reply, allow_nan=False).encode() + b"\n")
        answers.flush()
        if reply.get("failure", {}).get("fatal"):
            # An illegal access poisons the context for every operation in this
            # process: a fresh one must serve the others.
            os._exit(3)


def broken_context():
    torch = sys.modules.get("torch")
    if torch is None or not getattr(torch, "cuda", None) or not torch.cuda.is_initialized():
        return False
    try:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        return False
    except BaseException:
        return True
