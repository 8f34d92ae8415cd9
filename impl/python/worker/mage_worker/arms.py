"""Finds who computes, by the name of the implementation."""

import importlib

from .errors import Failure

# The module of each family. A module has open_operation(request), and
# offers(implementation, device), which raises Unavailable.
families = {
    "torch": "mage_worker.torch_arms",
    "triton": "mage_worker.triton_arms",
    "cubin": "mage_worker.cubin_arms",
    "pure": "mage_worker.pure_arms",
}


def module(name):
    family = name.partition("/")[0]
    try:
        found = families[family]
    except KeyError:
        raise Failure("no implementation %r" % name) from None
    return importlib.import_module(found)


def open_operation(request):
    return module(request["implementation"]).open_operation(request)


def offers(implementation, device):
    module(implementation).offers(implementation, device)
