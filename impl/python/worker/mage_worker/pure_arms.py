"""The contracts in plain Python: an independent, slow reference that needs no
library, so that the worker itself can be tested anywhere."""

import array
import math
import sys

from .errors import Unavailable
from .sampling import HostTimer


def offers(implementation, device):
    if device != "cpu":
        raise Unavailable(implementation, "plain Python computes on the CPU only")


class Buffers:
    """Inputs as arrays, and an output between guard zones."""

    def __init__(self, request):
        self.guard = request["guard"]
        self.specs = request["inputs"]
        self.arrays = {}
        self.count = math.prod(request["output"]["shape"])
        self.whole = bytearray(self.guard * 2 + 4 * self.count)

    def read_inputs(self, views):
        for spec in self.specs:
            values = array.array("I" if spec["dtype"] == "u32" else "f", bytes(views[spec["name"]]))
            if sys.byteorder != "little":
                values.byteswap()
            self.arrays[spec["name"]] = values

    def write_inputs(self, views):
        for name, values in self.arrays.items():
            views[name][:] = values.tobytes()

    def poison(self, value):
        self.whole[:] = bytes([value]) * len(self.whole)

    def put(self, values):
        self.whole[self.guard : self.guard + 4 * self.count] = array.array("f", values).tobytes()

    def write_output(self, view):
        view[:] = self.whole


class Operation:
    def __init__(self, request, compute):
        self.buffers = Buffers(request)
        self.read_inputs, self.write_inputs = self.buffers.read_inputs, self.buffers.write_inputs
        self.poison, self.write_output = self.buffers.poison, self.buffers.write_output
        self.read_inputs(request["views"])
        self.timer = HostTimer(lambda: bytearray(64 << 20))
        self.identity = {"compiler": "CPython " + sys.version.split()[0], "entry": request["implementation"]}
        dims, values = request["dims"], self.buffers.arrays
        self.submit = lambda: self.buffers.put(compute(dims, values))

    def run(self):
        self.submit()

    def measure(self, request):
        return self.timer.measure(self.submit, request)

    def close(self):
        pass


def matmul(d, x):
    a, b, n, depth = x["a"], x["b"], d["N"], d["K"]
    return [sum(a[i * depth + k] * b[k * n + j] for k in range(depth)) for i in range(d["M"]) for j in range(n)]


def gelu(d, x):
    root = math.sqrt(2 / math.pi)
    out = []
    for i, v in enumerate(x["a"]):
        z = v + x["b"][i % d["D"]]
        out.append(0.5 * z * (1 + math.tanh(root * (z + 0.044715 * z**3))))
    return out


def layernorm(d, x):
    width, out = d["D"], []
    for r in range(d["R"]):
        row = x["a"][r * width : (r + 1) * width]
        mean = math.fsum(row) / width
        scale = 1 / math.sqrt(math.fsum((v - mean) ** 2 for v in row) / width + 1e-5)
        out.extend((v - mean) * scale * g + o for v, g, o in zip(row, x["b"], x["c"]))
    return out


def triangle(d, x):
    a, b, n, c = x["a"], x["b"], d["N"], d["C"]
    return [sum(a[(i * n + k) * c + p] * b[(j * n + k) * c + p] for k in range(n))
            for i in range(n) for j in range(n) for p in range(c)]


def neighbor(d, x):
    width, out = d["F"], []
    for i in range(d["N"]):
        edges = range(x["rowptr"][i], x["rowptr"][i + 1])
        out.extend(sum(x["b"][e] * x["a"][x["indices"][e] * width + f] for e in edges) for f in range(width))
    return out


contracts = {f.__name__: f for f in (matmul, gelu, layernorm, triangle, neighbor)}


def open_operation(request):
    offers(request["implementation"], request["device"])
    return Operation(request, contracts[request["contract"]])
