"""A model of torch's CUDA caching allocator, and the trial of Slots on it.

The rules are those of c10/cuda/CUDACachingAllocator.cpp: requests are rounded up
to 512 bytes; those up to 1 MiB are served from 2 MiB segments, others from 20 MiB
segments below 10 MiB and from segments of their own, in multiples of 2 MiB, above;
a free block is chosen by size, then by address; what is left of it is split off
when it is at least 512 bytes (small) or more than 1 MiB (large); a freed block
merges with free neighbours of its segment.
"""

import bisect
import mmap
import random
import sys

sys.path.insert(0, sys.argv[1])

from mage_worker import memory

MIB = 1 << 20


class Block:
    def __init__(self, at, size, small):
        self.at, self.size, self.small, self.free = at, size, small, True
        self.before = self.after = None


class Tensor:
    """Freed when the last reference goes, as in torch."""

    def __init__(self, allocator, block, count):
        self.allocator, self.block, self.count = allocator, block, count

    def data_ptr(self):
        return self.block.at

    def numel(self):
        return self.count

    def __del__(self):
        self.allocator.release(self.block)


class Allocator:
    uint8, float32, device = None, "float32", None

    def __init__(self, rng):
        self.rng, self.next, self.segments = rng, 1 << 32, []
        self.pools = {True: [], False: []}  # free blocks: (size, at, block)

    def put(self, b):
        bisect.insort(self.pools[b.small], (b.size, b.at, b))

    def take(self, b):
        pool = self.pools[b.small]
        pool.pop(bisect.bisect_left(pool, (b.size, b.at)))

    def empty(self, count, dtype=None, device=None):
        size = max(512, -(-count // 512) * 512)
        small = size <= MIB
        pool = self.pools[small]
        i = bisect.bisect_left(pool, (size, 0))
        if i == len(pool):
            room = 2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
            self.next += self.rng.choice((0, 2 * MIB))  # segments may touch, or not
            self.put(Block(self.next, room, small))
            self.segments.append((self.next, self.next + room))
            self.next += room
            i = bisect.bisect_left(pool, (size, 0))
        b = pool.pop(i)[2]
        rest = b.size - size
        if rest >= 512 if small else rest > MIB:
            other = Block(b.at + size, rest, small)
            other.before, other.after = b, b.after
            if b.after:
                b.after.before = other
            b.after, b.size = other, size
            self.put(other)
        b.free = False
        return Tensor(self, b, count)

    def release(self, b):
        b.free = True
        if b.after and b.after.free:
            gone = b.after
            self.take(gone)
            b.size, b.after = b.size + gone.size, gone.after
            if b.after:
                b.after.before = b
        if b.before and b.before.free:
            into = b.before
            self.take(into)
            into.size, into.after = into.size + b.size, b.after
            if into.after:
                into.after.before = into
            b = into
        self.put(b)


class GPU:
    """What Slots needs of a device. Poisoned and read ranges are remembered."""

    def __init__(self, rng):
        self.torch, self.device, self.owner = Allocator(rng), None, None
        self.poisoned, self.gotten = [], []

    def inside(self, at, count):
        # The driver knows allocations of its own: a call stays inside of one.
        return any(low <= at and at + count <= high for low, high in self.torch.segments)

    def fill(self, at, value, count):
        assert self.inside(at, count), "a memset crosses two segments"
        self.poisoned.append((at, at + count))

    def read(self, at, into, count):
        assert self.inside(at, count), "a copy crosses two segments"
        self.gotten.append((into, at, count))

    def synchronize(self):
        pass


class Result:
    """What the gate asks of a result."""

    dtype = Allocator.float32

    def __init__(self, at, size):
        self.data_ptr, self.shape = lambda: at, [size // 4]

    def is_contiguous(self):
        return True


def fragment(rng, torch, sizes, held):
    """Leaves holes of many sizes, of these sizes too."""
    made = [torch.empty(rng.choice(sizes + [rng.randrange(1, 64) * 512, rng.randrange(1, 3 * MIB)])) for _ in range(rng.randrange(200))]
    rng.shuffle(made)
    held += made[: rng.randrange(len(made) + 1)]
    del made
    pool = torch.pools[True]
    if pool and rng.random() < 0.5:
        # A short end of a segment: rows of small pieces go on in the next one.
        end = 512 * rng.randrange(1, 17)
        while pool and pool[-1][0] > end:
            held.append(torch.empty(min(MIB, pool[-1][0] - end)))


def covers(ranges, low, high):
    for a, b in sorted(ranges):
        if a <= low < b:
            low = b
    return low >= high


host = memoryview(mmap.mmap(-1, 320 * MIB))  # pages that nobody touches


def judge(gpu, buffers, at):
    """Reads an output as the gate does, of a result or of none: the zone before
    it, itself and the zone after it, one after another."""
    guard, size, gpu.gotten = buffers.guard, buffers.size, []
    view = host[: size + 2 * guard]
    buffers.write(view)
    begin = into = memory.arena.address(view)
    for low, count in ((at - guard, guard), (at, size), (at + buffers.slots.block, guard)):
        while count:
            assert gpu.gotten[:1] and gpu.gotten[0][:2] == (into, low), "read %s, not %s" % (gpu.gotten[:1], (into, low))
            length = gpu.gotten.pop(0)[2]
            into, low, count = into + length, low + length, count - length
    assert not gpu.gotten and into == begin + len(view)


def trial(seed):
    rng = random.Random(seed)
    gpu, held, owner = GPU(rng), [], None
    torch = gpu.torch
    buffers = memory.Returned(torch, {"guard": 4096, "output": {"shape": [1]}}, None, gpu)
    sizes = [4, 512, 3084, 4096, 5000, 196608, 300 * 1024, 600 * 1024, 700 * 1024, MIB - 4, MIB, MIB + 4, 3 * MIB, 12 * MIB, 13 * MIB + 20, 64 * MIB, 256 * MIB]
    for _ in range(6):
        fragment(rng, torch, sizes, held)
        size = rng.choice(sizes)
        gpu.poisoned, owner = [], None
        buffers.size, buffers.shape = size, [size // 4]
        buffers.poison(0xFF)
        owner = buffers.slots
        judge(gpu, buffers, owner.at[0])  # as it was poisoned
        for at in owner.at:
            buffers.cell[0] = Result(at, size)
            judge(gpu, buffers, at)
        buffers.cell[0] = None
        assert len(owner.at) == owner.wanted
        for at in owner.at:
            assert covers(gpu.poisoned, at - 4096, at + owner.block + 4096), "a guard zone is not poisoned"
        live = sorted((t.data_ptr(), t.data_ptr() + t.block.size) for t in owner.kept + held)
        for at in owner.at:
            for low, high in ((at - 4096, at), (at + owner.block, at + owner.block + 4096)):
                assert covers(live, low, high), "a guard zone is not held"
        # Operations: intermediates of the same size and of others, one result.
        result = None
        for _ in range(50):
            result = None
            # No more than the blocks that are there, with those that others cut into.
            other = [torch.empty(rng.choice((rng.randrange(1, 2 * MIB), max(1, size // 50)))) for _ in range(rng.randrange(3))]
            same = [torch.empty(size) for _ in range(rng.randrange(1, owner.wanted - 1))]
            result = same.pop()
            del same, other
            operations[0] += 1
            if not owner.holds(result.data_ptr()):
                # Seen, and refused, in a measurement. An intermediate of another
                # size may leave exactly such a block of what it was cut from.
                strays[0] += 1
        result = None
        if rng.random() < 0.5:
            held = held[: len(held) // 2]


operations, strays = [0], [0]
for seed in range(int(sys.argv[2])):
    try:
        trial(seed)
    except BaseException as e:
        sys.exit("seed %d: %s: %s" % (seed, type(e).__name__, e))
if strays[0] * 1000 > operations[0]:
    sys.exit("%d of %d results were not in poisoned memory" % (strays[0], operations[0]))
print("%d of %d results were not in poisoned memory" % (strays[0], operations[0]))
