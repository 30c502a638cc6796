"""The loop: reproducible, resumable, and the same for a cell alone and in a stack."""

import time
from itertools import pairwise
from math import cos, pi
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from descent.arms import constrained
from descent.runner.stacks import history
from descent.tasks.video.batches import Batch, SequenceTask
from descent.tasks.video.data import Prepared
from descent.training.loop import _validate
from descent.training.schema import Training
from descent.training.step import Steps, rate
from tests.fakes.core import fit, same, small_params
from tests.fakes.stacks import ARMS, stack


@pytest.mark.parametrize("model", ["dust", "ut"])
@pytest.mark.parametrize("arm", ARMS)
def test_a_stack_equals_its_cells_trained_alone(prepared: Prepared, tmp_path: Path, model: str, arm: str) -> None:
    params, cells = small_params(), stack(arm, model)
    _, together = fit(params, prepared, cells, tmp_path / "stack.pt")
    slow = small_params({f"profiles.demo.video.models.{model}": {"lr": 1e-9}})
    start = fit(slow, prepared, cells, tmp_path / "no.pt")[1]
    for index, cell in enumerate(cells):
        _, alone = fit(params, prepared, [cell], tmp_path / "single.pt")
        assert alone.epoch[0] == together.epoch[index]
        for name, value in alone.weights.items():
            assert (value[0] - start.weights[name][index]).abs().max() > 0.005, "training moves the weights"
            torch.testing.assert_close(value[0], together.weights[name][index], rtol=0, atol=1e-4)
        for mine, theirs in zip(alone.history, together.history, strict=True):
            for column in mine.keys() - {"seconds"}:
                torch.testing.assert_close(mine[column][0], theirs[column][index], rtol=1e-3, atol=1e-4)
    if arm == "constrained":
        assert (together.history[-1]["multiplier"].amax(1) > 0.1).all()


@pytest.mark.parametrize("model", ["dust", "ut"])
@pytest.mark.parametrize("arm", ARMS)
def test_two_runs_are_identical_bit_for_bit(prepared: Prepared, tmp_path: Path, model: str, arm: str) -> None:
    runs = [fit(small_params(), prepared, stack(arm, model), tmp_path / "c.pt")[1] for _ in range(2)]
    assert same(*runs)
    other = fit(small_params(), prepared, stack(arm, model, (5, 5, 5)), tmp_path / "c.pt")[1]
    assert not same(runs[0], other)


