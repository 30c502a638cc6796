"""The trials of a text item and the values of an ablation: what is tried, trained, shared and resumed."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from descent.cells import Cell, ablation_cells, text_cells
from descent.runner import store
from descent.tasks.text.data import Texts, Tokens
from descent.tasks.text.schema import Search
from descent.training import stacks
from descent.training.search import trials
from descent.training.settings import Setting
from tests.fakes.core import serially
from tests.fakes.text import DATASET, TEXT, enter_text_project, text_item, text_params, train_text

BUDGET = "profiles.demo.text"
ITEM = (DATASET, "ut_text", "constrained")
ARMS = ("constrained", "unconstrained")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    return enter_text_project(tmp_path / "project", monkeypatch)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The stacks that were trained, by their cells' names."""
    return serially(monkeypatch)


SEARCH = Search(**TEXT["text.search"])


def asked_settings(
    search: Search, loss: Callable[[int, Cell], float], method: str = "constrained", number: int = 6
) -> list[dict[Cell, Setting]]:
    """The settings of each round, when `loss` answers for trial and cell."""
    params = text_params({f"{BUDGET}.trials": number})
    cells = text_cells(params, DATASET, "ut_text", method)
    problem = params.primal_dual.ut_text if method == "constrained" else None
    base = Setting(0.02, 0.05 if problem else None, problem)
    rounds = trials(cells, dict.fromkeys(cells, base), search)
    found, losses = [], None
    while True:
        try:
            settings = rounds.send(losses)
        except StopIteration:
            assert {cell for settings in found for cell in settings} == set(cells)
            return found
        found.append(settings)
        losses = {cell: loss(len(found) - 1, cell) for cell in settings}


def test_the_search_begins_with_the_value_in_use_and_stays_in_range() -> None:
    found = asked_settings(SEARCH, lambda trial, cell: trial + cell.eps)
    assert [{cell.seed for cell in settings} for settings in found] == [{n} for n in range(6)]
    assert {(s.lr, s.dual_lr, s.problem.rho) for s in found[0].values()} == {(0.02, 0.05, 3.0)}
    later = [setting for settings in found[1:] for setting in settings.values()]
    assert len({(s.dual_lr, s.problem.rho) for s in later}) == 5 * 4, "other values for each depth and noise level"
    assert all(0.005 <= s.dual_lr <= 0.5 and 0.75 <= s.problem.rho <= 12 for s in later)
    assert max(s.dual_lr for s in later) > 5 * min(s.dual_lr for s in later)
    base = found[0][next(iter(found[0]))]
    for setting in later:
        assert setting.lr == base.lr and setting.problem.model_copy(update={"rho": 3.0}) == base.problem


def test_what_is_tried_in_a_setting_does_not_depend_on_the_rest_of_the_grid() -> None:
    def tried(eps: list[float]) -> dict[tuple, Setting]:
        params = text_params({f"{BUDGET}.trials": 4, f"{BUDGET}.eps": eps})
        cells = text_cells(params, DATASET, "ut_text", "constrained")
        base = dict.fromkeys(cells, Setting(0.02, 0.05, params.primal_dual.ut_text))
        rounds, found, losses = trials(cells, base, SEARCH), {}, None
        for _ in range(4):
            settings = rounds.send(losses)
            found |= {(cell.layers, cell.eps, cell.seed): setting for cell, setting in settings.items()}
            losses = {cell: setting.dual_lr for cell, setting in settings.items()}
        return found

    few, many = tried([0.0]), tried([0.0, 0.2, 1.0])
    assert len(few) == 16 and few == {key: many[key] for key in few}
    assert len({setting.dual_lr for key, setting in many.items() if key[2] == 3}) == 8


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
    found = asked_settings(SEARCH, lambda trial, cell: 0.5, method="unconstrained")
    assert {s.lr for s in found[0].values()} == {0.02}
    later = [setting for settings in found[1:] for setting in settings.values()]
    assert len({s.lr for s in later}) == 20 and all(0.006 <= s.lr <= 0.06 for s in later)
    assert all(s.dual_lr is None and s.problem is None for s in later)


