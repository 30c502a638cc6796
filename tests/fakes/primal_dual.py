"""Numbers for the method: standard normal ones, and a stack of one cell that is alive."""

import torch
from torch import Tensor

CPU = torch.device("cpu")
ALIVE = torch.ones(1, dtype=torch.bool)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
