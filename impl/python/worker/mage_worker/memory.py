"""Tensors of one operation: inputs, and an output between guard zones.

Two policies, because PyTorch has two habits. An operation that writes where it
is told has one allocation: guard, output, guard. An operation that allocates its
result has Slots: the memory that its next result will be given.
"""

import math

from . import arena
from .errors import Failure, Unavailable


class Inputs:
    """Input tensors that keep their addresses. Indices are signed for torch,
    which has little for unsigned ones; the contract keeps them below 2³¹."""

    def __init__(self, torch, request, device, gpu):
        self.gpu, self.tensors, self.whole = gpu, {}, {}
        for spec in request["inputs"]:
            dtype = torch.int32 if spec["dtype"] == "u32" else torch.float32
            # At least one element, so that an empty array has an address as well.
            whole = torch.empty(max(1, math.prod(spec["shape"])), dtype=dtype, device=device)
            self.whole[spec["name"]] = whole
            self.tensors[spec["name"]] = whole[: math.prod(spec["shape"])].view(spec["shape"])
        self.read(request["views"])

    def addresses(self):
        return {name: t.data_ptr() for name, t in self.whole.items()}

    def read(self, views):
        for name, tensor in self.tensors.items():
            arena.take(views[name], self.gpu, tensor)

    def write(self, views):
        for name, tensor in self.tensors.items():
            arena.put(views[name], self.gpu, [extent(tensor)])


def extent(tensor):
    return tensor.data_ptr(), tensor.numel() * tensor.element_size()


class Given:
    """The output of an operation that writes where it is told."""

    def __init__(self, torch, request, device, gpu):
        self.gpu = gpu
        guard, shape = request["guard"], request["output"]["shape"]
        size = 4 * math.prod(shape)
        self.whole = torch.zeros(2 * guard + size, dtype=torch.uint8, device=device)
        self.out = self.whole[guard : guard + size].view(torch.float32).view(shape)

    def poison(self, value):
        (self.gpu or arena.Memory).fill(self.whole.data_ptr(), value, self.whole.numel())

    def write(self, view):
        arena.put(view, self.gpu, [extent(self.whole)])

    def graph_pool(self):
        return None

    def captured(self, graph):
        self.graph = graph  # alive until the next one


class Returned:
    """The results of an operation that allocates them.

    cell[0] is the last result. Poisoning drops it and poisons the memory that the
    next results will be given: where() knows whether one was.
    """

    def __init__(self, torch, request, device, gpu):
        self.torch, self.gpu = torch, gpu
        self.guard, self.size = request["guard"], 4 * math.prod(request["output"]["shape"])
        self.shape = list(request["output"]["shape"])
        self.cell = [None]
        self.value = 0
        self.slots = None
        self.pool = None
        self.graph = None

    def poison(self, value):
        self.release()
        self.value = value
        if self.gpu is not None:
            # What another operation still holds for its gate was judged before
            # this one is poisoned; its memory is wanted here.
            if self.gpu.owner is not None:
                self.gpu.owner.release()
            self.gpu.owner = self
            self.slots = Slots(self.gpu, self.size, self.guard, value)

    def release(self):
        # In this order: a pool may only go when nothing in it is used.
        self.cell[0] = None
        self.graph = None
        self.slots = None
        self.pool = None

    def graph_pool(self):
        """Captured operations are given memory of the graph's own pool: poison
        that, in the same way."""
        self.release()
        self.pool = self.torch.cuda.MemPool()
        with self.torch.cuda.use_mem_pool(self.pool):
            self.slots = Slots(self.gpu, self.size, self.guard, self.value)
        return self.pool.id

    def captured(self, graph):
        self.graph = graph
        self.where()

    def where(self):
        result = self.cell[0]
        if list(result.shape) != self.shape or result.dtype != self.torch.float32 or not result.is_contiguous():
            raise Failure("the result is %s %s, strides %s" % (result.dtype, list(result.shape), result.stride()))
        if not self.slots.holds(result.data_ptr()):
            raise Unavailable("a gate on this result", "torch's allocator gave it memory that was not poisoned")
        return result.data_ptr()

    def write(self, view):
        result = self.cell[0]
        if self.gpu is not None:
            if self.slots is None:
                raise Failure("there is no output: another operation was poisoned since")
            at = self.slots.first() if result is None else self.where()
            arena.put(view, self.gpu, self.slots.around(at))
            return
        # CPU tensors come from malloc: nothing can be said about the memory
        # before, around or after them. This form serves tests without a GPU.
        view[:] = bytes([self.value]) * len(view)
        if result is not None:
            host = result.contiguous()
            arena.put(view[self.guard : -self.guard], None, [extent(host)])


