"""Times the Triton kernels of a script that it runs."""
