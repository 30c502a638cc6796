"""Noise that neighbouring pixels share: white noise, smoothed by a Gaussian and scaled back to variance 1."""

import math

import torch
from jaxtyping import Float
from scipy.ndimage import gaussian_filter1d
from skimage.filters import gaussian
from torch import Tensor

from descent.schema import Positive, Shift
from descent.training.noise import Stream, perturb

LABEL = "correlated noise"
TASKS = ("video",)
ENERGY = True
SEES = "pictures"
REACH = 4  # deviations at which scikit-image cuts the smoothing off


class Settings(Shift):
    """length: the smoothing's deviation in pixels; neighbours d apart correlate by exp(-d^2 / (4 length^2))."""

    length: Positive


def smoothed(white: Tensor, length: float, margin: int) -> Tensor:
    """White noise as correlated noise of variance 1, without the `margin` pixels at every edge."""
    shape, inside = white.shape, slice(margin, -margin)
    options = {"mode": "constant", "truncate": REACH, "preserve_range": True}
    flat = gaussian(white.cpu().numpy().reshape(-1, *shape[-2:]), sigma=(0, length, length), **options)
    impulse = torch.zeros(2 * margin + 1, dtype=torch.float64)
    impulse[margin] = 1
    power = float((gaussian_filter1d(impulse.numpy(), length, truncate=REACH) ** 2).sum())  # of one direction
    found = torch.from_numpy(flat[:, inside, inside] / power).to(white.device, white.dtype)
    return found.view(*shape[:-2], *found.shape[-2:])


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
        ("smoothed", settings.length, shape), lambda: smoothed(stream.normal(*shape), settings.length, margin)
    )
    return perturb(clean, unit, level, scale)
