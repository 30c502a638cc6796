"""Poisson noise, that of counting photons: white is 1 / strength of them."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream, generator, sent

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
    counted = {0.0: clean}
    for one in set(level.tolist()) - {0.0}:
        counts = torch.poisson(clean.cpu() / one, generator=generator(*stream.key))
        counted[one] = sent(counts, stream.device) * one
    return torch.stack([counted[one][min(cell, len(clean) - 1)] for cell, one in enumerate(level.tolist())])
