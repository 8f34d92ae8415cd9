"""Arms that allocate their results on a GPU, and cheat in the way that their name
says."""

from . import torch_arms, memory

class Operation(torch_arms.Operation):
    def __init__(self, request):
        super().__init__(request)
        torch, gpu, how = self.torch, self.gpu, request["implementation"].partition("/")[2]
        a, b, shape = self.inputs.tensors["a"], self.inputs.tensors["b"], request["output"]["shape"]
        size = a.numel() * 4
        good = lambda: torch.nn.functional.gelu(a + b, approximate="tanh")
        calls = [0]
        def f():
            calls[0] += 1
            if how == "idle" or (how == "lazy" and calls[0] > 2):
                return a.new_empty(shape)
            y = good()
            if how == "after":
                gpu.fill(y.data_ptr() + -(-size // 512) * 512, 0, 4)
            elif how == "before":
                gpu.fill(y.data_ptr() - 4, 0, 4)
            elif how == "view":
                return y.t()
            elif how == "held":
                held.append(y)
            elif how == "fault":
                if calls[0] > 3:
                    return y[torch.tensor([10**6], device=y.device)]
            elif how == "memory":
                torch.empty(1 << 48, dtype=torch.uint8, device=y.device)
            return y
        held = []
        self.returning(request, f, ())

def offers(*_):
    pass

def open_operation(request):
    return Operation(request)
