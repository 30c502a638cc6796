"""The trials of a text item as they are trained: one after another, recorded, and resumed."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from descent.config import Params
from descent.runner import store
from descent.runner.stored import Stored
from descent.tasks.text.data import Texts, Tokens
from descent.training import stack
from descent.training.arm import Setting
from tests.fakes.text import ARMS, BUDGET, RATE, enter_text_project, text_item, text_params, train_text

MODEL = f"{BUDGET}.models.ut_text"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    return enter_text_project(tmp_path / "project", monkeypatch)


def settings_of(arm: str, params: Params) -> dict[tuple, Setting]:
    """By depth, level and trial, as the records of the cells of an arm tell."""
    item = text_item(params, "ut_text")
    records = {cell: store.record(item.runs, cell) for cell in item.cells if cell.arm == arm}
    return {(c.layers, c.eps, c.seed): Setting.recorded(r["setting"]) for c, r in records.items()}


@pytest.mark.slow
def test_trials_train_one_after_another_and_their_records_hold_what_was_chosen(
    project: Tokens, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Tokens.split

    def split(self: Tokens, name: str) -> Texts:
        assert name != "test", "training and selection see no test text"
        return original(self, name)

    monkeypatch.setattr(Tokens, "split", split)
    params = text_params()
    item = train_text(params, "ut_text")
    names = [
        f"{arm}-L{depth}-eps{eps}-seed{seed}"
        for seed in (0, 1)
        for arm in ARMS
        for depth in (2, 3)
        for eps in (0.0, 0.4)
    ]
    done = [name for stack in trained for name in stack]
    assert [sorted(done[:8]), sorted(done[8:])] == [sorted(names[:8]), sorted(names[8:])], "trial after trial"
    assert [len(stack) for stack in trained] == [2] * 8
    assert item.searched == [cell for cell in item.cells if cell.seed == 1 and cell.arm == "constrained"]
    for place, found in settings_of("constrained", params).items():
        assert (found.values.dual_lr == 0.05 and found.values.rho == 3.0) == (place[2] == 0)
    for cell in item.cells:
        place = item.runs / cell.name
        log = np.genfromtxt(place / "history.csv", delimiter=",", names=True)
        record = store.record(item.runs, cell)
        last = log["loss_validation"][(log["epoch"] == record["epoch"]) & (log["layer"] == cell.layers)]
        assert (
            Stored(store.folder(record["fingerprint"])).validation_loss
            == last.item()
            == log["loss_validation"][log["layer"] == cell.layers].min()
        )
        assert log["loss_train"][-1] < log["loss_train"][cell.layers], "it learns"
    train_text(params, "ut_text")
    assert len(trained) == 8, "all is in the store"


def test_the_unconstrained_arm_has_seeds_or_its_own_search(project: Tokens, trained: list) -> None:
    params = text_params({f"{MODEL}.layers": [2]})
    train_text(params, "ut_text")
    assert {s.lr for s in settings_of("unconstrained", params).values()} == {0.02} and len(trained) == 4
    params = text_params({f"{MODEL}.layers": [2]} | RATE)
    train_text(params, "ut_text")
    rates = {place: setting.lr for place, setting in settings_of("unconstrained", params).items()}
    assert {rate for place, rate in rates.items() if place[2] == 0} == {0.02}
    assert len({rate for place, rate in rates.items() if place[2] == 1} - {0.02}) == 2
    assert len(trained) == 6, "the first trial was in the store; the searched ones have a rate and a stack each"


@pytest.mark.slow
def test_an_item_all_of_whose_trials_diverge_is_trained_to_the_end(project: Tokens, trained: list) -> None:
    params = text_params({"training.diverged_above": 1e-6, f"{BUDGET}.seeds": [0, 1, 2]})
    item = train_text(params, "ut_text")
    records = [store.record(item.runs, cell) for cell in item.cells]
    assert len(records) == 24 and all(record["diverged"] and record["epoch"] == 0 for record in records)
    assert {Stored(store.folder(record["fingerprint"])).validation_loss for record in records} == {math.inf}


def timeless(record: dict) -> dict:
    """A cell's record without how long it took."""
    return record | {"files": {}, "made_by": record["made_by"] | {"seconds": 0, "began": 0, "finished": 0}}


@pytest.mark.slow
def test_rounds_that_were_interrupted_go_on_with_the_same_trials(
    project: Tokens, tmp_path: Path, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {f"{BUDGET}.seeds": [0, 1, 2], f"{MODEL}.layers": [2], "training.checkpoint_seconds": 0.0}
    params = text_params(one)
    item = train_text(params, "ut_text")
    calm = {
        cell: (timeless(store.record(item.runs, cell)), Stored(item.runs / cell.name).weights)
        for cell in item.cells
    }
    enter_text_project(tmp_path / "other", monkeypatch)
    epochs, original = [], stack.train
    trained.clear()

    def fragile(*arguments: object, progress: Callable, **others: object) -> object:
        def tell(epoch: int, f: Tensor) -> None:
            epochs.append(epoch)
            if len(epochs) in (5, 11):
                raise KeyboardInterrupt
            progress(epoch, f)

        return original(*arguments, progress=tell, **others)

    monkeypatch.setattr(stack, "train", fragile)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train_text(params, "ut_text")
        assert not item.runs.exists()
    train_text(params, "ut_text")
    # Two stacks a trial, one an arm: the second of trial 0 is interrupted, then the second of trial 1.
    assert epochs == [1, 2, 3, 1, 2, 2, 3, 1, 2, 3, 1, 1, 2, 3, 1, 2, 3, 1, 2, 3]
    begun = [{tuple(name.split("-")[i] for i in (0, 3)) for name in names} for names in trained]
    of = {number: [{(arm, f"seed{number}")} for arm in ARMS] for number in range(3)}
    assert begun == [*of[0], of[0][1], *of[1], of[1][1], *of[2]], "a finished trial is not trained again"
    for cell, (record, weights) in calm.items():
        assert timeless(store.record(item.runs, cell)) == record
        assert all(
            torch.equal(value, weights[name]) for name, value in Stored(item.runs / cell.name).weights.items()
        )
