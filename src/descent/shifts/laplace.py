"""Laplace noise as strong as Gaussian noise: entries of variance 1 with the heavier tails, scaled."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream, perturb

LABEL = "Laplace noise"
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
    """The numbers of Gaussian noise through both distribution functions: |n| -> -ln(1 - P(|N| < |n|)) / sqrt 2."""
    shape = (1, *clean.shape[1:])
    return perturb(clean, stream.once(("laplace", shape), lambda: _unit(stream.normal(*shape))), level, scale)


def _unit(normal: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    # erfc, not 1 - erf: in float32 the tail beyond 5 deviations would be infinite.
    return normal.sign() * -torch.erfc(normal.abs() / math.sqrt(2)).log() / math.sqrt(2)
