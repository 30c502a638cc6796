"""How good a video model's answer is at every layer: what one gets by stopping there, or by going on."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.analysis.results import FURTHER
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.data import Frames, Sequences
from descent.tasks.video.quality import psnr, ssim
from descent.training.noise import TEST, Stream

LAYERS = 2**32 - 2  # the third number of the key of the noise, which no batch of the sweep has
Apply = Callable[[Tensor, Tensor, Stream, float], Tensor]  # clean inputs, a level a cell, random numbers, sigma
METRICS = ("rmse_layer", "psnr_layer", "ssim_layer")


@torch.no_grad()
def told(
    net: nn.Module,
    inputs: Sequences | Frames,
    eps: Sequence[float],
    apply: Apply,
    sigma: float,
    how: Sweeping,
) -> Iterator[list[dict[str, object]]]:
    """Of each cell the rows of the results table, at its own level, on one batch spread over the test set.

    Args:
        sigma: noise scale in [0, 1] units.
    """
    clean = spread(inputs, how)
    stream = Stream(TEST, how.settings.seed, LAYERS, device=how.device)
    noisy = apply(clean, torch.tensor(eps, device=how.device), stream, sigma)
    found, beyond = qualities(net, clean, noisy), further(net, clean, noisy)
    for cell, level in enumerate(eps):
        yield [*rows(found[:, cell], level), *further_rows(beyond[cell], level), *steps(net, cell, level)]


def spread(inputs: Sequences | Frames, how: Sweeping) -> Float[Tensor, "1 batch ..."]:
    """One batch of clean inputs in [0, 1], evenly over the test set."""
    index = np.unique(np.linspace(0, len(inputs) - 1, min(len(inputs), how.settings.batch)).round().astype(int))
    return inputs.gather(index)[None].to(how.device).float() / 255


def qualities(net: nn.Module, clean: Tensor, noisy: Tensor) -> Float[np.ndarray, "metrics cells depth"]:
    """METRICS of every layer.

    RMSE (0-255) of the answer as it is; PSNR (dB) and SSIM of the answer clipped to black and white, SSIM NaN
    where pictures are too small for its window (quality.ssim).
    """
    target = net.target(clean)
    black, white = net.legal
    true = net.pictures(target)[0]
    found = []
    for state in net.states(noisy):
        answer = net.readout(state)
        exact, clipped = (_squares(net, of, target) for of in (answer, answer.clamp(black, white)))
        alike = ssim(net.pictures(answer), true).mean(1).tolist()
        found.append([255 * np.sqrt(exact), [psnr(value) for value in clipped], alike])
    return np.moveaxis(np.array(found), 0, -1)


def further(net: nn.Module, clean: Tensor, noisy: Tensor) -> Float[np.ndarray, "cells further"]:
    """RMSE (0-255) of layers L to 2 L of DUST and of UT as codes with one dictionary, whose one map is applied as
    often again as in training; of other models none. It tells a map that comes to rest from one that passes by."""
    if not getattr(net, "shared", False):
        return np.empty((len(noisy), 0))
    layers, target = net.layers, net.target(clean)
    net.layers = 2 * layers
    try:
        states = net.states(noisy)[layers:]
    finally:
        net.layers = layers
    return 255 * np.sqrt(np.array([_squares(net, net.readout(state), target) for state in states])).T


def _squares(net: nn.Module, answer: Tensor, target: Tensor) -> list[float]:
    black, white = net.legal
    return ((answer - target) / (white - black)).square().flatten(1).double().mean(1).tolist()


def steps(net: nn.Module, index: int, level: float) -> Iterable[dict[str, object]]:
    """Rows of one cell: how long the step of every layer is, of a model that has `step_lengths`, as DUST; none of
    another, whose layers are no steps on the error of reconstruction."""
    lengths = net.step_lengths()[index].tolist() if hasattr(net, "step_lengths") else []
    for layer, value in enumerate(lengths, start=1):
        yield {"split": "test", "gamma": level, "layer": layer, "metric": "step_length", "value": value}


def rows(found: Float[np.ndarray, "metrics depth"], level: float) -> Iterable[dict[str, object]]:
    """Rows of the results table for one cell; a PSNR without error and an unknown SSIM are missing rows."""
    for metric, by_layer in zip(METRICS, found.tolist(), strict=True):
        for layer, value in enumerate(by_layer):
            if np.isfinite(value):
                yield {"split": "test", "gamma": level, "layer": layer, "metric": metric, "value": value}


def further_rows(found: Float[np.ndarray, " further"], level: float) -> Iterable[dict[str, object]]:
    """Rows of one cell: what `further` found, which begins at the last layer."""
    for more, value in enumerate(found.tolist()):
        if np.isfinite(value):
            layer = len(found) - 1 + more
            yield {"split": "test", "gamma": level, "layer": layer, "metric": FURTHER, "value": value}
