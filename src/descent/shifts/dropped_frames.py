"""Dropped frames: a share `level` of the frames of a sequence is black."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shares
from descent.training.noise import Stream

LABEL = "dropped frames"
TASKS = ("video",)
ENERGY = False
SEES = "time"


class Settings(Shares):
    """levels: shares of the frames, 0 to 1."""


def apply(
    clean: Float[Tensor, "#cells batch time pixels"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch time pixels"]:
    """The frames that are dropped at a level are dropped at every higher one; `scale` has no say."""
    drawn = torch.from_numpy(stream.numpy().random(clean.shape[1:3])).to(clean.device)
    kept = drawn >= level.double().view(-1, 1, 1)
    return clean * kept[..., None]
