"""Adam, with its decay inside the moments: the paper's."""

from collections.abc import Iterable

import torch
from torch import nn


def made(
    parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float], weight_decay: float
) -> torch.optim.Optimizer:
    """One step for all cells: it works number by number, so that in it no cell meets another."""
    return torch.optim.Adam(parameters, lr=lr, fused=True, betas=betas, weight_decay=weight_decay)
