"""Training frames that stay on a GPU: of a batch only its numbers then come from the host."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from descent.tasks.video.data import Frames, Sequences
from descent.training.noise import sent

SHARE = 0.25  # of a GPU's free memory that frames may take: stacks that share it have each their own
BLOCK = 1024  # frames that are read at a time: the host never holds all
_kept: dict[tuple, Tensor] = {}  # the newest file's frames, for the next stack that this process trains on them


@dataclass(frozen=True)
class Resident:
    """Inputs whose frames lie on a device."""

    inputs: Sequences | Frames
    frames: UInt8[Tensor, "frames size size"]

    def __len__(self) -> int:
        return len(self.inputs)


def gather(
    every: Sequence[Sequences | Frames | Resident], index: Int[np.ndarray, "seeds batch"]
) -> UInt8[Tensor, "seeds batch ..."]:
    """Of every seed's inputs those with its row of numbers.

    What lies on a device is gathered for all seeds at once: kernels for each of many seeds take the host longer to
    launch than a GPU takes for a step.

    Args:
        every: of one file's frames, where they are Resident.
    """
    there = [one for one in every if isinstance(one, Resident)]
    if not there:
        return torch.stack([own.gather(row) for own, row in zip(every, index, strict=True)])
    frames, inputs = there[0].frames, [one.inputs for one in there]
    if isinstance(inputs[0], Frames):
        places = np.stack([own.places[row] for own, row in zip(inputs, index, strict=True)])
        return frames[sent(torch.from_numpy(places), frames.device)]
    corners = np.stack([own.corners(row) for own, row in zip(inputs, index, strict=True)], axis=1)
    first, row, column = sent(torch.from_numpy(corners), frames.device)[..., None, None]
    own = inputs[0]
    time = first + torch.arange(own.tokens, device=frames.device)[:, None]
    line = row * own.patch + torch.arange(own.patch, device=frames.device)
    return frames.unflatten(2, (-1, own.patch))[time, line, column].flatten(-2)


def resident(
    inputs: Sequence[Sequences | Frames], device: torch.device, free: int
) -> Sequence[Sequences | Frames | Resident]:
    """The inputs of one split as the seeds of a stack draw them, their frames on the device once for all seeds; as
    they are where the frames would take more than SHARE of the `free` bytes there."""
    frames = inputs[0].frames
    name = (frames.filename, frames.shape, device)  # a memory map, as data.Prepared opens it
    if name not in _kept:
        if frames.nbytes > SHARE * free:
            return inputs
        _kept.clear()
        there = torch.empty(frames.shape, dtype=torch.uint8, device=device)
        for start in range(0, len(frames), BLOCK):
            there[start : start + BLOCK] = torch.from_numpy(np.array(frames[start : start + BLOCK]))
        _kept[name] = there  # once it is whole: a read that fails leaves none
    return [Resident(own, _kept[name]) for own in inputs]
