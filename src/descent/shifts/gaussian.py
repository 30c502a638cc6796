"""Gaussian noise (section 4), the noise of training at another level: y = x + level * sigma * n."""

from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream, perturb

LABEL = "Gaussian noise"
TASKS = ("video", "text", "lm")
ENERGY = True


class Settings(Shift):
    """The levels alone."""


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """The same unit noise n for every cell and level, scaled; `scale` is sigma."""
    return perturb(clean, stream.normal(1, *clean.shape[1:]), level, scale)
