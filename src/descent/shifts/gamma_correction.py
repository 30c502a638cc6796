"""Gamma correction: x to the power of `level`; below 1 it brightens, above 1 it darkens."""

from jaxtyping import Float
from skimage.exposure import adjust_gamma
from torch import Tensor

from descent.schema import Grid, Positive, Shift
from descent.shifts.parts.host import each_level
from descent.training.noise import Stream

LABEL = "gamma correction"
TASKS = ("video",)
ENERGY = False


class Settings(Shift):
    """levels: exponents, above 0."""

    levels: Grid[Positive]


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """Nothing is drawn, and `scale` has no say."""
    return each_level(clean, level, adjust_gamma)
