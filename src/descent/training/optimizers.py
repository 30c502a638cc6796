"""What steps the weights of a stack, by its name in params.yaml."""

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from descent.training.schema import Optimizer
from descent.training.soap import SOAP


def made(
    primal: Optimizer, parameters: Iterable[nn.Parameter], lr: float, betas: Sequence[float]
) -> torch.optim.Optimizer:
    """The optimizer of one stack.

    Args:
        parameters: with a leading cells axis.
        betas: the two rates of its running means, of the gradient and of its squares.
    """
    if primal.kind == "soap":
        return SOAP(parameters, lr, tuple(betas))
    # One step for all cells: Adam works number by number, so that in it no cell meets another.
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[primal.kind]
    return kind(parameters, lr=lr, fused=True, betas=tuple(betas), weight_decay=primal.weight_decay)


def recordable(optimizer: torch.optim.Optimizer) -> bool:
    """Whether all its steps are the same kernels, so that a GPU may replay them: SOAP turns its bases in some."""
    return not isinstance(optimizer, SOAP)
