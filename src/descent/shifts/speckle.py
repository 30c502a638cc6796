"""Speckle: noise in proportion to the light, x (1 + strength n)."""

import math

from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream

LABEL = "speckle"
TASKS = ("video",)
ENERGY = True


class Settings(Shift):
    """The levels alone."""


def strength(energy: float, mean: float, square: float, settings: Settings) -> float:
    """The deviation at which E (x s n)^2 = s^2 E x^2 is the energy, `square` being E x^2."""
    return math.sqrt(energy / square)


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """The same unit noise for every cell and level; `scale` has no say."""
    return clean + level.view(-1, *[1] * (clean.dim() - 1)) * clean * stream.normal(1, *clean.shape[1:])
