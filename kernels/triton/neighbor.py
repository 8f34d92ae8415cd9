"""Y[i,f] = sum over the edges e of row i of w[e] X[s[e],f]: one row and WIDTH
features per program, CHUNK edges at a time."""

import triton
import triton.language as tl


@triton.jit
def neighbor(a, b, rowptr, indices, out, F, CHUNK: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    features = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    first, last = tl.load(rowptr + row), tl.load(rowptr + row + 1)
    sums = tl.zeros((WIDTH,), dtype=tl.float32)
    for start in range(first, last, CHUNK):
        edges = start + tl.arange(0, CHUNK)
        inside = edges < last
        sources = tl.load(indices + edges, mask=inside, other=0)
        weights = tl.load(b + edges, mask=inside, other=0.0)
        x = tl.load(a + sources[:, None] * F + features[None, :],
                    mask=inside[:, None] & (features[None, :] < F), other=0.0)
        sums += tl.sum(weights[:, None] * x, 0)
    tl.store(out + row * F + features, sums, mask=features < F)


arguments = ("a", "b", "rowptr", "indices", "out", "F")


def scalars(d):
    return {"F": d["F"]}


def fixed(d):
    return {"CHUNK": 32, "WIDTH": 64}


def grid(d, t):
    return (d["N"], triton.cdiv(d["F"], t["WIDTH"]), 1)


configs = [
    ({"CHUNK": chunk, "WIDTH": width}, warps)
    for chunk, width, warps in ((8, 64, 1), (8, 64, 2), (16, 64, 1), (16, 64, 2), (16, 64, 4), (32, 64, 4), (16, 32, 1), (32, 128, 4))
]
