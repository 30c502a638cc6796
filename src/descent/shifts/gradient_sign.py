"""One gradient-sign step as strong as Gaussian noise: every entry moves by level sigma to where the loss rises."""

from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream, perturb

LABEL = "gradient sign"
TASKS = ("text", "lm")
ENERGY = True
GRADIENT = True  # it is told the gradient of the last layer's loss, of each model its own


class Settings(Shift):
    """The levels alone."""


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
    gradient: Float[Tensor, "#cells batch *parts width"],
) -> Float[Tensor, "cells batch *parts width"]:
    """x + level sigma sign(df_L / dx), the fast gradient sign method (Goodfellow et al., 2015)."""
    return perturb(clean, gradient.sign(), level, scale)
