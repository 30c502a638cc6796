"""A clip of the user's own through a trained video model: as in training gray, small, in sequences of patches."""

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from descent import paths
from descent.components import load
from descent.config import Params
from descent.errors import UserError
from descent.inference import pictures, trained
from descent.schema import SEEDS
from descent.tasks.common.items import budget_of
from descent.tasks.video import data
from descent.tasks.video.clips import Clip, clip_at, frame_rate, read_frames
from descent.tasks.video.feed import sigma
from descent.training.noise import TEST, Stream

OUT = Path("data/denoised")

FRAMES_AT_ONCE = 16  # of models that see whole frames
LONGEST = 10_000  # frames of a clip, which is denoised in memory
OWN = SEEDS + 1  # the second number of the key of this noise, which no sweep's seed is


def clip(params: Params, source: Path, folder: Path, gamma: float) -> list[str]:
    """Denoise a video, a picture or a folder of frames with the cell in `folder`; what was done, in words.

    Writes data/denoised/<clip>/denoised and side_by_side: as videos where a video was given, else as frames.

    Args:
        gamma: noise to put on the clip first, in units of the cell's data set's sigma; 0 takes it as it is.

    Raises:
        UserError: a clip that is not there or cannot be read, or no such cell.
    """
    if not 0 <= gamma < float("inf"):
        raise UserError(f"NOISE={gamma:g}: the level of noise to add is zero or above")
    if not source.exists():
        raise UserError(f"there is no {source}: FILE names a video, a picture or a folder of frames")
    own = clip_at(source)
    cell, net = trained.load(params, folder, "video")
    frame = params.video.frame
    budget = budget_of(params, cell.model)
    given = _whole(own, frame.size)
    learned = data.load(paths.prepared_folder(params, "video", cell.dataset, cell.model))
    seen = noisy(given, gamma, sigma(params, learned))
    found = denoise(net, seen, load("models", cell.model).INPUTS, budget.tokens, frame.patch)
    clean = torch.from_numpy(given).float() / 255
    columns = ({"given": clean, f"noise {gamma:g}": seen} if gamma else {"given": clean}) | {"denoised": found}
    sequences = {"denoised": pictures.gray(found), "side_by_side": pictures.beside(columns)}
    written = pictures.write(OUT / own.name, sequences, frame_rate(own))
    rmse = [255 * (answer - clean).square().mean().sqrt().item() for answer in (seen, found)]
    told = [f"{len(given)} frames of {frame.size}x{frame.size}, by {folder}", *map(str, written)]
    return [*told, "RMSE in gray levels: {:.2f} with noise, {:.2f} denoised".format(*rmse)] if gamma else told


def _whole(clip: Clip, size: int) -> UInt8[np.ndarray, "frames size size"]:
    """Raises UserError for more than LONGEST frames, of which each takes half a megabyte before it is written."""
    parts, count = [], 0
    for part in read_frames(clip, size):
        parts.append(part)
        count += len(part)
        if count > LONGEST:
            raise UserError(f"{clip.name} has more than {LONGEST:,} frames: cut it, and denoise part by part")
    return np.concatenate(parts)


def noisy(
    frames: UInt8[np.ndarray, "frames size size"], gamma: float, sigma: float
) -> Float[Tensor, "frames size size"]:
    """y = x + gamma sigma n, in [0, 1] units and not clipped, as models are tested.

    Args:
        sigma: noise scale of the model's data set.
    """
    clean = torch.from_numpy(frames).float() / 255
    return clean + gamma * sigma * Stream(TEST, OWN).normal(*clean.shape) if gamma else clean


@torch.no_grad()
def denoise(
    net: nn.Module, frames: Float[Tensor, "frames size size"], inputs: str, tokens: int, patch: int
) -> Float[Tensor, "frames size size"]:
    """The last layer's answer to every frame, clipped to [0, 1].

    Args:
        net: a stack of one cell.
        inputs: what it sees, its module's INPUTS: `patches` (sequences of those at one place), or `frames`.
        tokens: patches in a sequence; the last of a clip reaches back into the one before it, and a clip of fewer
            frames is one short sequence.
        patch: pixels along a patch's side.
    """
    device = next(net.parameters()).device
    if inputs == "frames":
        answers = [_answer(net, part[None].to(device))[0].cpu() for part in frames.split(FRAMES_AT_ONCE)]
        return _resized(torch.cat(answers), frames.shape[-1])
    found = torch.empty_like(frames)
    for start in _starts(len(frames), tokens):
        window = frames[start : start + tokens]
        squares = _answer(net, _sequences(window, patch)[None].to(device))[0].cpu()
        found[start : start + tokens] = _joined(squares, len(window), frames.shape[-1] // patch)
    return found


def _answer(net: nn.Module, inputs: Tensor) -> Float[Tensor, "1 pictures rows columns"]:
    return net.pictures(net.readout(net.states(inputs)[-1])).float()


def _starts(frames: int, tokens: int) -> Iterator[int]:
    """First frames of windows that cover a clip; those that are not the last follow each other without overlap."""
    yield from range(0, frames - tokens + 1, tokens)
    if frames % tokens:
        yield max(0, frames - tokens)


def _sequences(frames: Float[Tensor, "tokens size size"], patch: int) -> Float[Tensor, "places tokens pixels"]:
    """The patches at each place, places row-major in the frame and pixels in the patch, as in data.Sequences."""
    squares = frames.unfold(1, patch, patch).unfold(2, patch, patch)  # (tokens, rows, columns, patch, patch)
    return squares.flatten(3).flatten(1, 2).transpose(0, 1)


def _joined(
    squares: Float[Tensor, "squares patch patch"], tokens: int, across: int
) -> Float[Tensor, "tokens size size"]:
    """The inverse of `_sequences`, of patches as squares."""
    grid = squares.unflatten(0, (across, across, tokens))
    return grid.permute(2, 0, 3, 1, 4).flatten(3, 4).flatten(1, 2)


def _resized(pictures: Float[Tensor, "frames rows columns"], size: int) -> Float[Tensor, "frames size size"]:
    """Of a model whose pictures have a size of their own."""
    if pictures.shape[-1] == size:
        return pictures
    small = [cv2.resize(picture, (size, size), interpolation=cv2.INTER_AREA) for picture in pictures.numpy()]
    return torch.from_numpy(np.stack(small))
