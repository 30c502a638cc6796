"""What is left to do: what a grid and a study share once, and what is chosen later as the store has it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from descent.cells import grid
from descent.components import of_task
from descent.config import Params
from descent.costs.data import standin
from descent.costs.devices import AtHand
from descent.costs.left import Left
from descent.costs.parts import Costs
from descent.runner import store
from descent.runner.items import Item
from descent.tasks.common.items import setting
from tests.costs.test_estimate import CPU, DUST, enter_demo
from tests.fakes.core import DATASET, enter_project, serially, small_params
from tests.fakes.text import BUDGET, enter_text_project, text_params, train_text


@pytest.mark.parametrize("enter", [enter_demo, enter_project], ids=["prepared", "stood in for"])
def test_a_cell_that_a_study_shares_with_the_grid_is_counted_once(
    enter: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path, monkeypatch)
    study = {"task": "video", "dataset": DATASET, "model": "dust", "layers": 2, "eps": 0.5, "vary": None}
    study |= {"arm": "constrained", "beside": ["unconstrained"], "overrides": {}}
    own = {"studies": ["controls"], "study.controls": study, "profiles.demo.studies.controls": {"seeds": [0, 1]}}
    grid_, studied = Costs(small_params(DUST | own), AtHand(CPU, 2)).parts()
    assert (grid_.cells, grid_.missing) == (12, 12)
    assert (studied.cells, studied.missing) == (4, 2), "the grid has those of seed 0"


def test_trials_and_followers_are_looked_up_in_the_store_under_the_parameters_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_text_project(tmp_path, monkeypatch)
    serially(monkeypatch)
    changes = {"arms": ["constrained", "unconstrained", "replay"], "objectives.replay": {}}
    changes |= {"text.search": {"arms": {"constrained": ["rho"]}}, f"{BUDGET}.models.ut_text": {"layers": [2]}}
    params = text_params(changes)
    every = grid(params, "text", "imdb", "ut_text")

    def left(own: Params) -> list[tuple[str, int]]:
        return [(cell.arm, cell.seed) for cell in Left(own).of_prepared(every[0], every) if cell.eps == 0.0]

    assert len(left(params)) == 6
    train_text(text_params(changes | {BUDGET: {"seeds": [0]}}), "ut_text")
    assert left(params) == [("constrained", 1), ("unconstrained", 1), ("replay", 1)]
    item = train_text(params, "ut_text")
    assert left(params) == []
    assert len(left(text_params(changes | {"text.tolerance": 0.5}))) == 6, "records of other parameters"
    deeper = text_params(changes | {f"{BUDGET}.models.ut_text": {"layers": [2, 1]}})
    both = grid(deeper, "text", "imdb", "ut_text")
    more = [cell for cell in Left(deeper).of_prepared(both[0], both) if cell.eps == 0.0]
    assert {cell.layers for cell in more} == {1} and len(more) == 6, "a depth more ends no search of another"
    first = store.record(item.runs, every[0])["fingerprint"]
    shutil.rmtree(item.runs)
    assert left(params) == [], "the store has them"
    shutil.rmtree(store.folder(first))
    later = [("replay", 0), ("replay", 1)]  # their twins are not known to be there
    assert left(params) == [("constrained", 0), ("constrained", 1), *later]
    train_text(params, "ut_text")
    (store.folder(first) / "cell.json").write_text("{")
    assert left(params) == [("constrained", 1), *later], "damage ends the replay, and no estimate"


def test_trials_and_followers_are_no_cells_of_the_values_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = ["constrained", "unconstrained", "replay"]
    changes = {"arms": arms, "text.search": {"arms": {"constrained": ["rho"]}}, "objectives.replay": {}}
    params = text_params(changes | {"text.models": ["ut_text"]})
    monkeypatch.chdir(tmp_path)
    known = Left(params)
    every = grid(params, "text", "imdb", "ut_text")
    data = standin(params, "imdb", "ut_text", tmp_path)
    feed = of_task("text", "feed").feed(params, data, "ut_text", CPU)
    item = Item("", Path(), every, {cell: setting(params, cell) for cell in every}, feed, lambda: iter(()))
    assert known.of_standin(item, tmp_path) == every
    again = {(cell.arm, cell.seed) for cell in known.of_standin(item, tmp_path)}
    assert again == {("constrained", 1), ("replay", 0), ("replay", 1)}, "those that are chosen later"
    assert known.of_standin(item, tmp_path / "other") == every
