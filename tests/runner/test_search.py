"""The trials of a text item: what is tried, what follows from it, and what is chosen."""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from descent.cells import Cell, grid, searched
from descent.errors import UserError
from descent.runner import store
from descent.runner.search import rank, trials
from descent.schema import validated
from descent.tasks.common.items import setting
from descent.training.arm import Setting
from descent.training.schema import Range, Search
from tests.fakes.text import ARMS, BUDGET, DATASET, RATE, TEXT, text_params

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


def test_a_range_that_reaches_what_the_arm_does_not_take_is_told_before_anything_is_trained() -> None:
    """Of each value alone, and of the ends of two ranges together."""
    told = r"a trial of constrained within text\.search\.ranges is not right:\n  alpha: .* less than 1, not 1\.0"
    margin = {f"{BUDGET}.models.ut_text.arms.constrained.margin": 0.1}
    for ends, changes, said in (
        ({"alpha": 10.0}, {}, told),
        ({"alpha": 5.0, "margin": 5.0}, margin, r"alpha 0\.5 and margin 0\.5 leave a layer no loss"),
    ):
        ranges = {name: Range(low=0.5, high=high) for name, high in ends.items()}
        wide = SEARCH.model_copy(update={"ranges": ranges, "arms": {"constrained": [*ends]}})
        with pytest.raises(UserError, match=said):
            next(trials(base("constrained", 2, **changes), wide, lambda name: 0.5))
        alone = base("constrained", 1, **changes)
        assert next(trials(alone, wide, lambda name: 0.5)) == alone, "the value in use is all that is tried"


def test_a_trial_is_ranked_by_its_violation_first_and_by_its_loss_among_those_that_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = {  # violation, last loss
        "tight": (0.01, 5.0),
        "better": (-0.3, 0.4),
        "missed": (0.3, 0.1),
        "missed more": (0.5, 0.1),
        "no number": (math.nan, 0.1),
    }
    for name, (violation, loss) in cells.items():
        place = store.folder(name)
        place.mkdir(parents=True)
        lines = f"1,0,9,{violation},0\n1,1,{loss},0,0\n"
        (place / "history.csv").write_text(f"epoch,layer,loss_validation,violation_validation,multiplier\n{lines}")
        (place / "cell.json").write_text(json.dumps({"epoch": 1, "diverged": False}))
    ranks = {name: rank(name, tolerance=0.02) for name in cells}
    assert sorted(ranks, key=ranks.get) == ["better", "tight", "missed", "missed more", "no number"]
    assert rank("no number", tolerance=0.02) == math.inf
    (store.folder("better") / "cell.json").write_text(json.dumps({"epoch": 1, "diverged": True}))
    assert rank("better", tolerance=0.02) == math.inf
