"""Batches of video as a shift sees them, and as the models do."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped, UInt8
from torch import Tensor

from descent.tasks.common.shifted import Shifted
from descent.tasks.video.batches import Inputs
from descent.tasks.video.data import Sequences

SEEN = -1  # of shifts that are handed what the models see


@dataclass(frozen=True)
class View:
    """The inputs of an evaluation, read once for several shifts.

    A shift that sees pictures is handed what the models see (patches over time, or whole frames) as rows and
    columns, with the pixels around that matter to it; beyond the edge of a frame these are its mirror image.
    """

    inputs: Inputs
    shifts: Sequence[Shifted]

    @cached_property
    def margin(self) -> int | None:
        """The pixels around a picture that are read; None where no shift sees pictures."""
        return max((shift.margin for shift in self.shifts if shift.sees == "pictures"), default=None)

    def read(self, index: Int[np.ndarray, " batch"]) -> UInt8[Tensor, "batch ..."]:
        """The inputs with these numbers, for all of the shifts."""
        if self.margin is None:
            return self.inputs.gather(index)
        if isinstance(self.inputs, Sequences):
            return _patches(self.inputs, index, self.margin)
        line = _mirrored(self.inputs.frames.shape[1], self.margin)
        frames = self.inputs.frames[self.inputs.places[index]]
        return torch.from_numpy(frames[:, line[:, None], line])

    def kind(self, shift: Shifted) -> int:
        """Shifts of one kind are handed the same: pictures with pixels around, or SEEN, what models see."""
        return shift.margin if shift.sees == "pictures" else SEEN

    def handed(self, read: UInt8[Tensor, "batch ..."]) -> dict[int, UInt8[Tensor, "batch ..."]]:
        """What the shifts see of what was read, by their kinds; SEEN is what the models see of it."""
        if self.margin is None:
            return {SEEN: read}
        kinds = {self.kind(shift) for shift in self.shifts} - {SEEN}
        pictures = {kind: _inside(read, self.margin - kind) for kind in kinds}
        return pictures | {SEEN: self._flat(_inside(read, self.margin))}

    def of_model(
        self, seen: Float[Tensor, "cells batch ..."], shift: Shifted
    ) -> Float[Tensor, "cells batch rows columns"]:
        """What the models see of what the shift was handed, or gave back."""
        return self._flat(_inside(seen, shift.margin)) if shift.sees == "pictures" else seen

    def _flat(self, pictures: Tensor) -> Tensor:
        """As the models see pictures: a patch is a row of pixels."""
        return pictures.flatten(-2) if isinstance(self.inputs, Sequences) else pictures


def moments(inputs: Inputs, batch: int) -> tuple[float, float]:
    """The means of x and of x^2 over all inputs, x being their pixels in [0, 1]."""
    parts = []
    for start in range(0, len(inputs), batch):
        x = inputs.gather(np.arange(start, min(start + batch, len(inputs)))).double() / 255
        parts.append((x.sum().item(), x.square().sum().item(), x.numel()))
    total, square, count = np.sum(parts, axis=0)
    return float(total / count), float(square / count)


def _inside(pictures: Shaped[Tensor, "*stack _ _"], margin: int) -> Shaped[Tensor, "*stack _ _"]:
    """Without so many pixels at every edge."""
    rows, columns = pictures.shape[-2:]
    return pictures[..., margin : rows - margin, margin : columns - margin]


def _patches(
    inputs: Sequences, index: Int[np.ndarray, " batch"], margin: int
) -> UInt8[Tensor, "batch tokens rows columns"]:
    """Sequences of patches with their surroundings; `Sequences.gather` numbers them."""
    first, row, column = inputs.corners(index)
    line = _mirrored(inputs.frames.shape[1], margin)
    reach = np.arange(inputs.patch + 2 * margin)
    time = first[:, None] + np.arange(inputs.tokens)
    rows, columns = (line[(at * inputs.patch)[:, None] + reach] for at in (row, column))
    return torch.from_numpy(inputs.frames[time[:, :, None, None], rows[:, None, :, None], columns[:, None, None]])


def _mirrored(size: int, margin: int) -> Int[np.ndarray, " _"]:
    """The lines of a frame of `size`, with `margin` more at both ends."""
    return np.pad(np.arange(size), margin, mode="reflect")
