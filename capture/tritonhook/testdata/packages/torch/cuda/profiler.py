def start():
    from . import cudart

    cudart().cudaProfilerStart()


def stop():
    from . import cudart

    cudart().cudaProfilerStop()
