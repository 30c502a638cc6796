"""Video out of distribution: every layer's error over a sweep of the levels of a shift."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from descent.schema import Evaluation
from descent.tasks.common.shifted import Shifted
from descent.tasks.video.batches import Inputs
from descent.tasks.video.quality import ssim
from descent.tasks.video.views import View
from descent.training.noise import TEST, Stream

TOGETHER = 2**22  # numbers of the last answers that are scored at once: many small operations cost more than large


@dataclass(frozen=True)
class Sweep:
    """Errors of a stack of cells on test inputs; means over inputs, pixels and noise draws.

    An item is what a bootstrap resamples: all inputs of one clip, or of a block of one. They share its scene and
    light, so resampling single sequences or frames would take them for more evidence than they are.
    """

    by_item: Float[np.ndarray, "levels cells depth items"]  # mean squared error per pixel, in the answers' units
    sizes: Int[np.ndarray, " items"]  # the inputs of each item
    clipped: Float[np.ndarray, "levels cells"]  # the same, clipped to legal values, over all items
    similarity: Float[np.ndarray, "levels cells"]  # SSIM of the clipped last answers, over all items

    @property
    def error(self) -> Float[np.ndarray, "levels cells depth"]:
        """The mean over all inputs."""
        return self.by_item @ (self.sizes / self.sizes.sum())


@torch.no_grad()
def sweep(
    model: nn.Module,
    inputs: Inputs,
    levels: Sequence[float],
    apply: Shifted,
    sigma: float,
    cells: int,
    settings: Evaluation,
    device: torch.device,
    progress: Callable[[int], Any] = lambda count: None,
) -> Sweep:
    """Evaluate a stack on all inputs at every level of a shift.

    Common random numbers: they depend on the batch and the draw alone, so they are the same for all cells, arms,
    models and levels. Each clean batch is read once for all levels, and shifted once a level for all cells.

    Args:
        levels: the shift's own strengths.
        sigma: noise scale in [0, 1] units.
        cells: the size of the model's cells axis.
        progress: called with the number of inputs done, times cells.
    """
    items = np.unique(inputs.item, return_inverse=True)[1]
    sizes, view = np.bincount(items), View(inputs, apply)
    error, last, count = 0.0, 0.0, 0
    for start in range(0, len(inputs), settings.batch):
        index = np.arange(start, min(start + settings.batch, len(inputs)))
        seen = view.read(index)[None].to(device).float() / 255
        clean = view.of_model(seen)
        answer = model.target(clean)
        # Where right answers move with the inputs, each level has its own, and is scored by itself.
        together = 1 if apply.equivariant else max(1, TOGETHER // (cells * answer.numel()))
        member = one_hot(torch.from_numpy(items[index]), len(sizes)).to(device).double()
        for draw in range(settings.noise_draws):
            stream = Stream(TEST, settings.seed, start, draw, device=device)
            batch, of_last = [], []
            for first in range(0, len(levels), together):
                given = []
                for level in levels[first : first + together]:
                    noisy = view.of_model(apply(seen, torch.tensor([level], device=device), stream, sigma))
                    right = model.target(noisy) if apply.equivariant else answer
                    at_last, all_layers = _errors(model, right, noisy.repeat(cells, *[1] * (noisy.dim() - 1)))
                    given.append(at_last)
                    batch.append(all_layers)
                found = _of_last(model, right, torch.cat(given))
                of_last.append(found.unflatten(1, (len(given), cells)).swapaxes(0, 1))
            error = error + torch.stack(batch) @ member
            last = last + torch.cat(of_last)
            count += len(index)
        progress(len(index) * cells)
    by_item = error.cpu().numpy() / (sizes * settings.noise_draws)
    clipped, alike = (last / count).cpu().numpy().swapaxes(0, 1)
    return Sweep(by_item, sizes, clipped, alike)


def _errors(model: nn.Module, target: Tensor, noisy: Tensor) -> tuple[Tensor, Float[Tensor, "cells depth batch"]]:
    """The last layer's answers, and of every layer the mean squared error per pixel, in float64."""
    outputs = [model.readout(state) for state in model.states(noisy)]
    error = [(output - target).square().flatten(2).mean(2).double() for output in outputs]
    return outputs[-1], torch.stack(error, dim=1)


def _of_last(model: nn.Module, target: Tensor, answers: Tensor) -> Float[Tensor, "2 stack"]:
    """The error of clipped answers and their structural similarity, summed over the batch; all cells of a level
    before those of the next."""
    clipped = (answers.clamp(*model.legal) - target).square().flatten(2).mean(2).double().sum(1)
    alike = ssim(model.pictures(answers), model.pictures(target)[0]).mean(1) * target.shape[1]
    return torch.stack([clipped, alike])
