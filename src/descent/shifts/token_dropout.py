"""Token dropout as strong as Gaussian noise: whole embeddings turn to zero."""

from jaxtyping import Bool, Float
from torch import Tensor

from descent.schema import Shift
from descent.shifts.parts.tokens import hit
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

    Raises:
        UserError: the energy is that of more than all tokens.
    """
    energy = clean.square().mean(-1)[:, real].mean(-1)
    lost = hit("token_dropout", energy, level, scale, stream.numpy(), tuple(real.shape))
    return clean * ~lost[..., None]
