"""Out of distribution: every layer's loss and the last layer's RMSE over a sweep of test noise levels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.datasets.video import Frames, Sequences
from descent.objectives import squared_error
from descent.perturbations import TEST, generator, perturb
from descent.schema import Evaluation


@dataclass(frozen=True)
class Sweep:
    """Errors of a stack of cells on test inputs; means over inputs, pixels and noise draws."""

    error: Float[np.ndarray, "gammas cells depth"]  # mean squared error per pixel, in the units of the answers
    clipped: Float[np.ndarray, "gammas cells"]  # the same of the last layer's output clipped to legal values


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
    error, clipped, count = 0.0, 0.0, 0
    for start in range(0, len(inputs), settings.batch):
        index = np.arange(start, min(start + settings.batch, len(inputs)))
        clean = inputs.gather(index)[None].to(device).float() / 255
        for draw in range(settings.noise_draws):
            stream = generator(TEST, settings.seed, start, draw, device=device)
            unit = torch.randn(clean.shape, generator=stream, device=device)
            batch = [_errors(model, clean, unit, gamma, sigma, cells) for gamma in gammas]
            error = error + len(index) * torch.stack([all_layers for all_layers, _ in batch])
            clipped = clipped + len(index) * torch.stack([last for _, last in batch])
            count += len(index)
        tell(len(index) * cells)
    return Sweep((error / count).cpu().numpy(), (clipped / count).cpu().numpy())


def _errors(
    model: nn.Module, clean: Tensor, unit: Tensor, gamma: float, sigma: float, cells: int
) -> tuple[Float[Tensor, "cells depth"], Float[Tensor, " cells"]]:
    """Mean squared error per pixel at one level: of every layer, and of the clipped last one, in float64."""
    level = torch.full((cells,), gamma, device=clean.device)
    states = model.states(perturb(clean, unit, level, sigma))
    outputs = [model.readout(state) for state in states]
    target = model.target(clean)
    error = [squared_error(output, target, "mean").double() for output in outputs]
    clipped = squared_error(outputs[-1].clamp(*model.legal), target, "mean").double()
    return torch.stack(error, dim=1), clipped
