"""Noise that neighbouring pixels share: white noise, smoothed by a Gaussian and scaled back to variance 1."""

import math
from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Positive, Shift
from descent.shifts.parts.smooth import REACH, kernel, smoothed
from descent.training.noise import Stream, perturb

LABEL = "correlated noise"
TASKS = ("video",)
ENERGY = True
SEES = "pictures"


class Settings(Shift):
    """length: the smoothing's deviation in pixels; neighbours d apart correlate by exp(-d^2 / (4 length^2)), of
    lengths of a pixel and more.

    At 32 the noise of a patch is all but one number; around it as much is drawn as the square of the length says.
    """

    length: Annotated[Positive, Field(le=32)]


def correlated(white: Tensor, length: float, margin: int) -> Tensor:
    """White noise as correlated noise of variance 1, without the `margin` pixels at every edge."""
    inside = slice(margin, -margin)
    power = float((kernel(length) ** 2).sum())  # of one direction
    found = smoothed(white.cpu().numpy(), length)[..., inside, inside] / power
    return torch.from_numpy(found).to(white.device, white.dtype)


def apply(
    clean: Float[Tensor, "#cells batch *parts rows columns"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts rows columns"]:
    """The same unit noise for every cell and level; every frame has its own."""
    margin = math.ceil(REACH * settings.length) + 1
    *parts, rows, columns = clean.shape[1:]
    shape = (1, *parts, rows + 2 * margin, columns + 2 * margin)
    unit = stream.once(
        ("correlated", settings.length, shape),
        lambda: correlated(stream.normal(*shape), settings.length, margin),
    )
    return perturb(clean, unit, level, scale)
