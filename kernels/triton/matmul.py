"""C = A B, one tile of C per program; products and sums are IEEE single precision."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, out, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    columns = tl.program_id(1) * TN + tl.arange(0, TN)
    inner = tl.arange(0, TK)
    sums = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, K, TK):
        depth = k + inner
        left = tl.load(a + rows[:, None] * K + depth[None, :],
                       mask=(rows[:, None] < M) & (depth[None, :] < K), other=0.0)
        right = tl.load(b + depth[:, None] * N + columns[None, :],
                        mask=(depth[:, None] < K) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(out + rows[:, None] * N + columns[None, :], sums,
             mask=(rows[:, None] < M) & (columns[None, :] < N))


arguments = ("a", "b", "out", "M", "N", "K")


def scalars(d):
    return {"M": d["M"], "N": d["N"], "K": d["K"]}


def fixed(d):
    return {"TM": 32, "TN": 32, "TK": 32}


def grid(d, t):
    return (triton.cdiv(d["M"], t["TM"]), triton.cdiv(d["N"], t["TN"]), 1)


configs = [
    ({"TM": m, "TN": n, "TK": k}, warps)
    for m, n, k, warps in ((32, 32, 32, 4), (64, 32, 32, 4), (64, 64, 16, 4), (64, 64, 32, 4),
                           (128, 64, 16, 4), (128, 64, 16, 8), (128, 128, 16, 8))
]
