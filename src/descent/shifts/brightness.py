"""Brightness: `level` of white is added to every pixel, and what leaves black or white is cut off."""

from typing import Annotated

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Grid, Shift
from descent.training.noise import Stream

LABEL = "brightness"
TASKS = ("video",)
ENERGY = False


class Settings(Shift):
    """levels: what is added, -1 to 1."""

    levels: Grid[Annotated[float, Field(ge=-1, le=1)]]


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """Nothing is drawn, and `scale` has no say."""
    return (clean + level.view(-1, *[1] * (clean.dim() - 1))).clamp(0, 1)
