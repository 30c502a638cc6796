"""Blur: a Gaussian of `level` pixels, as of a lens out of focus."""

from typing import Annotated

import cv2
import numpy as np
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Grid, Shift
from descent.shifts.parts.host import each_level
from descent.training.noise import Stream

LABEL = "blur"
TASKS = ("video",)
ENERGY = False
SEES = "pictures"
MARGIN = 12  # pixels around a picture that matter to it: four deviations of the widest blur
CHANNELS = 128  # that OpenCV takes of one picture


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
        # All pictures as channels of one are several times faster than one after the other.
        flat = pictures.reshape(-1, *pictures.shape[-2:]).transpose(1, 2, 0)
        found = [_blurred(flat[..., at : at + CHANNELS], sigma) for at in range(0, flat.shape[2], CHANNELS)]
        return np.concatenate(found, axis=2).transpose(2, 0, 1).reshape(pictures.shape)

    return each_level(clean, level, blurred)


def _blurred(
    channels: Float[np.ndarray, "rows columns number"], sigma: float
) -> Float[np.ndarray, "rows columns number"]:
    side = 2 * int(4 * sigma + 0.5) + 1
    plain = np.ascontiguousarray(channels)
    blurred = cv2.GaussianBlur(plain, (side, side), sigma, borderType=cv2.BORDER_REFLECT_101)
    return blurred.reshape(channels.shape)  # of a single channel OpenCV drops the axis
