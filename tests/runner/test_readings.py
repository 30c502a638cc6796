"""A study may give a name to settings of the model: every arm then trains such models, and each is compared with
the baseline of its own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from descent import paths
from descent.analysis import controls
from descent.cells import Cell, study_cells
from descent.config import Params
from descent.errors import UserError
from descent.runner import items
from descent.runner.stored import Stored
from descent.tasks.common.items import of_model, of_study, readings
from tests.fakes.core import evaluate_cells, small_params

pytestmark = pytest.mark.usefixtures("project")

ARMS = ("constrained", "unconstrained")
NAMED = {"as it is": {}, "half": {"model": {"kappa": 0.5}}, "half, capped": {"model": {"kappa": 0.5}, "R0": 0.5}}


def params_of(named: dict[str, Any], changes: dict[str, Any] | None = None) -> Params:
    study = {"vary": None, "overrides": {}, "named": named, "layers": 3, "eps": 0.13, "beside": ["unconstrained"]}
    return small_params({"study.infeasible": study, "profiles.demo.studies.infeasible": {}} | (changes or {}))


def names_of(params: Params) -> dict[tuple[str, str], str]:
    """The names in the store of the study's cells, by arm and word."""
    found = [(item, cell) for item in of_study(params, "infeasible") for cell in item.cells]
    return {(cell.arm, cell.varied): item.fingerprint(cell, item.settings[cell]) for item, cell in found}


def in_the_grid(arm: str, changes: dict[str, Any]) -> str:
    """The name of the grid's cell where params.yaml itself says so."""
    item = of_model(small_params(changes), "video", "ucsd", "dust")
    cell = Cell("video", "ucsd", "dust", arm, 3, 0.13, 0)
    return item.fingerprint(cell, item.settings[cell])


def test_every_arm_trains_every_reading_and_the_baseline_each_once() -> None:
    cells = study_cells(params_of(NAMED), "infeasible")
    own = [("unconstrained", ""), ("unconstrained", "half"), ("unconstrained", "half, capped")]
    assert [(c.arm, c.varied) for c in cells] == [*own, *(("constrained", word) for word in NAMED)]


def test_a_reading_is_what_the_grid_trains_where_params_say_so() -> None:
    names = names_of(params_of(NAMED))
    capped = {"objectives.constrained.models.dust": {"R0": 0.5}}
    for arm, usual in (("constrained", "as it is"), ("unconstrained", "")):
        assert names[arm, usual] == in_the_grid(arm, {})
        assert names[arm, "half"] == in_the_grid(arm, {"models.dust.kappa": 0.5}) != names[arm, usual]
    assert names["constrained", "half, capped"] == in_the_grid("constrained", {"models.dust.kappa": 0.5} | capped)
    assert names["unconstrained", "half, capped"] == names["unconstrained", "half"]


def test_a_reading_takes_the_place_of_what_one_arm_has() -> None:
    params = params_of({"one": {"model": {"dictionaries": "shared"}}})
    assert params.model_settings("dust", "constrained")["dictionaries"] == "per_layer"
    [(own, _)] = readings(params, "infeasible")
    assert {own.model_settings("dust", arm)["dictionaries"] for arm in ARMS} == {"shared"}


def test_what_all_variants_replace_of_the_model_stands_beside_what_one_does() -> None:
    everywhere = {"model": {"threshold": 0.2}, "R0": 0.7}
    params = params_of({"half": {"model": {"kappa": 0.5}}}, {"study.infeasible.overrides": everywhere})
    study = params.studied("infeasible")
    assert study.reading("half") == {"threshold": 0.2, "kappa": 0.5}
    assert study.variants() == {"half": {"R0": 0.7}}


def test_readings_train_into_one_folder_and_are_compared_each_with_its_own() -> None:
    params = params_of({"as it is": {}, "half": {"model": {"kappa": 0.5}}}, {"studies": ["infeasible"]})
    items.train("studies", of_study(params, "infeasible"))
    runs = paths.study_runs_folder("infeasible")
    assert {place.name for place in runs.iterdir()} == {cell.name for cell in study_cells(params, "infeasible")}
    weights = {cell.varied: weights_of(runs / cell.name) for cell in study_cells(params, "infeasible")[:2]}
    assert np.abs(weights[""] - weights["half"]).max() > 1e-4
    found = controls.trained_cells(evaluate_cells(params, "infeasible"), params).set_index(["arm", "varied"])
    for ours, plain in (("as it is", ""), ("half", "half")):
        gain = found.loc[("constrained", ours), "score_out"] - found.loc[("unconstrained", plain), "score_out"]
        assert found.loc[("constrained", ours), "gain_out"] == pytest.approx(gain, abs=1e-12)
    assert found.loc[("unconstrained", "half"), "gain_out"] == 0


def weights_of(folder: Path) -> np.ndarray:
    (only,) = Stored(folder).weights.values()
    return only.numpy()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"model": {"kapa": 0.5}}, r"study\.infeasible: models\.dust.*kapa"),
        ({"model": {"kappa": 1.5}}, r"study\.infeasible: models\.dust.*kappa"),
        ({"model": {"tokenizer": "roberta"}}, r"study\.infeasible is not right.*model cannot hold tokenizer"),
        ({"model": {"arms": {}}}, r"study\.infeasible is not right.*model cannot hold arms"),
        ({"model": 0.5}, r"study\.infeasible is not right.*model should hold settings of the model"),
    ],
)
def test_a_reading_that_the_model_does_not_have_is_one_sentence(values: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=rf"(?s){said}"):
        of_study(params_of({"wrong": values}), "infeasible")


@pytest.mark.parametrize("word", ["../escaped", "1/3", ".hidden", "", "NA", "None", "two\nlines"])
def test_a_word_that_is_no_folder_or_reads_as_nothing_is_one_sentence(word: str) -> None:
    """It names folders, and stands in tables."""
    with pytest.raises(UserError, match="cannot be the name of a folder and a word in a table"):
        params_of({"as it is": {}, word: {"alpha": 0.3}}).studied("infeasible")
