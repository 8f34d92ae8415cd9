"""Layer normalisation of rows: centred variance, epsilon 1e-5, affine.

A program holds one row, padded to a power of two, in registers.
"""

import triton
import triton.language as tl

from mage_worker.errors import Unavailable


@triton.jit
def layernorm(a, b, c, out, D, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    inside = at < D
    start = row.to(tl.int64) * D
    x = tl.load(a + start + at, mask=inside, other=0.0)
    mean = tl.sum(x, 0) / D
    centred = tl.where(inside, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / D + 1e-5)
    y = centred * scale * tl.load(b + at, mask=inside) + tl.load(c + at, mask=inside)
    tl.store(out + start + at, y, mask=inside)


arguments = ("a", "b", "c", "out", "D")


def scalars(d):
    return {"D": d["D"]}


def fixed(d):
    width = triton.next_power_of_2(d["D"])
    if width > 1 << 17:
        raise Unavailable("triton layernorm at this shape", "a row of %d elements does not fit one program" % d["D"])
    return {"WIDTH": width}


def grid(d, t):
    return (d["R"], 1, 1)


def configs(d):
    return [(fixed(d), warps) for warps in (1, 2, 4, 8, 16)]
