"""Sparse noise as strong as Gaussian noise: few entries are hit, each as much harder."""

from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Shift
from descent.training.noise import Stream, perturb

LABEL = "sparse noise"
TASKS = ("video", "text", "lm")
ENERGY = True


class Settings(Shift):
    """share: of the entries that are hit, above 0 to 1."""

    share: Annotated[float, Field(gt=0, le=1)]


def apply(
    clean: Float[Tensor, "#cells batch *parts width"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts width"]:
    """Gaussian noise of variance 1 / share on a share of the entries, the same for every cell and level."""
    shape = (1, *clean.shape[1:])

    def unit() -> Tensor:
        hit = torch.from_numpy(stream.numpy().random(shape)).to(clean.device) < settings.share
        return hit * stream.normal(*shape) * settings.share**-0.5

    return perturb(clean, stream.once(("sparse", settings.share, shape), unit), level, scale)
