"""Bias and variance: closed forms, and what the sweep measures."""

import numpy as np
import pytest
import torch
from torch import Tensor

from descent.cells import Cell
from descent.models.parts.denoiser import Denoiser
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.bias import parts, told
from descent.tasks.video.data import Frames
from descent.tasks.video.sweep import AtLevels
from tests.fakes.core import small_params
from tests.fakes.video import noise

CPU, SIGMA, LEVELS = torch.device("cpu"), 0.5, (0.0, 0.2, 0.6)
EVALUATION = small_params().video.evaluation.model_copy(update={"batch": 4})
GAINS, OFFSETS = (
    torch.tensor([1.0, 0.5]),
    torch.tensor([0.1, -0.2]),
)  # noise that each cell passes; its bias


class Passing(Denoiser):
    """Cells that answer the clean input and an offset, and let through a share of the noise."""

    def __init__(self, clean: Tensor) -> None:
        super().__init__()
        self.clean = clean

    def states(self, noisy: Tensor) -> list[Tensor]:
        share, offset = (of[:, None, None, None] for of in (GAINS, OFFSETS))
        return [noisy, self.clean + offset + share * (noisy - self.clean)]

    def readout(self, state: Tensor) -> Tensor:
        return state


def test_the_two_parts_are_those_of_a_map_that_adds_an_offset_and_passes_a_share_of_the_noise() -> None:
    frames = noise(8, seed=0, height=40, width=40)
    inputs = Frames(frames, np.zeros(8, int), np.arange(8), None)
    used = np.unique(np.linspace(0, 7, 4).round().astype(int))
    model = Passing(torch.from_numpy(frames[used])[None].float() / 255)

    def apply(clean: Tensor, level: Tensor, stream: object, sigma: float) -> Tensor:
        return clean + sigma * level[:, None, None, None] * stream.normal(1, *clean.shape[1:])

    stack = [Cell("video", "ucsd", "dust", "constrained", 5, 0.2, seed) for seed in range(2)]
    test = AtLevels(apply, LEVELS, LEVELS)
    for rows, gain, offset in zip(
        told(model, inputs, stack, test, SIGMA, Sweeping(EVALUATION, CPU)),
        GAINS.tolist(),
        OFFSETS.tolist(),
        strict=True,
    ):
        found = {(row["metric"], row["gamma"]): row["value"] for row in rows}
        assert all(row["layer"] == 5 and row["split"] == "test" for row in rows)
        for level in LEVELS:
            assert found["rmse_variance", level] == pytest.approx(255 * gain * SIGMA * level, rel=0.03)
            assert found["rmse_bias", level] == pytest.approx(255 * abs(offset), rel=0.25)
        assert found["rmse_bias", 0.0] == pytest.approx(255 * abs(offset), rel=1e-4)


def test_they_add_up_to_the_squared_error_of_both_draws_exactly() -> None:
    first, second = torch.randn(2, 3, 4, 6, 6, dtype=torch.float64)
    both = (first.square() + second.square()).flatten(1).mean(1) / 2
    torch.testing.assert_close(parts(first, second).sum(0), both)


def test_of_many_draws_they_are_unbiased() -> None:
    generator = torch.Generator().manual_seed(0)
    errors = 0.3 + 2.0 * torch.randn(2, 1, 200_000, generator=generator)
    bias, variance = parts(*errors).flatten().tolist()
    assert bias == pytest.approx(0.09, abs=0.03) and variance == pytest.approx(4.0, rel=0.01)
