"""Memory that this process shares with the one that asks: descriptor 6.

A request says how much of it to map, and where in it its arrays lie.
"""

import ctypes
import mmap

from .errors import Failure

descriptor = 6


class Arena:
    def __init__(self):
        self.size, self.mapped, self.driver, self.locked = 0, None, None, False

    def views(self, request):
        """The places of a request's arrays, as writable memory, by name."""
        if request.get("arena", 0) > self.size:
            self.grow(request["arena"])
        places = request.get("places") or {}
        return {name: memoryview(self.mapped)[at : at + count] for name, (at, count) in places.items()}

    def grow(self, size):
        mapped = mmap.mmap(descriptor, size)
        self.unlock()
        self.size, self.mapped = size, mapped
        self.lock()

    def serve(self, driver):
        """Has a GPU's driver copy to and from this memory."""
        self.driver = driver
        self.lock()

    def lock(self):
        # The driver copies memory that cannot be paged several times faster.
        # Where it refuses to lock what processes share, copies are slow.
        if self.driver is not None and self.size:
            self.locked = self.driver.lock(address(self.mapped), self.size)

    def unlock(self):
        if self.locked:
            self.driver.unlock(address(self.mapped))
            self.locked = False


shared = Arena()


def address(view):
    return ctypes.addressof(ctypes.c_char.from_buffer(view)) if len(view) else 0


class Memory:
    """The CPU's own tensors, with the calls of a Device."""

    @staticmethod
    def fill(at, value, count):
        ctypes.memset(at, value, count)

    @staticmethod
    def read(at, into, count):
        ctypes.memmove(into, at, count)

    @staticmethod
    def write(at, source, count):
        ctypes.memmove(at, source, count)

    @staticmethod
    def synchronize():
        pass


def put(view, gpu, pieces):
    """Copies pieces of memory, (address, count), into a view, one after another.
    gpu is None for the CPU's memory."""
    gpu, into = gpu or Memory, address(view)
    pieces = list(pieces)
    if sum(count for _, count in pieces) != len(view):
        raise Failure("%d bytes were asked for, and there are %d" % (len(view), sum(count for _, count in pieces)))
    for at, count in pieces:
        gpu.read(at, into, count)
        into += count
    gpu.synchronize()


def take(view, gpu, tensor):
    """Overwrites a contiguous tensor, in place, with a view's bytes."""
    count = tensor.numel() * tensor.element_size()
    if count != len(view):
        raise Failure("%d bytes were sent for a tensor of %d" % (len(view), count))
    gpu = gpu or Memory
    gpu.write(tensor.data_ptr(), address(view), count)
    gpu.synchronize()
