"""Runs a script as `python SCRIPT` would."""

import atexit
import io
import os
import runpy
import sys
import types

from .recorder import Recorder

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run_script(script):
    """Execute it as __main__, from where `python SCRIPT` would."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    path = os.path.abspath(script)
    if os.path.isdir(path):
        sys.path[0] = path
        runpy.run_path(path, run_name="__main__")
        return
    with io.open_code(path) as f:
        text = f.read()
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = sys.modules["builtins"]
    main.__cached__ = None
    sys.modules["__main__"] = main  # start.py's own lives on in the frame that called
    exec(compile(text, path, "exec"), main.__dict__)


def main():
    prefix, on, count, script = sys.argv[1:5]
    recorder = Recorder(os.path.abspath(prefix), on == "cuda", int(count))
    recorder.__enter__()
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        recorder.problem("TRITON_INTERPRET is set: kernels are interpreted on the CPU, and none is launched")
    recorder.write()
    sys.argv[:] = sys.argv[4:]
    leave = os._exit

    def _exit(status):
        recorder.finish()
        leave(status)

    recorder.replace(os, "_exit", _exit)
    os.register_at_fork(after_in_child=recorder.begin)

    # Registered first, it runs last: after the script's own, and its threads.
    atexit.register(recorder.__exit__)
    atexit.register(recorder.finish)
    try:
        run_script(script)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as e:
        trace = e.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(HERE):
            trace = trace.tb_next  # what the script does not know of
        e.__traceback__ = trace
        sys.excepthook(type(e), e, trace)
        sys.exit(1)
