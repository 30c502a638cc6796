"""Video out of distribution: every layer's error over sweeps of the levels of shifts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from descent.analysis.select import TRAINED
from descent.tasks.common.shifted import Shifted
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.batches import Inputs
from descent.tasks.video.quality import ssim
from descent.tasks.video.views import SEEN, View
from descent.training.noise import TEST, Stream

# Many small operations cost more than few large ones, up to a size: of a layer's answers, how many numbers are
# worked out at a time. A processor's caches hold few; a GPU should not wait for its host.
TOGETHER = {"cpu": 2**18, "cuda": 2**25}


class AtLevels(NamedTuple):
    """A shift, the levels that rows name, and what it is handed for these."""

    apply: Shifted
    levels: Sequence[float]
    strengths: Sequence[float]


@dataclass(frozen=True)
class Sweep:
    """Errors of a stack of cells on test inputs; means over inputs, pixels and noise draws.

    An item is what a bootstrap resamples: all inputs of one clip, or of a block of one. They share its scene and
    light, so resampling single sequences or frames would take them for more evidence than they are.
    """

    by_item: Float[np.ndarray, "levels cells depth items"]  # mean squared error per pixel, in the answers' units
    sizes: Int[np.ndarray, " items"]  # the inputs of each item
    clipped: Float[np.ndarray, "levels cells"]  # the same, clipped to legal values, over all items
    similarity: Float[np.ndarray, "levels cells"]  # SSIM of the clipped last answers; NaN but under TRAINED

    @property
    def error(self) -> Float[np.ndarray, "levels cells depth"]:
        """The mean over all inputs."""
        return self.by_item @ (self.sizes / self.sizes.sum())


@torch.no_grad()
def sweep(
    model: nn.Module,
    inputs: Inputs,
    tests: Sequence[AtLevels],
    sigma: float,
    cells: int,
    how: Sweeping,
) -> list[Sweep]:
    """Evaluate a stack on all inputs at every level of every shift: a Sweep each.

    Common random numbers: they depend on the batch and the draw alone, so they are the same for all cells, arms,
    models and levels. Each clean batch is read once for all shifts, and shifted once a level for all cells; levels
    of a small one go through the models together.

    Args:
        sigma: noise scale in [0, 1] units.
        cells: the size of the model's cells axis.
        how: told of the inputs done under a shift.
    """
    settings, device = how.settings, how.device
    items = np.unique(inputs.item, return_inverse=True)[1]
    sizes = np.bincount(items)
    view = View(inputs, [test.apply for test in tests])
    sums = [(0.0, 0.0) for _ in tests]
    for start in range(0, len(inputs), settings.batch):
        index = np.arange(start, min(start + settings.batch, len(inputs)))
        read = view.read(index)
        member = one_hot(torch.from_numpy(items[index]), len(sizes)).to(device).double()
        clean = {kind: handed.to(device).float()[None] / 255 for kind, handed in view.handed(read).items()}
        answer = model.target(clean[SEEN])
        for number, test in enumerate(tests):
            of_model = partial(view.of_model, shift=test.apply)
            for draw in range(settings.noise_draws):
                stream = Stream(TEST, settings.seed, start, draw, device=device)
                seen = clean[view.kind(test.apply)]
                error, last = _at_levels(model, seen, answer, of_model, test, stream, sigma, cells)
                sums[number] = sums[number][0] + error @ member, sums[number][1] + last
            how.progress(len(index) * cells)
    found = []
    for error, last in sums:
        clipped, alike = (last / (len(inputs) * settings.noise_draws)).cpu().numpy().swapaxes(0, 1)
        found.append(Sweep(error.cpu().numpy() / (sizes * settings.noise_draws), sizes, clipped, alike))
    return found


def _at_levels(
    model: nn.Module,
    seen: Float[Tensor, "1 batch ..."],
    answer: Float[Tensor, "1 batch ..."],
    of_model: Callable[[Tensor], Tensor],
    test: AtLevels,
    stream: Stream,
    sigma: float,
    cells: int,
) -> tuple[Float[Tensor, "levels cells depth batch"], Float[Tensor, "levels 2 cells"]]:
    """Of one batch the errors of every layer, and `_of_last` at every level.

    Args:
        seen: what the shift is handed.
        answer: what is right wherever the shift does not move it.
    """
    # Where right answers move with the inputs, each level has its own, and is scored by itself.
    together = 1 if test.apply.equivariant else max(1, TOGETHER[seen.device.type] // (cells * answer.numel()))
    errors, of_last = [], []
    for own in torch.tensor(test.strengths, device=seen.device).split(together):
        noisy = of_model(test.apply(seen, own, stream, sigma)).flatten(0, 1)[None]  # a level takes a cell's place
        right = model.target(noisy) if test.apply.equivariant else answer
        last, every = _errors(model, right, noisy.expand(cells, *noisy.shape[1:]))
        errors.append(every)
        told = _of_last(model, right, last.flatten(0, 1), alike=test.apply.name == TRAINED)
        of_last.append(told.unflatten(1, (-1, cells)).swapaxes(0, 1))
    return torch.cat(errors), torch.cat(of_last)


def _errors(
    model: nn.Module, target: Float[Tensor, "#cells batch ..."], noisy: Float[Tensor, "cells inputs ..."]
) -> tuple[Float[Tensor, "levels cells batch ..."], Float[Tensor, "levels cells depth batch"]]:
    """The last layer's answers, and of every layer the mean squared error per pixel, in float64.

    Args:
        noisy: the batch at one level after the other.
    """
    levels = noisy.shape[1] // target.shape[1]
    target = target[:, None]
    outputs = [model.readout(state).unflatten(1, (levels, -1)) for state in model.states(noisy)]
    error = [_mean_square(output - target, 3) for output in outputs]
    return outputs[-1].swapaxes(0, 1), torch.stack(error, dim=2).swapaxes(0, 1)


def _mean_square(difference: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    """The mean of the squares over all axes from `dim` on, read once, with nothing of its size written; summed in
    float32."""
    flat = difference.flatten(dim)
    return torch.linalg.vector_norm(flat, dim=dim).double().square() / flat.shape[dim]


def _of_last(model: nn.Module, target: Tensor, answers: Tensor, alike: bool) -> Float[Tensor, "2 stack"]:
    """The error of clipped answers and, if `alike`, their structural similarity (else NaN), summed over the batch;
    all cells of a level before those of the next. Of a small model the similarity takes a seventh of its forward
    pass, and is read under the noise of training alone."""
    clipped = _mean_square(answers.clamp(*model.legal) - target, 2).sum(1)
    if not alike:
        return torch.stack([clipped, torch.full_like(clipped, torch.nan)])
    similar = ssim(model.pictures(answers), model.pictures(target)[0]).mean(1) * target.shape[1]
    return torch.stack([clipped, similar])
