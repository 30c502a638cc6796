"""Out of distribution: every layer's loss and the last layer's RMSE over a sweep of test noise levels."""

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
from descent.training.noise import TEST, generator, perturb


@dataclass(frozen=True)
class Sweep:
    """Errors of a stack of cells on test inputs; means over inputs, pixels and noise draws.

    An item is what a bootstrap resamples: all inputs of one clip. They share its scene, light and figures, so
    resampling single sequences or frames would take them for more evidence than they are.
    """

    by_item: Float[np.ndarray, "gammas cells depth items"]  # mean squared error per pixel, in the answers' units
    sizes: Int[np.ndarray, " items"]  # the inputs of each item
    clipped: Float[np.ndarray, "gammas cells"]  # the same, clipped to legal values, over all items

    @property
    def error(self) -> Float[np.ndarray, "gammas cells depth"]:
        """The mean over all inputs."""
        return self.by_item @ (self.sizes / self.sizes.sum())


@torch.no_grad()
def sweep(
    model: nn.Module,
    inputs: Sequences | Frames,
    gammas: Sequence[float],
    sigma: float,
    cells: int,
    settings: Evaluation,
    device: torch.device,
    tell: Callable[[int], Any] = lambda count: None,
) -> Sweep:
    """Evaluate a stack on all inputs at every noise level, y = x + gamma * sigma * n.

    Common random numbers: the unit noise n depends on the batch and the draw alone, so it is the same for all
    cells, arms, models and levels. Each clean batch is read once for all levels.

    Args:
        gammas: test noise levels.
        sigma: noise scale in [0, 1] units.
        cells: the size of the model's cells axis.
        tell: called with the number of inputs done, times cells.
    """
    items = np.unique(inputs.clip, return_inverse=True)[1]
    sizes = np.bincount(items)
    error, clipped, count = 0.0, 0.0, 0
    for start in range(0, len(inputs), settings.batch):
        index = np.arange(start, min(start + settings.batch, len(inputs)))
        clean = inputs.gather(index)[None].to(device).float() / 255
        member = one_hot(torch.from_numpy(items[index]), len(sizes)).to(device).double()
        for draw in range(settings.noise_draws):
            stream = generator(TEST, settings.seed, start, draw, device=device)
            unit = torch.randn(clean.shape, generator=stream, device=device)
            batch = [_errors(model, clean, unit, gamma, sigma, cells) for gamma in gammas]
            error = error + torch.stack([all_layers for all_layers, _ in batch]) @ member
            clipped = clipped + torch.stack([last for _, last in batch]).sum(-1)
            count += len(index)
        tell(len(index) * cells)
    error = error.cpu().numpy() / (sizes * settings.noise_draws)
    return Sweep(error, sizes, clipped.cpu().numpy() / count)


def _errors(
    model: nn.Module, clean: Tensor, unit: Tensor, gamma: float, sigma: float, cells: int
) -> tuple[Float[Tensor, "cells depth batch"], Float[Tensor, "cells batch"]]:
    """Mean squared error per pixel at one level: of every layer, and of the clipped last one, in float64."""
    level = torch.full((cells,), gamma, device=clean.device)
    states = model.states(perturb(clean, unit, level, sigma))
    outputs = [model.readout(state) for state in states]
    target = model.target(clean)
    error = [(output - target).square().flatten(2).mean(2).double() for output in outputs]
    clipped = (outputs[-1].clamp(*model.legal) - target).square().flatten(2).mean(2).double()
    return torch.stack(error, dim=1), clipped
