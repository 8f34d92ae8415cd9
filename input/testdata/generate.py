"""Independent reimplementation of docs/inputs.md, standard library only.

usage: generate.py CONTRACT DISTRIBUTION SEED NAME=SIZE...
Prints one line per input buffer: name, SHA-256 of its bytes.

usage: generate.py deviates STREAM SEED COUNT
Prints the SHA-256 of the first COUNT deviates as little-endian float64.
"""

import bisect
import hashlib
import itertools
import math
import struct
import sys

MASK32 = 0xFFFFFFFF


def block(seed, name, index):
    """The two 64-bit draws of one Philox4x32-10 block."""
    label = int.from_bytes(name.encode().ljust(8, b"\0"), "little")
    c = [index & MASK32, index >> 32, label & MASK32, label >> 32]
    k = [seed & MASK32, seed >> 32]
    for _ in range(10):
        a = 0xD2511F53 * c[0]
        b = 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK32, (a >> 32) ^ c[3] ^ k[1], a & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return (c[0] | c[1] << 32, c[2] | c[3] << 32)


class Stream:
    def __init__(self, seed, name):
        self.seed, self.name, self.last = seed, name, (None, None)

    def draw(self, i):
        if self.last[0] != i // 2:
            self.last = (i // 2, block(self.seed, self.name, i // 2))
        return self.last[1][i % 2]

    def below(self, i, n):
        return (self.draw(i) * n) >> 64


A = (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3)
B = (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3)
C = (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4)
D = (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9)
E = (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7)
F = (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15)


def horner(x, coefficients):
    y = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        y = y * x + c
    return y


def logarithm(x):
    m, e = math.frexp(x)  # m in [0.5, 1)
    m, e = m * 2, e - 1
    if m > 1.4142135623730951:
        m, e = m / 2, e + 1
    s = (m - 1) / (m + 1)
    z = s * s
    series = 0.0
    for k in range(21, 2, -2):
        series = (series + 1 / k) * z
    return e * 0.6931471805599453 + (2 * s) * (1 + series)


def normal(draw):
    p = (2 * (draw >> 12) + 1) / 2.0**53
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * horner(r, A) / horner(r, B)
    r = math.sqrt(-logarithm(p if q < 0 else 1 - p))
    x = horner(r - 1.6, C) / horner(r - 1.6, D) if r <= 5 else horner(r - 5, E) / horner(r - 5, F)
    return -x if q < 0 else x


def floats(seed, name, n, distribution):
    s = Stream(seed, name)
    sd = 8.0 if (distribution, name) == ("wide", "a") else 0.25
    one = (distribution, name) == ("constant", "a")
    return struct.pack(f"<{n}f", *(sd * normal(s.draw(0 if one else i)) for i in range(n)))


def graph(seed, n, edges, distribution):
    rows, indices = Stream(seed, "rows"), Stream(seed, "indices")
    ranks, pick = Stream(seed, "ranks"), Stream(seed, "pick")
    node = list(range(n))
    for i in range(n - 1, 0, -1):
        j = ranks.below(i, i + 1)
        node[i], node[j] = node[j], node[i]
    sums = list(itertools.accumulate(2**40 // r for r in range(1, n + 1)))

    degree = [0] * n
    for k in range(edges):
        if distribution == "power-law":
            row = node[bisect.bisect_right(sums, rows.below(k, sums[-1]))]
        elif distribution == "hub":
            row = rows.below(0, n)
        elif distribution == "empty-rows":
            row = node[rows.below(k, max(1, n // 16))]
        else:
            row = rows.below(k, n)
        degree[row] += 1
    pointers = [0, *itertools.accumulate(degree)]

    sources = []
    for row in range(n):
        for e in range(pointers[row], pointers[row + 1]):
            if distribution == "power-law":
                source = node[bisect.bisect_right(sums, indices.below(e, sums[-1]))]
            elif distribution == "duplicates":
                source = indices.below(2 * row + (pick.draw(e) & 1), n)
            else:
                source = indices.below(e, n)
            sources.append(source)
    return struct.pack(f"<{n + 1}I", *pointers), struct.pack(f"<{edges}I", *sources)


def main():
    op, distribution, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if op == "deviates":
        s, n = Stream(seed, distribution), int(sys.argv[4])
        print(hashlib.sha256(struct.pack(f"<{n}d", *(normal(s.draw(i)) for i in range(n)))).hexdigest())
        return
    d = {k: int(v) for k, v in (a.split("=") for a in sys.argv[4:])}
    sizes = {
        "matmul": lambda: {"a": d["M"] * d["K"], "b": d["K"] * d["N"]},
        "gelu": lambda: {"a": d["R"] * d["D"], "b": d["D"]},
        "layernorm": lambda: {"a": d["R"] * d["D"], "b": d["D"], "c": d["D"]},
        "triangle": lambda: {"a": d["N"] ** 2 * d["C"], "b": d["N"] ** 2 * d["C"]},
        "neighbor": lambda: {"a": d["N"] * d["F"], "b": d["E"]},
    }[op]()
    buffers = {name: floats(seed, name, n, distribution) for name, n in sizes.items()}
    if op == "neighbor":
        buffers["rowptr"], buffers["indices"] = graph(seed, d["N"], d["E"], distribution)
    for name in sorted(buffers):
        print(name, hashlib.sha256(buffers[name]).hexdigest())


if __name__ == "__main__":
    main()
