"""The contracts as PyTorch users write them.

In eager(), every function allocates what it returns. In out(), the same
operations write into tensors that were allocated before, where PyTorch has a form
that does not copy. Index arithmetic is part of the operation: inputs may change
between two calls.
"""

from .errors import Unavailable


def eager(torch, contract, dims, x):
    """Returns f() for a contract; x holds the input tensors."""
    functional = torch.nn.functional
    if contract == "gelu":
        return lambda a, b: functional.gelu(a + b, approximate="tanh"), (x["a"], x["b"])
    if contract == "layernorm":
        width = (dims["D"],)
        return lambda a, b, c: functional.layer_norm(a, width, b, c, 1e-5), (x["a"], x["b"], x["c"])
    if contract == "matmul":
        return lambda a, b: torch.mm(a, b), (x["a"], x["b"])
    if contract == "triangle":
        # The contract's output is row-major; einsum returns a permuted view.
        return lambda a, b: torch.einsum("ikc,jkc->ijc", a, b).contiguous(), (x["a"], x["b"])
    if contract == "neighbor":
        n, width = dims["N"], dims["F"]
        edges = torch.arange(dims["E"], dtype=torch.int32, device=x["a"].device)

        def row_of(rowptr):
            # The row of edge e is the number of row ends that are not after e.
            if torch.compiler.is_compiling():
                # Inductor searches a view from the start of what it is a view of
                # (torch 2.11), so that rowptr[1:] would give rows that are too high.
                return torch.searchsorted(rowptr, edges, right=True, out_int32=True) - 1
            return torch.searchsorted(rowptr[1:], edges, right=True, out_int32=True)

        def scatter(a, weights, rowptr, indices):
            rows = row_of(rowptr)
            messages = a.index_select(0, indices) * weights.unsqueeze(1)
            return a.new_zeros((n, width)).index_add_(0, rows, messages)

        return scatter, (x["a"], x["b"], x["rowptr"], x["indices"])
    raise Unavailable("torch/eager " + contract, "no PyTorch form of it is written")


def csr(torch, contract, dims, x):
    """The sparse product of a library (cuSPARSE on a GPU): neighbor alone."""
    if contract != "neighbor":
        raise Unavailable("torch/eager-csr " + contract, "only neighbor is a sparse product")
    if x["a"].is_cuda and dims["E"] > dims["N"] ** 2:
        raise Unavailable("torch/eager-csr of this shape", "cuSPARSE refuses more entries than the matrix has elements, which duplicates make")
    shape = (dims["N"], dims["N"])

    def multiply(a, weights, rowptr, indices):
        # Made anew each time, of the same memory: no copy, no check.
        matrix = torch.sparse_csr_tensor(rowptr, indices, weights, shape, check_invariants=False)
        return matrix @ a

    return multiply, (x["a"], x["b"], x["rowptr"], x["indices"])


def out(torch, contract, dims, x, target):
    """Returns f() that writes target, and nothing else that is allocated."""
    a, b = x["a"], x["b"]
    if contract == "gelu":
        z, gelu = torch.empty_like(a), torch.ops.aten.gelu.out

        def fused():
            torch.add(a, b, out=z)
            gelu(z, approximate="tanh", out=target)

        return fused
    if contract == "matmul":
        return lambda: torch.mm(a, b, out=target)
    if contract == "triangle":
        n, c = dims["N"], dims["C"]
        left, right, product = (a.new_empty((c, n, n)) for _ in range(3))
        a_view, b_view, turned = a.permute(2, 0, 1), b.permute(2, 1, 0), product.permute(1, 2, 0)

        def batched():
            left.copy_(a_view)
            right.copy_(b_view)
            torch.bmm(left, right, out=product)
            target.copy_(turned)

        return batched
    if contract == "neighbor":
        ends, indices, weights = x["rowptr"][1:], x["indices"], b.unsqueeze(1)
        edges = torch.arange(dims["E"], dtype=torch.int32, device=a.device)
        rows = torch.empty_like(edges)
        messages = a.new_empty((dims["E"], dims["F"]))

        def scatter():
            torch.searchsorted(ends, edges, right=True, out_int32=True, out=rows)
            torch.index_select(a, 0, indices, out=messages)
            messages.mul_(weights)
            target.zero_()
            target.index_add_(0, rows, messages)

        return scatter
    raise Unavailable("torch/eager-out " + contract, "PyTorch has no out= form of it that does not copy")
