"""Runs a Python script as `python SCRIPT ARGS` would, and times its Triton kernels.

Every launch is put between two CUDA events on its own stream. Nothing global is
set in Triton: what a compiled kernel is launched with is wrapped when the kernel
is loaded, so a script's own launch hooks work as before, and so do exceptions.

Usage: runner.py TIMES cuda|all COUNT SCRIPT ARGS…
Appends JSON lines to TIMES.PROCESS.jsonl; COUNT 0 is no limit. tritonhook reads them.
"""

from mage_timing.script import main

if __name__ == "__main__":
    main()
