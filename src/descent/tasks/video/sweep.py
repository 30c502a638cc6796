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
from descent.tasks.video.data import Frames, Sequences
from descent.tasks.video.quality import ssim
from descent.training.noise import TEST, Stream

# What a shift does: clean inputs, a level a cell, the batch's random numbers and sigma give the noisy inputs.
Apply = Callable[[Tensor, Tensor, Stream, float], Tensor]


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
    inputs: Sequences | Frames,
    levels: Sequence[float],
    apply: Apply,
    sigma: float,
    cells: int,
    settings: Evaluation,
    device: torch.device,
    progress: Callable[[int], Any] = lambda count: None,
) -> Sweep:
    """Evaluate a stack on all inputs at every level of a shift.

    Common random numbers: they depend on the batch and the draw alone, so they are the same for all cells, arms,
    models and levels. Each clean batch is read once for all levels.

    Args:
        sigma: noise scale in [0, 1] units.
        cells: the size of the model's cells axis.
        progress: called with the number of inputs done, times cells.
    """
    items = np.unique(inputs.item, return_inverse=True)[1]
    sizes = np.bincount(items)
    error, last, count = 0.0, 0.0, 0
    for start in range(0, len(inputs), settings.batch):
        index = np.arange(start, min(start + settings.batch, len(inputs)))
        clean = inputs.gather(index)[None].to(device).float() / 255
        member = one_hot(torch.from_numpy(items[index]), len(sizes)).to(device).double()
        for draw in range(settings.noise_draws):
            stream = Stream(TEST, settings.seed, start, draw, device=device)
            batch = [
                _errors(model, clean, apply(clean, torch.full((cells,), level, device=device), stream, sigma))
                for level in levels
            ]
            error = error + torch.stack([all_layers for all_layers, _ in batch]) @ member
            last = last + np.stack([of_last for _, of_last in batch])
            count += len(index)
        progress(len(index) * cells)
    by_item = error.cpu().numpy() / (sizes * settings.noise_draws)
    return Sweep(by_item, sizes, last[:, 0] / count, last[:, 1] / count)


def _errors(
    model: nn.Module, clean: Tensor, noisy: Tensor
) -> tuple[Float[Tensor, "cells depth batch"], Float[np.ndarray, "2 cells"]]:
    """Mean squared error per pixel at one level of every layer, in float64; of the last, clipped, summed over the
    batch: the error and the structural similarity."""
    outputs = [model.readout(state) for state in model.states(noisy)]
    target = model.target(clean)
    error = [(output - target).square().flatten(2).mean(2).double() for output in outputs]
    clipped = (outputs[-1].clamp(*model.legal) - target).square().flatten(2).mean(2).double().sum(1)
    true, batch = model.pictures(target)[0].float().cpu().numpy(), clean.shape[1]
    alike = [ssim(own.cpu().numpy(), true).mean() * batch for own in model.pictures(outputs[-1]).float()]
    return torch.stack(error, dim=1), np.stack([clipped.cpu().numpy(), alike])
