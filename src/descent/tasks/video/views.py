"""Batches of video as a shift sees them, and as the models do."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from descent.tasks.common.shifted import Shifted
from descent.tasks.video.batches import Inputs
from descent.tasks.video.data import Sequences


@dataclass(frozen=True)
class View:
    """The inputs of an evaluation, for one shift.

    A shift that sees pictures is handed what the models see (patches over time, or whole frames) as rows and
    columns, with the pixels around that matter to it; beyond the edge of a frame these are its mirror image.
    """

    inputs: Inputs
    shift: Shifted

    def read(self, index: Int[np.ndarray, " batch"]) -> UInt8[Tensor, "batch ..."]:
        """The inputs with these numbers, for the shift."""
        if self.shift.sees != "pictures":
            return self.inputs.gather(index)
        if isinstance(self.inputs, Sequences):
            return _patches(self.inputs, index, self.shift.margin)
        line = _mirrored(self.inputs.frames.shape[1], self.shift.margin)
        frames = self.inputs.frames[self.inputs.places[index]]
        return torch.from_numpy(frames[:, line[:, None], line])

    def of_model(self, seen: Float[Tensor, "cells batch ..."]) -> Float[Tensor, "cells batch rows columns"]:
        """What the models see of what the shift was handed, or gave back."""
        if self.shift.sees != "pictures":
            return seen
        margin = self.shift.margin
        inside = seen[..., margin : seen.shape[-2] - margin, margin : seen.shape[-1] - margin]
        return inside.flatten(-2) if isinstance(self.inputs, Sequences) else inside

    def moments(self, batch: int) -> tuple[float, float]:
        """The means of x and of x^2 over all inputs, x being their pixels in [0, 1]."""
        parts = []
        for start in range(0, len(self.inputs), batch):
            x = self.inputs.gather(np.arange(start, min(start + batch, len(self.inputs)))).double() / 255
            parts.append((x.sum().item(), x.square().sum().item(), x.numel()))
        total, square, count = np.sum(parts, axis=0)
        return float(total / count), float(square / count)


def _patches(
    inputs: Sequences, index: Int[np.ndarray, " batch"], margin: int
) -> UInt8[Tensor, "batch tokens rows columns"]:
    """Sequences of patches with their surroundings; `Sequences.gather` numbers them."""
    number = index if inputs.subset is None else inputs.subset[index]
    start, place = np.divmod(number, inputs.places)
    row, column = np.divmod(place, inputs.frames.shape[2] // inputs.patch)
    line, reach = _mirrored(inputs.frames.shape[1], margin), np.arange(inputs.patch + 2 * margin)
    time = inputs.starts[start][:, None] + np.arange(inputs.tokens)
    rows, columns = (line[(at * inputs.patch)[:, None] + reach] for at in (row, column))
    return torch.from_numpy(inputs.frames[time[:, :, None, None], rows[:, None, :, None], columns[:, None, None]])


def _mirrored(size: int, margin: int) -> Int[np.ndarray, " _"]:
    """The lines of a frame of `size`, with `margin` more at both ends."""
    return np.pad(np.arange(size), margin, mode="reflect")
