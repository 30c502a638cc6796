"""Sweeps over noise levels of maps whose errors are known in closed form."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from descent.cells import Cell
from descent.config import Params
from descent.models.parts.denoiser import Denoiser, Pixels
from descent.tasks.common.shifted import apply_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video import sweep as sweeps
from descent.tasks.video.data import Prepared, Sequences
from descent.tasks.video.feed import feed
from descent.tasks.video.references import UNTOLD, Map
from descent.tasks.video.sweep import AtLevels, Sweep, sweep
from descent.tasks.video.views import View
from tests.fakes.core import TOKENS, small_params, write_prepared

CPU = torch.device("cpu")
ITEM = ("video", "ucsd", "dust", "constrained")
GAMMAS = [0.0, 0.25, 0.5, 1.0]
IDENTITY, ZERO = (Map(Pixels(), UNTOLD[name]) for name in ("identity", "zero"))


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return write_prepared(tmp_path / "ucsd")


def sweep_of(model: nn.Module, sequences: Sequences, cells: int = 1, **changes: object) -> Sweep:
    params = small_params({"video.evaluation": changes})
    [found] = sweep(
        model, sequences, [gammas_of(params, "gaussian")], 0.2, cells, Sweeping(params.video.evaluation, CPU)
    )
    return found


def gammas_of(params: Params, shift: str) -> AtLevels:
    return AtLevels(apply_of(params, shift), GAMMAS, GAMMAS)


def test_the_identity_scores_the_noise_it_is_given(prepared: Prepared) -> None:
    sequences = prepared.sequences("test", TOKENS)
    found = sweep_of(IDENTITY, sequences, noise_draws=8)
    assert found.error.shape == (4, 1, 1) and found.clipped.shape == (4, 1)
    numbers = 8 * len(sequences) * TOKENS * 16
    rmse = np.sqrt(found.error[:, 0, 0])
    np.testing.assert_allclose(rmse[1:], 0.2 * np.array(GAMMAS[1:]), rtol=4 / math.sqrt(2 * numbers))
    assert rmse[0] == 0.0
    np.testing.assert_allclose(found.error[1:, 0, 0], found.error[3, 0, 0] * np.array(GAMMAS[1:]) ** 2, rtol=1e-5)


def test_more_draws_are_other_noise_and_another_seed_too(prepared: Prepared) -> None:
    sequences = prepared.sequences("test", TOKENS)
    errors = [
        sweep_of(IDENTITY, sequences, **changes).error[3, 0, 0]
        for changes in ({"noise_draws": 1}, {"noise_draws": 2}, {"noise_draws": 1, "seed": 6}, {"noise_draws": 1})
    ]
    assert len(set(errors[:3])) == 3 and errors[3] == errors[0]


@pytest.mark.parametrize("batch", [1, 5, 1000])
def test_the_zero_map_scores_the_rms_intensity_whatever_the_batch(prepared: Prepared, batch: int) -> None:
    sequences = prepared.sequences("test", TOKENS)
    clean = sequences.gather(np.arange(len(sequences))).double() / 255
    found = sweep_of(ZERO, sequences, batch=batch)
    np.testing.assert_allclose(found.error, clean.square().mean().item(), rtol=1e-6)
    np.testing.assert_allclose(found.clipped, clean.square().mean().item(), rtol=1e-6)


@pytest.mark.parametrize("limit", [None, 40])
@pytest.mark.parametrize("batch", [7, 1000])
def test_the_error_of_an_item_is_that_of_its_own_inputs(prepared: Prepared, batch: int, limit: int | None) -> None:
    sequences = prepared.sequences("test", TOKENS, limit=limit)
    clean = sequences.gather(np.arange(len(sequences))).double().flatten(1).numpy() / 255
    found, square = sweep_of(ZERO, sequences, batch=batch), np.square(clean).mean(1)
    items = np.unique(sequences.item)
    assert len(items) > 1 and found.sizes.tolist() == [int((sequences.item == item).sum()) for item in items]
    own = [square[sequences.item == item].mean() for item in items]
    assert np.ptp(own) > 1e-4 * max(own)
    np.testing.assert_allclose(found.by_item[0, 0, 0], own, rtol=1e-6)


class Constant(Denoiser):
    """Cell k answers k + 2 at layer 0 and 0.25 k at layer 1, whatever it sees."""

    def states(self, noisy: torch.Tensor) -> list[torch.Tensor]:
        level = torch.arange(len(noisy)).view(-1, 1, 1, 1)
        return [torch.zeros_like(noisy) + level + 2, torch.zeros_like(noisy) + 0.25 * level]

    def readout(self, state: torch.Tensor) -> torch.Tensor:
        return state


def test_cells_layers_and_clipping_are_told_apart(prepared: Prepared) -> None:
    sequences = prepared.sequences("test", TOKENS)
    clean = sequences.gather(np.arange(len(sequences))).double().numpy() / 255
    found = sweep_of(Constant(), sequences, cells=7)
    assert found.error.shape == (4, 7, 2)
    for cell in range(7):
        for layer, level in enumerate((cell + 2, 0.25 * cell)):
            np.testing.assert_allclose(found.error[:, cell, layer], np.square(level - clean).mean(), rtol=1e-5)
        np.testing.assert_allclose(
            found.clipped[:, cell], np.square(min(0.25 * cell, 1) - clean).mean(), rtol=1e-5
        )


def test_a_stack_scores_what_its_cells_score_alone_on_the_same_noise(prepared: Prepared) -> None:
    cells = [Cell(*ITEM, layers=3, eps=eps, seed=0) for eps in (0.0, 0.5)]
    build = feed(small_params(), prepared, "dust", CPU).build
    stack = build(cells)
    stack.dictionaries.data += 0.1 * torch.randn(
        stack.dictionaries.shape, generator=torch.Generator().manual_seed(1)
    )
    sequences = prepared.sequences("test", TOKENS)
    together = sweep_of(stack, sequences, cells=2)
    for index, cell in enumerate(cells):
        single = build([cell])
        single.dictionaries.data = stack.dictionaries.data[index : index + 1].clone()
        alone = sweep_of(single, sequences)
        np.testing.assert_allclose(alone.error[:, 0], together.error[:, index], rtol=1e-5)
        np.testing.assert_allclose(alone.clipped[:, 0], together.clipped[:, index], rtol=1e-5)
    assert np.abs(together.error[:, 0] - together.error[:, 1]).min() > 1e-6


@pytest.mark.parametrize(
    "shifts", [["gaussian", "salt_and_pepper", "dropped_frames"], ["gaussian", "blur", "jpeg"]]
)
def test_each_clean_batch_is_read_once_for_all_shifts_and_levels(
    shifts: list[str], prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequences, read, told = prepared.sequences("test", TOKENS), [], []
    original = View.read
    monkeypatch.setattr(View, "read", lambda self, index: read.extend(index) or original(self, index))
    params = small_params()
    tests = [AtLevels(apply_of(params, shift), [0.5, 1.0], [0.5, 1.0]) for shift in shifts]
    settings = params.video.evaluation
    sweep(IDENTITY, sequences, tests, 0.2, 1, Sweeping(settings, CPU, told.append))
    assert read == list(range(len(sequences))) and sum(told) == len(shifts) * len(sequences)


def test_shifts_that_share_what_was_read_score_as_they_do_alone(prepared: Prepared) -> None:
    """Others look at more of a frame than they do, or see it in another arrangement."""
    frames = np.random.default_rng(4).integers(0, 256, (40, 64, 64), np.uint8)
    sequences = Sequences(frames, np.arange(4) * TOKENS, np.arange(4) % 2, TOKENS, 16, np.arange(7))
    params = small_params()
    tests = [
        AtLevels(apply_of(params, shift), [level], [level])
        for shift, level in {
            "gaussian": 0.5,
            "blur": 2.0,
            "jpeg": 10.0,
            "correlated": 0.5,
            "dropped_frames": 0.4,
        }.items()
    ]
    together = sweep(Shaded(), sequences, tests, 0.2, 2, Sweeping(params.video.evaluation, CPU))
    assert len({float(found.error.sum()) for found in together}) == len(tests)
    for test, found in zip(tests, together, strict=True):
        [alone] = sweep(Shaded(), sequences, [test], 0.2, 2, Sweeping(params.video.evaluation, CPU))
        for name in ("by_item", "clipped", "similarity"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name), err_msg=test.apply.name)


class Shaded(Denoiser):
    """Cell k answers what it sees, darker by a fifth of k."""

    def states(self, noisy: torch.Tensor) -> list[torch.Tensor]:
        return [noisy, noisy * (1 - torch.arange(len(noisy)).view(-1, 1, 1, 1) / 5)]

    def readout(self, state: torch.Tensor) -> torch.Tensor:
        return state


@pytest.mark.parametrize("shift", ["gaussian", "shuffled_frames"])
@pytest.mark.parametrize("levels", [1, 3])
def test_scores_do_not_depend_on_how_many_levels_are_scored_at_once(
    shift: str, levels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (40, 64, 64), np.uint8)
    sequences = Sequences(pixels, np.arange(4) * TOKENS, np.arange(4) % 2, TOKENS, 16, np.arange(7))
    params = small_params()
    ask = partial(
        sweep, Shaded(), sequences, [gammas_of(params, shift)], 0.2, 2, Sweeping(params.video.evaluation, CPU)
    )
    [whole] = ask()
    of_level = 2 * 5 * TOKENS * 256  # two cells, five sequences a batch
    monkeypatch.setattr(sweeps, "TOGETHER", {"cpu": levels * of_level})
    [parts] = ask()
    for name in ("by_item", "clipped", "similarity"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-6, err_msg=name)
    assert whole.similarity.shape == whole.clipped.shape == (4, 2)
    if shift == "gaussian":
        assert (whole.similarity[:, 0] > whole.similarity[:, 1]).all()
        assert (np.diff(whole.similarity[:, 0]) < 0).all(), "levels are in their order"
    else:
        assert np.isnan(whole.similarity).all(), "it is read under the noise of training alone"
        np.testing.assert_allclose(whole.clipped[:, 0], 0, atol=1e-12)
