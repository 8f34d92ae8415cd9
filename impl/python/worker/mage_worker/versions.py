"""What this interpreter offers."""

import platform

from .errors import Unavailable


def load_torch(what):
    """Imports torch and settles what holds for every operation of the process."""
    try:
        import torch
    except ImportError as e:
        raise Unavailable(what, "this Python cannot import torch: %s" % first(e),
                          "pip install torch, or choose another interpreter with --python") from None
    except BaseException as e:
        raise Unavailable(what, "importing torch failed: %s: %s" % (type(e).__name__, first(e)),
                          "mend the torch installation, or choose another interpreter with --python") from None
    # Strict IEEE single precision, whoever computes: no TF32 anywhere.
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.set_grad_enabled(False)
    if torch.backends.cuda.matmul.allow_tf32:
        raise Unavailable(what, "TF32 cannot be switched off", "")
    return torch


def load_triton(what):
    try:
        import triton
    except BaseException as e:
        raise Unavailable(what, "this Python cannot import triton: %s" % first(e),
                          "pip install triton, or choose another interpreter with --python") from None
    return triton


def first(e):
    return (str(e).splitlines() or [type(e).__name__])[0][:300]


def versions(device):
    found = {"python": platform.python_version()}
    try:
        torch = load_torch("torch")
    except Unavailable as e:
        found["torch"] = "unavailable: " + e.reason
    else:
        found["torch"] = torch.__version__
        found["torch-cuda"] = str(torch.version.cuda or "none")
        if torch.backends.cudnn.is_available():
            found["cudnn"] = str(torch.backends.cudnn.version())
        if device.startswith("cuda") and torch.cuda.is_available():
            from . import cuda

            # The context exists from here on: who counts the processes on the
            # device before a measurement counts this one.
            cuda.Device.of(device).synchronize()
            found["torch-gpu"] = torch.cuda.get_device_name(torch.device(device))
    try:
        found["triton"] = load_triton("triton").__version__
    except Unavailable as e:
        found["triton"] = "unavailable: " + e.reason
    return found
