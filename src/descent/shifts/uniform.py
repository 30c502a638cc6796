"""Uniform noise as strong as Gaussian noise: entries of variance 1 between -sqrt 3 and sqrt 3, scaled."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream, perturb

LABEL = "uniform noise"
TASKS = ("video", "text", "lm")
ENERGY = True


class Settings(Shift):
    """The levels alone."""


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """The numbers of Gaussian noise through their own distribution function: u = sqrt 3 (2 Phi(n) - 1)."""
    shape = (1, *clean.shape[1:])
    unit = stream.once(("uniform", shape), lambda: math.sqrt(3) * torch.erf(stream.normal(*shape) / math.sqrt(2)))
    return perturb(clean, unit, level, scale)
