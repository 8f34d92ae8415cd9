"""The worker's first lines: they run before anything that takes long to import.

Descriptor 3 brings requests, 4 takes answers, 5 stays open for as long as the
process that started this one lives, and 6 is memory for arrays. argv[1] is the
directory that belongs to this run: it is removed when that process is gone.
"""

import os
import sys


def watch(life, directory):
    """Stays behind, sleeping, and ends the whole group when life closes.

    The kernel tells this worker of its parent's end as well, where it can, but
    not the processes that libraries start below it (compilers, pools).
    """
    import shutil
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2, 3, 4, 6):  # nothing that the parent waits to see closed
        os.dup2(null, descriptor)
    while os.read(life, 1):
        pass
    shutil.rmtree(directory, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def main():
    if sys.version_info < (3, 8):
        sys.exit("Python %d.%d is too old: 3.8 or a later one is needed" % sys.version_info[:2])
    here = os.path.dirname(os.path.abspath(__file__))
    if here not in sys.path:  # PYTHONSAFEPATH leaves it out
        sys.path.insert(0, here)
    directory = sys.argv[1]
    for descriptor in (3, 4, 5, 6):
        os.set_inheritable(descriptor, False)
    if os.fork() == 0:
        try:
            watch(5, directory)
        finally:
            os._exit(1)
    os.close(5)
    from mage_worker import serve

    serve.serve(os.fdopen(3, "rb"), os.fdopen(4, "wb"))


if __name__ == "__main__":
    main()
