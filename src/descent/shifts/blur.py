"""Blur: a Gaussian of `level` pixels, as of a lens out of focus."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field
from skimage.filters import gaussian
from torch import Tensor

from descent.schema import Grid, Shift
from descent.shifts.parts.host import each_level
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

    def blurred(pictures: np.ndarray, sigma: float) -> np.ndarray:
        flat = pictures.reshape(-1, *pictures.shape[-2:])
        return gaussian(flat, sigma=(0, sigma, sigma), mode="mirror", truncate=4).reshape(pictures.shape)

    return each_level(clean, level, blurred)
