import torch


class StaticallyLaunchedTritonKernel:
    def __init__(self, name):
        self.name, self.num_warps, self.shared, self.n_regs = name, 8, 0, 13

    def run(self, grid_x, grid_y, grid_z, stream, *args):
        torch.cuda.clock += 0.002


class StaticallyLaunchedCudaKernel(StaticallyLaunchedTritonKernel):
    pass