class Killed(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize(
    ("arm", "changes"),
    [
        ("unconstrained", {}),
        ("deep_supervision", {}),
        ("constrained", {}),
        ("constrained", {"resilience": "decay", "dual_every": 2}),
        ("constrained", {"restart": False, "dual_every": 5, "dual_forward": "fresh"}),
        ("constrained", {"reset_moments": False, "dual_optimizer": "sgd", "warmup_epochs": 0}),
        ("constrained", {"constraint": "ratio", "resilience": "none", "dual_mean": 0.9}),
        ("constrained", {"dual_optimizer": "nupi", "resilience": "none"}),
        ("constrained", {"margin_start": 0.3, "resilience": "none"}),
    ],
)
@pytest.mark.parametrize("dies_at", [(2,), (4,), (2, 4, 5)])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(
    prepared: Prepared, tmp_path: Path, arm: str, changes: dict, dies_at: tuple[int, ...]
) -> None:
    plan = {"profiles.demo.video.epochs": 6, "objectives.constrained": changes, "training.checkpoint_seconds": 0.0}
    params, cells, file = small_params(plan), stack(arm), tmp_path / "resumed.pt"
    _, whole = fit(params, prepared, cells, tmp_path / "whole.pt")
    for death in dies_at:
        told: list[int] = []

        def tell(epoch: int, f: torch.Tensor, death: int = death, told: list[int] = told) -> None:
            told.append(epoch)
            if epoch == death:  # this epoch is done and not yet saved
                raise Killed

        with pytest.raises(Killed):
            fit(params, prepared, cells, file, tell)
        assert file.exists() and list(tmp_path.glob("*partial*")) == []
    told, began = [], time.time()
    _, resumed = fit(params, prepared, cells, file, lambda epoch, f: told.append(epoch))
    assert told == list(range(dies_at[-1], 7)), "it went on, and did not start again"
    assert same(resumed, whole) and len(resumed.history) == 6
    assert resumed.began < began, "it began before it was interrupted"
    if arm == "constrained":
        assert (whole.history[-1]["multiplier"] > 0).any()


def test_a_run_that_begins_tighter_goes_another_way_and_is_told_how_far_it_is(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []
    begin = constrained.Arm.begin_epoch
    monkeypatch.setattr(constrained.Arm, "begin_epoch", lambda arm, done: (told.append(done), begin(arm, done))[1])
    runs = []
    for start in (0.0, 0.05, 0.4):
        changes = {"margin": 0.05, "margin_start": start, "constraint": "ratio", "resilience": "none"}
        runs += [fit(small_params({"objectives.constrained": changes}), prepared, stack(), tmp_path / "c.pt")[1]]
    assert told == [0.25, 0.5, 0.75, 1.0] * 3, "so that the last epoch asks what is asked in the end"
    asked, same_start, tighter = ([log["multiplier"] for log in run.history] for run in runs)
    assert all(map(torch.equal, asked, same_start)) and (tighter[1] >= asked[1]).all()
    assert (tighter[1] > asked[1]).any()


def test_checkpoints_are_as_far_apart_as_asked(prepared: Prepared, tmp_path: Path) -> None:
    fit(small_params(), prepared, stack(), tmp_path / "none.pt")
    assert not (tmp_path / "none.pt").exists()


@pytest.mark.parametrize("model", ["dust", "ut"])
@pytest.mark.parametrize("warmup", [0, 2])
def test_the_duals_rest_during_the_warm_up_and_move_after_it(
    prepared: Prepared, tmp_path: Path, model: str, warmup: int
) -> None:
    params = small_params({"objectives.constrained": {"warmup_epochs": warmup}})
    _, run = fit(params, prepared, stack(model=model), tmp_path / "c.pt")
    moved = [bool(log["multiplier"].any()) for log in run.history]
    assert moved == [epoch >= warmup for epoch in range(4)]
    _, free = fit(params, prepared, stack("unconstrained", model), tmp_path / "c.pt")
    if model == "ut":  # DUST's arms have other dictionaries
        for epoch, (log, other) in enumerate(zip(run.history, free.history, strict=True)):
            assert torch.equal(log["loss_train"], other["loss_train"]) == (epoch < warmup)


def test_the_history_has_its_columns_and_a_row_for_each_epoch_and_layer(
    prepared: Prepared, tmp_path: Path
) -> None:
    common = {"epoch", "layer", "loss_train", "loss_validation", "grad_norm", "clipped", "seconds"}
    dual = {"violation_train", "violation_validation", "multiplier", "multiplier_mean", "slack", "weight_mean"}
    for arm, columns in (
        ("constrained", common | dual),
        ("unconstrained", common),
        ("deep_supervision", common | {"weight_mean"}),
    ):
        _, run = fit(small_params(), prepared, stack(arm), tmp_path / "c.pt")
        table = history(run, 2)
        assert set(table) == columns and table["clipped"].between(0, 1).all()
        assert table[["epoch", "layer"]].to_numpy().tolist() == [[e, k] for e in (1, 2, 3, 4) for k in range(4)]
        log = run.history[2]
        rows = table[table["epoch"] == 3]
        assert rows["loss_validation"].tolist() == log["loss_validation"][2].tolist()
        assert rows["grad_norm"].tolist() == [log["grad_norm"][2].item()] * 4
        assert rows["loss_train"].tolist() != history(run, 0)["loss_train"][8:12].tolist()
        assert (rows["grad_norm"] > 0).all() and (rows["seconds"] > 0).all()
        if arm == "constrained":
            f = rows["loss_validation"].to_numpy()
            by_hand = [f[0] / 0.5 - 1, *(f[1:] / f[:-1] - 0.8)]
            np.testing.assert_allclose(rows["violation_validation"], by_hand, atol=1e-5)
            lam = rows["multiplier_mean"].to_numpy()
            weight = [*(lam[:-1] - 0.8 * lam[1:]), 1 + lam[-1]]
            np.testing.assert_allclose(rows["weight_mean"], weight, atol=1e-5)


def training(**changes: object) -> Training:
    return small_params().training.model_copy(update={"warmup": 0.0, **changes})


def test_the_learning_rate_rises_linearly_and_then_follows_half_a_cosine_or_stays() -> None:
    cosine, constant = training(), training(schedule="constant")
    assert [rate(cosine, done) for done in (0.0, 1 / 3, 0.5, 1.0)] == pytest.approx([1, 0.75, 0.5, 0])
    assert [rate(constant, done) for done in (0.0, 0.5, 1.0)] == [1, 1, 1]
    risen = training(warmup=0.2)
    assert [rate(risen, done) for done in (0.0, 0.1, 0.2, 0.6, 1.0)] == pytest.approx([0, 0.5, 1, 0.5, 0])
    shares = [rate(training(warmup=0.25), step / 8, 1 / 8) for step in range(4)]
    assert shares[:3] == pytest.approx([0.5, 1, 1]) and shares[3] < 1, "no step of the rise is without any rate"


class Watched(SequenceTask):
    """Notes how far the weights went since the last training batch."""

    def __init__(self, task: SequenceTask) -> None:
        vars(self).update(vars(task))
        self.places: list[torch.Tensor] = []

    def losses(self, model: nn.Module, batch: Batch) -> torch.Tensor:
        if torch.is_grad_enabled():
            self.places.append(next(model.parameters()).detach().clone())
        return super().losses(model, batch)


def test_the_schedule_is_in_force(prepared: Prepared, tmp_path: Path) -> None:
    def moves(schedule: str) -> list[float]:
        watched: list[Watched] = []
        params = small_params({"training.schedule": schedule})

        def wrap(task: SequenceTask) -> Watched:
            watched.append(Watched(task))
            return watched[0]

        fit(params, prepared, stack("unconstrained"), tmp_path / "c.pt", wrap=wrap)
        places = watched[0].places
        return [(after - before).abs().mean().item() for before, after in pairwise(places)]

    cosine, constant = moves("cosine"), moves("constant")
    assert len(cosine) == 4 * 3 - 1
    assert cosine[:1] == constant[:1], "the first step has the full rate"
    share = [a / b for a, b in zip(cosine, constant, strict=True)]
    assert max(share[9:]) < 2 * rate(training(), 3 / 4) < 0.3


def test_the_rate_is_that_of_the_step_and_not_of_the_epoch(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates, learn = [], Steps.learn

    def watched(self: Steps, batch: Batch, epoch: int, lr: float) -> tuple[torch.Tensor, torch.Tensor]:
        rates.append(lr)
        return learn(self, batch, epoch, lr)

    monkeypatch.setattr(Steps, "learn", watched)
    fit(small_params({"training.warmup": 0.0}), prepared, stack("unconstrained"), tmp_path / "c.pt")
    assert rates == pytest.approx([0.01 * (1 + cos(pi * step / 12)) / 2 for step in range(12)])


@pytest.mark.parametrize(("limit", "share"), [(1e-9, 1.0), (1e9, 0.0)])
def test_the_share_of_clipped_steps_is_told(
    prepared: Prepared, tmp_path: Path, limit: float, share: float
) -> None:
    params = small_params({"training.clip_norm": limit})
    _, run = fit(params, prepared, stack("unconstrained"), tmp_path / "c.pt")
    assert all((log["clipped"] == share).all() for log in run.history)


def test_validation_batches_weigh_as_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    class Held:
        steps, recordable = 1, False

        def validation(self) -> list[tuple[float, int]]:
            return [(1.0, 3), (5.0, 1)]

        def batch(self, epoch: int, step: int) -> None: ...

        def losses(self, model: nn.Module, batch: float) -> torch.Tensor: ...

        def compile(self, how: str) -> None: ...

    monkeypatch.setattr(Steps, "look", lambda self, batch: torch.full((2, 3), batch))
    assert _validate(object.__new__(Steps), Held()).tolist() == 2 * [[2.0, 2.0, 2.0]]
