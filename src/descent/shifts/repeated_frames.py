"""Repeated frames: a share `level` of the frames shows what the one before showed, as of a camera that stalls."""

import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shares
from descent.training.noise import Stream

LABEL = "repeated frames"
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
    """The first frame of a sequence is its own; frames that stall at a level do at every higher one."""
    drawn = torch.from_numpy(stream.numpy().random(clean.shape[1:3])).to(clean.device)
    fresh = drawn >= level.double().view(-1, 1, 1)
    fresh[..., 0] = True
    time = torch.arange(clean.shape[2], device=clean.device)
    shown = torch.where(fresh, time, 0).cummax(dim=-1).values  # the newest fresh frame
    return clean.expand(len(level), -1, -1, -1).gather(2, shown[..., None].expand(-1, -1, -1, clean.shape[3]))
