"""AdamW: Adam, with its decay outside the moments."""

from collections.abc import Iterable

import torch
from torch import nn


def made(
    parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float], weight_decay: float
) -> torch.optim.Optimizer:
    """As Adam's."""
    return torch.optim.AdamW(parameters, lr=lr, fused=True, betas=betas, weight_decay=weight_decay)
