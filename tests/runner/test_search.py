"""The trials of a text item: what is tried, trained, chosen and resumed."""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from descent.cells import Cell, grid, searched
from descent.config import Params
from descent.runner import store
from descent.runner.search import rank, trials
from descent.runner.stored import Stored
from descent.schema import validated
from descent.tasks.common.items import setting
from descent.tasks.text.data import Texts, Tokens
from descent.training import stack
from descent.training.arm import Setting
from descent.training.schema import Search
from tests.fakes.core import serially
from tests.fakes.text import BUDGET, DATASET, TEXT, enter_text_project, text_item, text_params, train_text

MODEL = f"{BUDGET}.models.ut_text"
ARMS = ("constrained", "unconstrained")
RATE = {"text.search": {"arms": {"constrained": ["dual_lr", "rho"], "unconstrained": ["lr"]}}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    return enter_text_project(tmp_path / "project", monkeypatch)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The stacks that were trained, by their cells' names."""
    return serially(monkeypatch)


SEARCH = validated(Search, TEXT["text.search"], "text.search")


def base(arm: str, number: int, **changes: object) -> dict[Cell, Setting]:
    """The values in use of an arm's cells in so many trials."""
    params = text_params({f"{BUDGET}.seeds": list(range(number))} | changes)
    cells = [cell for cell in grid(params, "text", DATASET, "ut_text") if cell.arm == arm]
    return {cell: setting(params, cell) for cell in cells}


def by_name(cells: Iterable[Cell], name: str) -> Cell:
    """The cell that went to the store under this name."""
    return next(cell for cell in cells if f"{cell}" == name)


def asked_settings(
    search: Search, loss: Callable[[int, Cell], float], arm: str = "constrained", number: int = 6
) -> list[dict[Cell, Setting]]:
    """The settings of each round, when `loss` answers for trial and cell."""
    used = base(arm, number)
    losses: dict[Cell, float] = {}
    rounds, found, names = trials(used, search, lambda name: losses[by_name(used, name)]), [], None
    while True:
        try:
            settings = rounds.send(names)
        except StopIteration:
            assert {cell for settings in found for cell in settings} == set(used)
            return found
        found.append(settings)
        losses.update({cell: loss(len(found) - 1, cell) for cell in settings})
        names = {cell: f"{cell}" for cell in settings}


def test_the_search_begins_with_the_value_in_use_and_stays_in_range() -> None:
    found = asked_settings(SEARCH, lambda trial, cell: trial + cell.eps)
    assert [{cell.seed for cell in settings} for settings in found] == [{n} for n in range(6)]
    assert {(s.lr, s.values.dual_lr, s.values.rho) for s in found[0].values()} == {(0.02, 0.05, 3.0)}
    later = [setting for settings in found[1:] for setting in settings.values()]
    assert len({(s.values.dual_lr, s.values.rho) for s in later}) == 5 * 4, (
        "other values for each depth and noise level"
    )
    assert all(0.005 <= s.values.dual_lr <= 0.5 and 0.75 <= s.values.rho <= 12 for s in later)
    assert max(s.values.dual_lr for s in later) > 5 * min(s.values.dual_lr for s in later)
    (used,) = {setting.values.model_dump_json() for setting in found[0].values()}
    for tried in later:
        as_before = tried.values.model_copy(update={"rho": 3.0, "dual_lr": 0.05})
        assert tried.lr == 0.02 and as_before.model_dump_json() == used


def test_what_is_tried_in_a_setting_does_not_depend_on_the_rest_of_the_grid() -> None:
    def tried(eps: list[float]) -> dict[tuple, Setting]:
        rates: dict[str, float] = {}
        used = base("constrained", 4, **{f"{BUDGET}.eps": eps})
        rounds, found, names = trials(used, SEARCH, lambda name: rates[name]), {}, None
        for _ in range(4):
            settings = rounds.send(names)
            found |= {(cell.layers, cell.eps, cell.seed): setting for cell, setting in settings.items()}
            names = {cell: f"{cell}" for cell in settings}
            rates |= {name: settings[cell].values.dual_lr for cell, name in names.items()}
        return found

    few, many = tried([0.0]), tried([0.0, 0.2, 1.0])
    assert len(few) == 16 and few == {key: many[key] for key in few}
    assert len({setting.values.dual_lr for key, setting in many.items() if key[2] == 3}) == 8


def test_the_search_follows_the_losses_and_its_seed_and_nothing_else() -> None:
    def falling(trial: int, cell: Cell) -> float:
        return 1 / (trial + 1)

    first = asked_settings(SEARCH, falling)
    assert asked_settings(SEARCH, falling) == first
    other = asked_settings(SEARCH.model_copy(update={"seed": 1}), falling)
    assert other[0].values() != other[1].values() and other[1:] != first[1:]
    rising = asked_settings(SEARCH, lambda trial, cell: float(trial))
    assert rising[:2] == first[:2] and rising[4:] != first[4:], "what was seen is heeded once it is modelled"


def test_a_trial_that_diverged_does_not_end_the_search() -> None:
    for bad in (math.inf, math.nan):
        found = asked_settings(SEARCH, lambda trial, cell, bad=bad: bad if trial in (0, 2) else 0.5)
        assert len(found) == 6


def test_without_constraints_the_rate_may_be_searched() -> None:
    search = SEARCH.model_copy(update={"arms": {"unconstrained": ["lr"]}})
    found = asked_settings(search, lambda trial, cell: 0.5, arm="unconstrained")
    assert {s.lr for s in found[0].values()} == {0.02}
    later = [setting for settings in found[1:] for setting in settings.values()]
    assert len({s.lr for s in later}) == 20 and all(0.006 <= s.lr <= 0.06 for s in later)
    assert all(s.arm == "unconstrained" and not s.values.model_dump() for s in later)


def test_arms_that_vary_nothing_are_as_many_seeds_beside_the_search_of_another() -> None:
    used = base("constrained", 3) | base("unconstrained", 3)
    rounds, names = trials(used, SEARCH, lambda name: 0.5), None
    for number in range(3):
        settings = rounds.send(names)
        assert {(cell.arm, cell.seed) for cell in settings} == {(arm, number) for arm in ARMS}
        assert all(
            own == used[cell] for cell, own in settings.items() if cell.arm == "unconstrained" or not number
        )
        names = {cell: f"{cell}" for cell in settings}
    params = text_params(RATE | {f"{BUDGET}.seeds": [1, 0, 2]})
    plain = params.model_copy(update={"text": params.text.model_copy(update={"search": SEARCH})})
    assert {cell for cell in used if searched(plain, cell)} == {
        cell for cell in used if cell.arm == "constrained" and cell.seed
    }
    study = replace(next(cell for cell in used if cell.seed == 2), experiment="alpha")
    assert not searched(plain, study), "studies are never searched"
    *_, alone = asked_settings(SEARCH, lambda trial, cell: 0.5, number=3)
    assert {cell: settings[cell] for cell in alone} == alone, "whoever is beside it"


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
    return record | {"files": {}, "made_by": record["made_by"] | {"seconds": 0, "finished": 0}}


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


def test_a_trial_is_ranked_by_its_violation_first_and_by_its_loss_among_those_that_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = {  # violation, last loss
        "tight": (0.01, 5.0),
        "better": (-0.3, 0.4),
        "missed": (0.3, 0.1),
        "missed more": (0.5, 0.1),
    }
    for name, (violation, loss) in cells.items():
        place = store.folder(name)
        place.mkdir(parents=True)
        lines = f"1,0,9,{violation},0\n1,1,{loss},0,0\n"
        (place / "history.csv").write_text(f"epoch,layer,loss_validation,violation_validation,multiplier\n{lines}")
        (place / "cell.json").write_text(json.dumps({"epoch": 1, "diverged": False}))
    ranks = {name: rank(name, tolerance=0.02) for name in cells}
    assert sorted(ranks, key=ranks.get) == ["better", "tight", "missed", "missed more"]
    (store.folder("better") / "cell.json").write_text(json.dumps({"epoch": 1, "diverged": True}))
    assert rank("better", tolerance=0.02) == math.inf
