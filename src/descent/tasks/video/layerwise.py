"""How good a video model's answer is at every layer: what one gets by stopping there."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from descent.schema import Evaluation
from descent.tasks.video.data import Frames, Sequences
from descent.tasks.video.quality import psnr, ssim
from descent.training.noise import TEST, Stream

LAYERS = 2**32 - 2  # the third number of the key of the noise, which no batch of the sweep has
Apply = Callable[[Tensor, Tensor, Stream, float], Tensor]  # clean inputs, a level a cell, random numbers, sigma
METRICS = ("rmse_layer", "psnr_layer", "ssim_layer")


@torch.no_grad()
def qualities(
    model: nn.Module,
    inputs: Sequences | Frames,
    eps: Sequence[float],
    apply: Apply,
    sigma: float,
    settings: Evaluation,
    device: torch.device,
) -> Float[np.ndarray, "metrics cells depth"]:
    """METRICS of every layer at each cell's own level, on one batch of inputs spread over the test set.

    RMSE (0-255) of the answer as it is; PSNR (dB) and SSIM of the answer clipped to black and white, SSIM NaN
    where pictures are too small for its window (quality.ssim).

    Args:
        sigma: noise scale in [0, 1] units.
    """
    index = np.unique(np.linspace(0, len(inputs) - 1, min(len(inputs), settings.batch)).round().astype(int))
    clean = inputs.gather(index)[None].to(device).float() / 255
    noisy = apply(
        clean, torch.tensor(eps, device=device), Stream(TEST, settings.seed, LAYERS, device=device), sigma
    )
    target = model.target(clean)
    black, white = model.legal
    true = model.pictures(target)[0]
    found = []
    for state in model.states(noisy):
        answer = model.readout(state)
        error, clipped = (
            ((of - target) / (white - black)).square().flatten(1).double().mean(1).tolist()
            for of in (answer, answer.clamp(black, white))
        )
        alike = ssim(model.pictures(answer), true).mean(1).tolist()
        found.append([255 * np.sqrt(error), [psnr(value) for value in clipped], alike])
    return np.moveaxis(np.array(found), 0, -1)


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
