"""y = 1/2 z (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))), z = a + b.

Bias and activation are one kernel; a program computes BLOCK consecutive elements.
"""

import triton
import triton.language as tl


@triton.jit
def gelu(a, b, out, count, D, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    z = tl.load(a + at, mask=inside) + tl.load(b + at % D, mask=inside)
    # 1/2 (1 + tanh u) = sigmoid(2u)
    u = 0.7978845608028654 * (z + 0.044715 * z * z * z)
    tl.store(out + at, z * tl.sigmoid(2 * u), mask=inside)


arguments = ("a", "b", "out", "count", "D")


def scalars(d):
    return {"count": d["R"] * d["D"], "D": d["D"]}


def fixed(d):
    return {"BLOCK": 256}


def grid(d, t):
    return (triton.cdiv(d["R"] * d["D"], t["BLOCK"]), 1, 1)


configs = [
    ({"BLOCK": block}, warps)
    for block, warps in ((256, 2), (256, 4), (512, 4), (1024, 4), (1024, 8), (2048, 8), (4096, 8))
]
