"""Compiles the kernels of triton/fixed to PTX, for the shapes on standard input.

Reads {"arch": 90, "cases": [{"contract": "gelu", "dims": {...}}]}, writes a list of
launches with the PTX of each specialisation once. Needs no GPU. Package
mage_worker must be importable: it holds how a launch specialises.
"""

import importlib.util
import json
import os
import sys

# Line tables would hold paths of this machine.
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton

from mage_worker import export
from mage_worker.errors import Unavailable

directory = os.path.join(os.path.dirname(__file__), "..")


def load(contract):
    path = os.path.join(directory, contract + ".py")
    spec = importlib.util.spec_from_file_location(contract, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def specialisation(value):
    """What Triton knows of an integer argument when it compiles."""
    if value == 1:
        return "1"
    return "i32" + (" divisible by 16" if value % 16 == 0 else "")


def main():
    request = json.load(sys.stdin)
    modules, kernels, launches = {}, {}, []
    for case in request["cases"]:
        contract, dims = case["contract"], case["dims"]
        if contract not in modules:
            modules[contract] = load(contract)
        module = modules[contract]
        scalars = module.scalars(dims)
        try:
            tunables = module.fixed(dims)
            grid = module.grid(dims, tunables)
        except Unavailable:
            continue
        special = {name: specialisation(v) for name, v in scalars.items()}
        key = json.dumps([contract, tunables, special], sort_keys=True)
        if key not in kernels:
            compiled = export.compile_for(triton, getattr(module, contract), module.arguments, scalars, tunables, {}, request["arch"])
            meta = compiled.metadata
            if meta.num_ctas != 1 or meta.global_scratch_size or meta.profile_scratch_size:
                raise SystemExit("%s %s: clusters and scratch memory are not known here" % (contract, dims))
            constant = export.constants(compiled)
            kernels[key] = {
                "contract": contract,
                "entry": meta.name,
                "tunables": tunables,
                "specialisation": special,
                "arguments": [a for a in module.arguments if a not in constant] + ["global_scratch", "profile_scratch"],
                "warps": meta.num_warps,
                "shared": meta.shared,
                "ptx": compiled.asm["ptx"],
            }
        launches.append({
            "contract": contract,
            "dims": dims,
            "kernel": list(kernels).index(key),
            "grid": list(grid),
            "scalars": {n: v for n, v in scalars.items() if v != 1},
        })
    json.dump({"compiler": "triton " + triton.__version__, "kernels": list(kernels.values()), "launches": launches}, sys.stdout)


main()
