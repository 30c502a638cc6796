"""Token dropout as strong as Gaussian noise: whole embeddings turn to zero."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from descent.errors import UserError
from descent.schema import Shift
from descent.training.noise import Stream

LABEL = "token dropout"
TASKS = ("text", "lm")
ENERGY = True
REAL = True  # it is told which tokens are no padding


class Settings(Shift):
    """The levels alone."""


def apply(
    clean: Float[Tensor, "#cells batch tokens width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
    real: Bool[Tensor, "batch tokens"],
) -> Float[Tensor, "cells batch tokens width"]:
    """A token is lost with probability (level scale)^2 / E e^2, the mean being over the batch's real tokens.

    Tokens lost at a level are lost at every higher one.

    Raises:
        UserError: the energy is that of more than all tokens.
    """
    energy = clean.square().mean(-1)[:, real].mean(-1)
    share = (level * scale).square() / energy
    if share.max() > 1:
        raise UserError(
            f"shifts.token_dropout: level {level.max():g} has more energy than the loss of all tokens: set the "
            "levels of the section, or energies of the task's evaluation, below 1"
        )
    drawn = torch.from_numpy(stream.numpy().random(clean.shape[1:3])).to(clean.device)
    return clean * (drawn >= share.double().view(-1, 1, 1))[..., None]
