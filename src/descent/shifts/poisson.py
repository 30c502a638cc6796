"""Poisson noise, that of counting photons: white is 1 / strength of them."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.shifts.parts.host import each_level
from descent.training.noise import Stream, generator

LABEL = "Poisson noise"
TASKS = ("video",)
ENERGY = True


class Settings(Shift):
    """The levels alone."""


def strength(energy: float, mean: float, square: float, settings: Settings) -> float:
    """One over the photons of white at which the variance x s of a pixel is the energy in the mean, s E x."""
    return energy / mean


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """The same counts for all cells of a level; `scale` has no say."""

    def counted(pixels: np.ndarray, one: float) -> np.ndarray:
        if one == 0:
            return pixels
        return torch.poisson(torch.from_numpy(pixels) / one, generator=generator(*stream.key)).numpy() * one

    return each_level(clean, level, counted)
