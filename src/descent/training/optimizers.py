"""What steps the weights of a stack, by its name in params.yaml."""

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from descent.errors import UserError
from descent.training.schema import Optimizer
from descent.training.soap import EVERY, MATRICES, SOAP


def made(
    primal: Optimizer, parameters: Iterable[nn.Parameter], lr: float, betas: Sequence[float]
) -> torch.optim.Optimizer:
    """The optimizer of one stack.

    Args:
        parameters: with a leading cells axis.
        betas: the two rates of its running means, of the gradient and of its squares.

    Raises:
        UserError: SOAP for a model without a matrix a cell and layer, which would be Adam.
    """
    if primal.kind == "soap":
        parameters = [*parameters]
        if all(one.dim() != MATRICES for one in parameters):
            raise UserError("optimizer: soap is for models of a matrix a layer, as UT and DUST; set adam")
        return SOAP(parameters, lr, tuple(betas))
    # One step for all cells: Adam works number by number, so that in it no cell meets another.
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[primal.kind]
    return kind(parameters, lr=lr, fused=True, betas=tuple(betas), weight_decay=primal.weight_decay)


def period(optimizer: torch.optim.Optimizer) -> int:
    """After how many steps it does the same again: a GPU may replay one that does it in each; SOAP turns its bases
    in some."""
    return EVERY if isinstance(optimizer, SOAP) else 1
