"""Blur: a Gaussian of `level` pixels, as of a lens out of focus."""

from typing import Annotated

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Grid, Shift
from descent.shifts.parts.host import each_level
from descent.shifts.parts.smooth import smoothed
from descent.training.noise import Stream

LABEL = "blur"
TASKS = ("video",)
ENERGY = False
SEES = "pictures"
MARGIN = 12  # pixels around a picture that matter to it: four deviations of the widest blur


class Settings(Shift):
    """levels: standard deviations in pixels; what is wider than MARGIN / 4 would need more surroundings."""

    levels: Grid[Annotated[float, Field(ge=0, le=3)]]


def apply(
    clean: Float[Tensor, "#cells batch *parts rows columns"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts rows columns"]:
    """Nothing is drawn, and `scale` has no say."""
    return each_level(clean, level, smoothed)
