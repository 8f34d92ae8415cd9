"""O[i,j,c] = sum over k of A[i,k,c] B[j,k,c], one tile of one channel per program;
products and sums are IEEE single precision. Channels are the first axis of the
grid: programs that run together read neighbouring channels of the same lines.
"""

import triton
import triton.language as tl


@triton.jit
def triangle(a, b, out, N, C, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    channel = tl.program_id(0)
    rows = tl.program_id(1) * TM + tl.arange(0, TM)
    columns = tl.program_id(2) * TN + tl.arange(0, TN)
    inner = tl.arange(0, TK)
    sums = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, N, TK):
        depth = k + inner
        left = tl.load(a + (rows[:, None] * N + depth[None, :]) * C + channel,
                       mask=(rows[:, None] < N) & (depth[None, :] < N), other=0.0)
        right = tl.load(b + (columns[None, :] * N + depth[:, None]) * C + channel,
                        mask=(columns[None, :] < N) & (depth[:, None] < N), other=0.0)
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(out + (rows[:, None] * N + columns[None, :]) * C + channel, sums,
             mask=(rows[:, None] < N) & (columns[None, :] < N))


arguments = ("a", "b", "out", "N", "C")


def scalars(d):
    return {"N": d["N"], "C": d["C"]}


def fixed(d):
    return {"TM": 32, "TN": 32, "TK": 32}


def grid(d, t):
    return (d["C"], triton.cdiv(d["N"], t["TM"]), triton.cdiv(d["N"], t["TN"]))


configs = [
    ({"TM": m, "TN": n, "TK": k}, warps)
    for m, n, k, warps in ((16, 16, 16, 4), (32, 32, 16, 4), (32, 32, 32, 4), (32, 32, 64, 4),
                           (64, 32, 32, 4), (64, 64, 16, 4), (64, 64, 32, 8))
]
