"""Frames as batches, and ViT's scores: the same for all arms, RMSE at the model's resolution."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn.functional import interpolate

from descent.analysis.select import select
from descent.cells import grid
from descent.paths import runs_folder, scores_file
from descent.tasks.common.items import budget_of
from descent.tasks.common.shifted import apply_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video import evaluate as evaluation
from descent.tasks.video.batches import FrameTask, SequenceTask
from descent.tasks.video.data import Prepared
from descent.tasks.video.feed import feed, sigma
from descent.tasks.video.sweep import AtLevels, Sweep, sweep
from descent.training.loop import Task
from tests.fakes.core import (
    SIZE,
    enter_project,
    evaluate_cells,
    item_of,
    serially,
    small_params,
    train_cells,
    write_prepared,
)
from tests.fakes.vit import BUDGET, IMAGE, LAYERS, build, cells, vit_params
from tests.fakes.vit import SIZE as SIZES

CPU = torch.device("cpu")
ITEM = ("video", "ucsd", "vit")


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return write_prepared(tmp_path / "ucsd")


def task(prepared: Prepared, of: list, **budget: object) -> FrameTask:
    params = vit_params({f"{BUDGET}.{key}": value for key, value in budget.items()})
    return feed(params, prepared, "vit", CPU).task(of)


def swept(model: torch.nn.Module, prepared: Prepared, gammas: list[float], **changes: object) -> Sweep:
    params = vit_params({"video.evaluation": changes})
    frames = FrameTask.inputs(prepared, budget_of(params, "vit"), "test")
    noise = AtLevels(apply_of(params, "gaussian"), gammas, gammas)
    [found] = sweep(model, frames, [noise], prepared.sigma, 1, Sweeping(params.video.evaluation, CPU))
    return found


def test_whole_frames_are_those_of_the_split(prepared: Prepared) -> None:
    frames = prepared.whole("train")
    assert len(frames) == 30 and frames.gather(np.array([29, 3])).shape == (2, SIZE, SIZE)
    assert np.array_equal(frames.gather(np.arange(30)), np.load(prepared.folder / "training.npy")[:30])
    few, again = (prepared.whole("train", 9) for _ in range(2))
    assert len(few) == 9 == len(set(few.places)) and np.array_equal(few.places, again.places)
    assert not np.array_equal(few.places, np.arange(9))
    assert np.array_equal(few.gather(np.arange(9)), frames.gather(few.places))
    assert np.array_equal(prepared.whole("train", 30).places, np.arange(30))


def test_both_arms_and_all_levels_see_the_same_frames_and_the_same_noise(prepared: Prepared) -> None:
    own = task(prepared, cells())
    assert isinstance(own, Task) and own.steps == 3 and own.batch(0, 0).training
    batches = [
        task(prepared, cells(eps=(level,), arm=arm)).batch(1, 2)
        for arm, level in (("constrained", 0.5), ("unconstrained", 0.5), ("constrained", 0.25))
    ]
    first, other_arm, level = batches
    assert (
        torch.equal(first.noisy, other_arm.noisy)
        and torch.equal(first.clean, other_arm.clean)
        and first.key == (0, 1, 2)
    )
    assert torch.equal(first.clean, level.clean)
    torch.testing.assert_close(first.noisy - first.clean, 2 * (level.noisy - level.clean))
    assert (first.noisy - first.clean).std().item() == pytest.approx(0.5 * prepared.sigma, rel=0.2)
    elsewhere = task(prepared, cells(1)).batch(1, 2)
    assert not torch.equal(elsewhere.noisy - elsewhere.clean, first.noisy - first.clean)


def test_an_epoch_draws_without_replacement_and_validation_repeats(prepared: Prepared) -> None:
    own = task(prepared, cells(), epoch_inputs=None)
    assert own.steps == 30 // 4
    drawn = [frame.numpy().tobytes() for step in range(own.steps) for frame in own.batch(0, step).clean[0]]
    assert len(set(drawn)) == 28
    one, two = (list(task(prepared, cells(seed)).validation()) for seed in (0, 1))
    assert [size for _, size in one] == [3, 2] and not any(batch.training for batch, _ in one)
    assert all(torch.equal(a.noisy, b.noisy) for (a, _), (b, _) in zip(one, two, strict=True))


def test_dropout_follows_the_batch_and_rests_in_validation(prepared: Prepared) -> None:
    own, model = task(prepared, cells(eps=(0.0,)), dropout=0.4), build({f"{BUDGET}.dropout": 0.4})
    batch = own.batch(0, 0)

    def losses(key: tuple[int, ...], training: bool) -> list[float]:
        torch.random.manual_seed(sum(key))
        return own.losses(model, batch._replace(key=key, training=training))[0].tolist()

    one, other = (0, 0, 0), (0, 0, 1)
    assert losses(one, True) == losses(one, True) != losses(other, True)
    assert losses(one, False) == losses(other, False) != losses(one, True)


def test_the_error_of_what_vit_is_shown_is_the_noise_that_resizing_leaves(prepared: Prepared) -> None:
    model = build()
    model.states = lambda noisy: [noisy]
    model.readout = model.processor.target
    gammas = [0.0, 0.3, 0.6]
    found = swept(model, prepared, gammas, noise_draws=40)
    _, grays = evaluation.units(vit_params(), FrameTask, model)
    rmse = grays * np.sqrt(found.error[:, 0, 0])
    # One output pixel is a weighted sum of independent ones: the response to each of these alone tells its weight.
    alone = torch.eye(SIZE**2).view(1, SIZE**2, SIZE, SIZE)
    weights = interpolate(alone, (IMAGE, IMAGE), mode="bilinear", antialias=True)
    left = weights.double().square().sum(1).mean().sqrt().item()
    expected = 255 * prepared.sigma * left * np.array(gammas)
    assert left < 0.8 and rmse[0] == pytest.approx(0, abs=1e-5)
    np.testing.assert_allclose(rmse[1:], expected[1:], rtol=0.02)


def test_units_are_those_of_the_answers(prepared: Prepared) -> None:
    params, model = vit_params(), build()
    assert evaluation.units(params, FrameTask, model) == (1, 127.5)
    model.states = lambda noisy: [noisy]
    model.readout = lambda state: torch.full_like(model.target(state), -3.0)
    found = swept(model, prepared, [0.0])
    frames = FrameTask.inputs(prepared, budget_of(params, "vit"), "test")
    clean = model.target(frames.gather(np.arange(len(frames)))[None].float() / 255)
    for error, answer in ((found.error[0, 0, 0], -3), (found.clipped[0, 0], -1)):
        assert error == pytest.approx((answer - clean).square().mean().item(), rel=1e-5)


@pytest.mark.slow
def test_a_vit_item_trains_and_is_scored_cell_by_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = enter_project(tmp_path / "project", monkeypatch)
    trained = serially(monkeypatch)
    params = vit_params({"eps": 0.5, "profiles.demo.video.eps": [0.0], "video.models": ["vit"]})
    item = train_cells(params, *ITEM)
    rows = evaluate_cells(params, *ITEM[:2])
    names = [f"{arm}-L{LAYERS}-eps{eps}-seed0" for arm in params.arms for eps in (0.0, 0.5)]
    assert trained == [[name] for name in names], "one depth of its own, and no two cells in a stack"
    assert grid(params, *ITEM) == item.cells and len(pd.read_parquet(scores_file(*ITEM[:2]))) == len(rows)
    for cell in item.cells:
        own = select(rows, eps=cell.eps, arm=cell.arm)
        test = own[(own["split"] == "test") & (own["metric"] == "loss")]
        assert set(test["layer"]) == set(range(LAYERS + 1))
        last = test[test["layer"] == LAYERS].set_index("gamma")["value"]
        rmse = own[own["metric"] == "rmse"].set_index("gamma")["value"]
        np.testing.assert_allclose(rmse, 127.5 * np.sqrt(last[rmse.index]), rtol=1e-6)
        history = select(pd.read_csv(runs_folder(*ITEM) / cell.name / "history.csv"), layer=LAYERS)
        assert history["loss_train"].iloc[-1] < history["loss_train"].iloc[0], "it learns"
    assert prepared.digest == item.feed.definition(item.cells[0])["data"]


def test_a_vit_cell_is_named_by_its_own_budget_and_by_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path / "project", monkeypatch)

    def name(changes: dict) -> str:
        item = item_of(vit_params(changes), *ITEM)
        return item.fingerprint(item.cells[0], item.settings[item.cells[0]])

    used = name({})
    for change in (
        {f"{BUDGET}.epoch_inputs": 8},
        {f"{BUDGET}.dropout": 0.1},
        {f"{BUDGET}.weights": {"random": SIZES | {"heads": 3}}},
        {"models.vit.antialias": False},
        {f"{BUDGET}.arms.constrained.dual_lr": 0.5},
    ):
        assert name(change) != used, change
    for change in (
        {f"{BUDGET}.test_inputs": 3},
        {"profiles.demo.video.tokens": 2},
        {"profiles.demo.video.epochs": 9},
        {"profiles.demo.video.layers": [7]},
        {"objectives.constrained.models.dust": {"alpha": 0.9}},
    ):
        assert name(change) == used, change


def test_noise_is_scaled_by_the_data_sets_deviation_or_by_one_number(prepared: Prepared) -> None:
    assert sigma(small_params(), prepared) == prepared.sigma
    assert sigma(small_params({"video.noise_scale": 0.25}), prepared) == 0.25
    own = feed(small_params({"video.noise_scale": 0.25}), prepared, "dust", CPU).task(
        [cell for cell in grid(small_params(), "video", "ucsd", "dust") if cell.eps == 0.5][:1]
    )
    assert isinstance(own, SequenceTask) and own.sigma == 0.25
    batch = own.batch(0, 0)
    assert (batch.noisy - batch.clean).std().item() == pytest.approx(0.5 * 0.25, rel=0.1)


def test_frames_average_the_error_whatever_patches_do(prepared: Prepared) -> None:
    for loss in ("sum", "mean"):
        params = vit_params({"video.patch_loss": loss})
        assert feed(params, prepared, "vit", CPU).task(cells()).patch_loss == "mean"
        dust = grid(params, "video", "ucsd", "dust")[:1]
        assert feed(params, prepared, "dust", CPU).task(dust).patch_loss == loss