def settings_of(*words: str, params: object = None) -> dict[tuple, Setting]:
    item = text_item(params or text_params(), *words)
    records = {cell: store.record(item.runs, cell) for cell in item.cells}
    return {(c.layers, c.eps, c.seed): Setting.recorded(r["setting"]) for c, r in records.items()}


def test_trials_train_one_after_another_and_their_records_hold_what_was_chosen(
    project: Tokens, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Tokens.split

    def split(self: Tokens, name: str) -> Texts:
        assert name != "test", "training and selection see no test text"
        return original(self, name)

    monkeypatch.setattr(Tokens, "split", split)
    params = text_params()
    item = train_text(params, *ITEM)
    names = [f"L{depth}-eps{eps}-seed{seed}" for seed in (0, 1) for depth in (2, 3) for eps in (0.0, 0.4)]
    assert [name for names in trained for name in names] == names and [len(names) for names in trained] == [2] * 4
    assert item.searched == [cell for cell in item.cells if cell.seed == 1]
    for place, setting in settings_of(*ITEM).items():
        assert (setting.dual_lr == 0.05 and setting.problem.rho == 3.0) == (place[2] == 0)
    for cell in item.cells:
        place = item.runs / cell.name
        log = np.genfromtxt(place / "history.csv", delimiter=",", names=True)
        record = store.record(item.runs, cell)
        last = log["loss_validation"][(log["epoch"] == record["epoch"]) & (log["layer"] == cell.layers)]
        assert (
            store.validation_loss(record["fingerprint"])
            == last.item()
            == log["loss_validation"][log["layer"] == cell.layers].min()
        )
        assert log["loss_train"][-1] < log["loss_train"][cell.layers], "it learns"
    train_text(params, *ITEM)
    assert len(trained) == 4, "all is in the store"


def test_the_unconstrained_arm_has_seeds_or_its_own_search(project: Tokens, trained: list) -> None:
    words = (DATASET, "ut_text", "unconstrained")
    train_text(text_params({f"{BUDGET}.ut_text.layers": [2]}), *words)
    params = text_params({f"{BUDGET}.ut_text.layers": [2]})
    assert {s.lr for s in settings_of(*words, params=params).values()} == {0.02} and len(trained) == 2
    params = text_params({f"{BUDGET}.ut_text.layers": [2], "text.search.unconstrained": "lr"})
    train_text(params, *words)
    rates = {place: setting.lr for place, setting in settings_of(*words, params=params).items()}
    assert {rate for place, rate in rates.items() if place[2] == 0} == {0.02}
    assert len({rate for place, rate in rates.items() if place[2] == 1} - {0.02}) == 2
    assert len(trained) == 4, "the first trial was in the store; the searched ones have a rate and a stack each"


def test_an_item_all_of_whose_trials_diverge_is_trained_to_the_end(project: Tokens, trained: list) -> None:
    params = text_params({"training.diverged_above": 1e-6, f"{BUDGET}.trials": 3})
    item = train_text(params, *ITEM)
    records = [store.record(item.runs, cell) for cell in item.cells]
    assert len(records) == 12 and all(record["diverged"] and record["epoch"] == 0 for record in records)
    assert {store.validation_loss(record["fingerprint"]) for record in records} == {math.inf}


def test_rounds_that_were_interrupted_go_on_with_the_same_trials(
    project: Tokens, tmp_path: Path, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = text_params(
        {f"{BUDGET}.trials": 3, f"{BUDGET}.ut_text.layers": [2], "training.checkpoint_seconds": 0.0}
    )
    item = train_text(params, *ITEM)
    calm = {cell: (store.record(item.runs, cell), store.weights(item.runs, cell)) for cell in item.cells}
    enter_text_project(tmp_path / "other", monkeypatch)
    epochs, original = [], stacks.train
    trained.clear()

    def fragile(*arguments: object, progress: Callable, **others: object) -> object:
        def tell(epoch: int, f: Tensor) -> None:
            epochs.append(epoch)
            if len(epochs) in (5, 8):
                raise KeyboardInterrupt
            progress(epoch, f)

        return original(*arguments, progress=tell, **others)

    monkeypatch.setattr(stacks, "train", fragile)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train_text(params, *ITEM)
        assert not item.runs.exists()
    train_text(params, *ITEM)
    assert epochs == [1, 2, 3, 1, 2, 2, 3, 1, 1, 2, 3]
    assert [{name[-5:] for name in names} for names in trained] == [{f"seed{seed}"} for seed in (0, 1, 1, 2, 2)], (
        "a finished trial is not trained again"
    )
    for cell, (record, weights) in calm.items():
        assert store.record(item.runs, cell) == record
        assert all(torch.equal(value, weights[name]) for name, value in store.weights(item.runs, cell).items())


def test_an_ablation_takes_what_the_text_experiment_has_trained(project: Tokens, trained: list) -> None:
    params = text_params({f"{BUDGET}.trials": 1, f"{BUDGET}.ut_text.layers": [3]})
    for method in ARMS:
        train_text(params, DATASET, "ut_text", method)
    before, known = len(trained), {name for names in trained for name in names}
    assert known == {"L3-eps0.0-seed0", "L3-eps0.4-seed0"}
    text = {m: text_item(params, DATASET, "ut_text", m) for m in ARMS}
    for experiment, used, others in (
        ("alpha", "0.1", {"0.05"}),
        ("dual_lr", "0.05", {"0.01"}),
        ("resilience", "decay", {"none"}),
    ):
        item = train_text(params, experiment)
        assert {cell.varied for cell in item.cells} == {"", used} | others and not item.searched
        for cell in item.cells:
            (twin,) = (c for c in text[cell.method].cells if c.eps == cell.eps)
            shared = cell.varied in ("", used)
            one = item.fingerprint(cell, item.settings[cell])
            assert (one == text[cell.method].fingerprint(twin, text[cell.method].settings[twin])) == shared
            assert store.record(item.runs, cell)["fingerprint"] == one
        new = [name for names in trained[before:] for name in names]
        assert {name.split("-")[-1] for name in new} == others
        before = len(trained)


def test_each_value_of_an_ablation_is_trained_as_it_would_be_alone(project: Tokens, trained: list) -> None:
    sizes = {"together": 100000, "alone": 1}
    for experiment in ("alpha", "dual_lr", "resilience"):
        found = {}
        for name, elements in sizes.items():
            shutil.rmtree(store.root(), ignore_errors=True)
            trained.clear()
            params = text_params({"training.stack_elements.cpu": elements, f"{BUDGET}.ut_text.layers": [2]})
            item = train_text(params, experiment)
            assert max(map(len, trained)) == (1 if name == "alone" or experiment == "resilience" else 2)
            found[name] = {cell.varied: store.weights(item.runs, cell) for cell in item.cells}
        for varied, weights in found["alone"].items():
            for name, value in weights.items():
                torch.testing.assert_close(found["together"][varied][name], value, rtol=0, atol=1e-4)
        values = list(found["alone"])
        gap = max((found["alone"][values[1]][n] - v).abs().max() for n, v in found["alone"][values[2]].items())
        assert gap > 1e-3, "the values differ in what they do"


def test_an_ablation_has_the_unconstrained_arm_and_every_value_for_every_seed() -> None:
    params = text_params({"profiles.demo.ablation.seeds": 2})
    cells = ablation_cells(params, "alpha")
    assert [(c.method, c.varied, c.seed) for c in cells] == [
        (method, varied, seed)
        for seed in (0, 1)
        for method, varied in (("unconstrained", ""), ("constrained", "0.05"), ("constrained", "0.1"))
    ]
    assert {(c.layers, c.eps) for c in cells} == {(3, 0.4)} and len({c.name for c in cells}) == 6


def test_pretrained_weights_replaced_in_their_folder_are_other_weights(project: Tokens, tmp_path: Path) -> None:
    file = tmp_path / "weights/model.safetensors"
    file.parent.mkdir()
    params = text_params({f"{BUDGET}.distilbert.weights": {"random": None, "path": str(file.parent)}})

    def fingerprints() -> list[str]:
        item = text_item(params, DATASET, "distilbert", "unconstrained")
        return [item.fingerprint(cell, item.settings[cell]) for cell in item.cells]

    file.write_bytes(b"one")
    first = fingerprints()
    file.write_bytes(b"two")
    second = fingerprints()
    file.write_bytes(b"one")
    assert first == fingerprints() and not set(first) & set(second)
