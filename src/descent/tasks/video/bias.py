"""The error of a denoiser in two parts: what another draw of the noise leaves, and what it moves."""

from collections.abc import Iterable, Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.analysis.results import Row
from descent.cells import Cell
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.batches import Inputs
from descent.tasks.video.layerwise import LAYERS, spread
from descent.tasks.video.sweep import AtLevels
from descent.training.noise import TEST, Stream

METRICS = ("rmse_bias", "rmse_variance")


@torch.no_grad()
def told(
    net: nn.Module,
    inputs: Inputs,
    stack: Sequence[Cell],
    test: AtLevels,
    sigma: float,
    how: Sweeping,
) -> Iterator[list[Row]]:
    """Of each cell the rows of the results table: METRICS of the last layer at every level, 0-255, on one batch
    spread over the test set.

    Both draws of the noise are the same for all cells, arms, models and levels. A squared bias that came out
    negative, as an estimate near zero may, is a missing row.

    Args:
        sigma: noise scale in [0, 1] units.
    """
    clean = spread(inputs, how)
    streams = [Stream(TEST, how.settings.seed, LAYERS, draw, device=how.device) for draw in range(2)]
    found = []
    for strength in test.strengths:
        level = torch.tensor([strength], device=how.device)
        noisy = (test.apply(clean, level, stream, sigma) for stream in streams)
        found.append(parts(*(_error(net, clean, one, len(stack)) for one in noisy)))
    for cell, own in zip(stack, torch.stack(found).unbind(2), strict=True):
        yield list(_rows(own, test.levels, cell.layers))


def parts(
    first: Float[Tensor, "cells batch ..."], second: Float[Tensor, "cells batch ..."]
) -> Float[Tensor, "2 cells"]:
    """Of the errors e, e' under two independent draws of the noise the means of e e' and of (e - e')^2 / 2.

    Over the noise these are the squared bias and the variance, E[e]^2 and Var[e], without a bias of their own; of
    these two draws they add up to the mean of e^2 and e'^2.
    """
    bias, variance = first * second, (first - second).square() / 2
    return torch.stack([part.flatten(1).double().mean(1) for part in (bias, variance)])


def _error(net: nn.Module, clean: Tensor, noisy: Tensor, cells: int) -> Float[Tensor, "cells batch ..."]:
    """Of the last layer's answers; from black to white is 1."""
    black, white = net.legal
    answer = net.readout(net.states(noisy.expand(cells, *noisy.shape[1:]))[-1])
    return (answer - net.target(clean)) / (white - black)


def _rows(found: Float[Tensor, "levels 2"], levels: Sequence[float], layer: int) -> Iterable[Row]:
    for level, squares in zip(levels, found.tolist(), strict=True):
        for metric, square in zip(METRICS, squares, strict=True):
            if square >= 0:
                value = 255 * square**0.5
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}
