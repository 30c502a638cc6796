"""Shuffled frames: those of a share `level` of the sequences change places, and the right answers with them."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from descent.schema import Shares
from descent.training.noise import Stream

LABEL = "shuffled frames"
TASKS = ("video",)
ENERGY = False
SEES = "time"
EQUIVARIANT = True  # compared with the shuffled clean frames: a model that has no order of time is not moved


class Settings(Shares):
    """levels: shares of the sequences, 0 to 1."""


def apply(
    clean: Float[Tensor, "#cells batch time pixels"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch time pixels"]:
    """Sequences that are shuffled at a level are at every higher one, in the same way; `scale` has no say."""
    numbers = stream.numpy()
    batch, time = clean.shape[1:3]
    orders = numbers.permuted(np.tile(np.arange(time), (batch, 1)), axis=1)
    drawn = numbers.random(batch)
    moved = torch.from_numpy(drawn).to(clean.device) < level.double().view(-1, 1)
    plain = torch.arange(time, device=clean.device)
    other = torch.from_numpy(orders).to(clean.device)
    order = torch.where(moved[..., None], other, plain)
    return clean.expand(len(level), -1, -1, -1).gather(2, order[..., None].expand(-1, -1, -1, clean.shape[3]))
