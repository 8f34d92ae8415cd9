import json
import platform
import sys

# A folder "torch" or "triton" where the command happens to run is not the package.
sys.path[:] = [p for p in sys.path if p]


def say(stage, **found):
    print("\nmage-doctor " + json.dumps(dict(found, stage=stage)), flush=True)


def attempt(stage, ask):
    try:
        say(stage, **ask())
    except BaseException as e:  # an import may even exit
        say(stage, error=(type(e).__name__ + ": " + str(e))[:400])


def torch_found():
    import torch

    return {"version": torch.__version__, "detail": "built for CUDA " + str(torch.version.cuda or "none")}


def triton_found():
    import triton

    return {"version": triton.__version__}


def cuda_found():
    import torch

    if not torch.cuda.is_available():
        return {"error": "torch.cuda.is_available() is false"}
    return {"version": "CUDA " + str(torch.version.cuda), "detail": "GPUs: %d" % torch.cuda.device_count()}


say("python", version=platform.python_version(), path=sys.executable)
attempt("torch", torch_found)
attempt("cuda", cuda_found)
attempt("triton", triton_found)
