"""Missing patches: a share `level` of the squares of a picture is black, as of a link that loses packets."""

from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from descent.schema import Count, Shares
from descent.training.noise import Stream

LABEL = "missing patches"
TASKS = ("video",)
ENERGY = False
SEES = "pictures"


class Settings(Shares):
    """levels: shares of the squares, 0 to 1; side: theirs, in pixels, at most about that of a frame."""

    side: Annotated[Count, Field(le=256)]


def apply(
    clean: Float[Tensor, "#cells batch *parts rows columns"],
    level: Float[Tensor, " cells"],
    stream: Stream,
    scale: float | Float[Tensor, "#cells"],
    settings: Settings,
) -> Float[Tensor, "cells batch *parts rows columns"]:
    """The squares that are missing at a level are missing at every higher one; `scale` has no say."""
    *parts, rows, columns = clean.shape[1:]
    across = (-(-rows // settings.side), -(-columns // settings.side))
    drawn = torch.from_numpy(stream.numpy().random((*parts, *across))).to(clean.device)
    kept = drawn >= level.double().view(-1, *[1] * drawn.dim())
    pixels = kept.repeat_interleave(settings.side, -2).repeat_interleave(settings.side, -1)
    return clean * pixels[..., :rows, :columns]