class Slots:
    """Free, poisoned blocks of the allocator's cache between live guard blocks.

    torch's caching allocator gives a request the smallest free block that fits,
    the lowest address among equals, of the same stream and pool, and cuts what it
    gives from the front of a larger one. So: take pieces of exactly the result's
    size until enough of them follow each other in memory; that takes every other
    free block that would be preferred as well. Poison the rows of pieces, and give
    back single ones with live ones between them. The next results land there.
    """

    # Results and intermediates of the same size that live at once; of large ones
    # fewer, since guard zones take as much memory again.
    wanted, large, wanted_large = 6, 64 << 20, 4
    tries = 4000
    small = 1 << 20  # requests up to 1 MiB are cut from segments of 2 MiB
    segment = 2 << 20

    def __init__(self, gpu, size, guard, value):
        self.gpu, self.guard, self.size = gpu, guard, size
        self.block = max(512, -(-size // 512) * 512)
        self.kept, self.at = [], []
        if self.block > self.large:
            self.wanted = self.wanted_large
        if self.small >= self.block > self.segment // 3:
            self.take_triples(value)
        else:
            self.take_rows(value)
        self.gpu.synchronize()
        if len(self.at) < self.wanted or not self.preferred():
            raise Unavailable("guard zones", "torch's allocator gives no neighbouring blocks of %d bytes" % self.block)

    def preferred(self):
        """Takes whatever else the allocator would give, and says whether it gives
        the slots now."""
        for _ in range(self.tries):
            given = [self.allocate(self.block) for _ in self.at]
            strays = [t for t in given if t.data_ptr() not in self.at]
            if not strays:
                return True
            self.kept += strays
            del given  # before the next ones are taken
        return False

    def take_rows(self, value):
        """Finds rows of pieces: guard, slot, guard, slot, …, guard, where a guard
        is as many pieces as cover the guard zone."""
        width = -(-self.guard // self.block)
        if self.block > self.small:
            # One large block, given back, is what a row can be cut from.
            hold = self.allocate(((self.wanted + 1) * (width + 1) + 1) * self.block)
            del hold
        rows, row, found = [], [], 0
        for _ in range(self.tries):
            piece = self.allocate(self.block)
            if row and not follows(row[-1], piece):
                found += self.slots_in(row, width)
                rows.append(row)
                row = []
            row.append(piece)
            if found + self.slots_in(row, width) >= self.wanted:
                break
        for row in rows + [row]:
            slots = self.slots_in(row, width)
            if slots:
                self.fill(row, value)
            for i, piece in enumerate(row):
                if i % (width + 1) == width and i // (width + 1) < slots and len(self.at) < self.wanted:
                    self.at.append(piece.data_ptr())
                else:
                    self.kept.append(piece)

    @staticmethod
    def slots_in(row, width):
        return max(0, (len(row) - width) // (width + 1))

    def take_triples(self, value):
        """Where a segment holds two blocks or less: guard, slot, guard fill one.
        Three guards in a row show a segment that is free; all smaller free blocks
        are taken by then, so that the slot goes where the second one was."""
        fence = (self.segment - self.block) // 2 // 512 * 512
        slots, row = [], []
        for _ in range(self.tries // 4):
            piece = self.allocate(fence)
            if row and not follows(row[-1], piece):
                self.kept += row
                row = []
            row.append(piece)
            del piece
            if len(row) < 3:
                continue
            before = row[0]
            del row[:]
            block, after = self.allocate(self.block), self.allocate(fence)
            self.kept += [before, after]
            if follows(before, block) and follows(block, after):
                self.fill((before, block, after), value)
                slots.append(block)
            else:
                self.kept.append(block)
            if len(slots) == self.wanted:
                break
        self.kept += row
        self.at = [s.data_ptr() for s in slots]

    def fill(self, pieces, value):
        # One by one: what follows each other may lie in two allocations of the
        # driver, and a memset or a copy across their border is an error.
        for p in pieces:
            self.gpu.fill(p.data_ptr(), value, p.numel())

    def around(self, at):
        """The guard zone before a slot, the output in it and the guard zone after
        it, in order, as (address, count): cut where pieces meet, as in fill."""
        # The zone after begins where the allocator's block ends: the bytes between
        # may be those of a smaller intermediate that lay in the block before.
        after = at + self.block
        for low, high in ((at - self.guard, at), (at, at + self.size), (after, after + self.guard)):
            while low < high:
                border = low + self.block - (low - at) % self.block
                yield low, min(border, high) - low
                low = min(border, high)

    def allocate(self, count):
        return self.gpu.torch.empty(count, dtype=self.gpu.torch.uint8, device=self.gpu.device)

    def first(self):
        return self.at[0]

    def holds(self, at):
        return at in self.at


def follows(a, b):
    return a.data_ptr() + a.numel() == b.data_ptr()
