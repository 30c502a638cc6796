"""A cell on the test inputs of another data set: its own sigma, and the ordinary score where data are its own."""

import json
from pathlib import Path

import pandas as pd
import pytest

from descent import paths
from descent.analysis import results
from descent.analysis.select import TRAINED, TRANSFER, select
from descent.config import Params
from descent.errors import UserError
from descent.schema import validated
from descent.tasks.video import transfer
from descent.tasks.video.schema import VideoEvaluation
from tests.fakes.core import (
    enter_project,
    evaluate_cells,
    serially,
    small_params,
    train_cells,
    write_prepared,
)

NAMES = ["ucsd", "avenue"]
CHANGES = {
    "video.datasets": NAMES,
    "video.models": ["dust"],
    "video.evaluation": {"transfer": [0.25]},
    "profiles.demo.video": {"layers": [2], "epochs": 2},
}
SCORES = ["arm", "layers", "eps", "gamma", "layer", "metric", "value"]


def louder(folder: Path) -> None:
    """Let a prepared data set claim a sigma three times as large."""
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"sigma": 3 * meta["sigma"]}))


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """UCSD trained, and as Avenue a copy of it that claims another sigma."""
    serially(monkeypatch)
    enter_project(tmp_path / "project", monkeypatch)
    write_prepared(Path("data/prepared/avenue"), seed=0)
    louder(Path("data/prepared/avenue"))
    params = small_params(CHANGES)
    for name in NAMES:
        train_cells(params, "video", name, "dust")
    return params


def elsewhere(params: Params) -> pd.DataFrame:
    """The rows of both data sets' cells on the other one, as their stage writes them."""
    results.write(transfer.of_all(params), paths.TRANSFER_SCORES)
    return pd.read_parquet(paths.TRANSFER_SCORES)


def test_on_a_copy_of_its_own_data_set_a_cell_scores_as_on_its_own_with_its_own_sigma(params: Params) -> None:
    found = elsewhere(params)
    assert set(found["shift"]) == {TRANSFER} and set(found["split"]) == {"test"}
    assert set(zip(found["dataset"], found["tested"], strict=True)) == {("ucsd", "avenue"), ("avenue", "ucsd")}
    for name in NAMES:
        own = select(evaluate_cells(params, "video", name), shift=TRAINED, split="test")
        mine = select(found, dataset=name)
        ordinary = own[own["metric"].isin(set(mine["metric"]))].merge(
            mine[["arm", "eps", "gamma"]].drop_duplicates()
        )
        pd.testing.assert_frame_equal(_sorted(mine), _sorted(ordinary), rtol=1e-6)
    levels = found.groupby("eps")["gamma"].agg(set).to_dict()
    assert levels == {0.0: {0.0, 0.25}, 0.13: {0.13, 0.25}, 0.5: {0.25, 0.5}}, "its own and no neighbour's"
    assert {"loss", "rmse", "rmse_clipped", "psnr"} <= set(found["metric"])
    rmse = select(found, metric="rmse", arm="unconstrained", gamma=0.25, eps=0.0).set_index("dataset")["value"]
    assert rmse["avenue"] > 1.5 * rmse["ucsd"], "the noise has the sigma of the training set, three times as large"


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[SCORES].sort_values(SCORES[:-1], ignore_index=True)


def test_what_was_scored_before_is_taken_from_the_store_and_other_test_data_are_scored_anew(
    params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept, known = [], transfer.sweep

    def sweep(*arguments: object) -> object:
        swept.append(1)
        return known(*arguments)

    monkeypatch.setattr(transfer, "sweep", sweep)
    first = elsewhere(params)
    once = len(swept)
    assert once > 0
    pd.testing.assert_frame_equal(elsewhere(params), first)
    assert len(swept) == once
    write_prepared(Path("data/prepared/avenue"), seed=1)
    with pytest.raises(UserError, match="trained with other parameters, data or code"):
        elsewhere(params)
    assert len(swept) == once, "nothing is scored before all cells are known to be there"
    train_cells(params, "video", "avenue", "dust")
    elsewhere(params)
    assert len(swept) > once


def test_one_data_set_has_no_other_to_be_tested_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_project(tmp_path / "project", monkeypatch)
    alone = small_params(CHANGES | {"video.datasets": ["ucsd"]})
    assert transfer.of_all(alone).empty
    none = small_params(CHANGES | {"video.datasets": []})
    assert transfer.of_all(none).empty


def test_a_level_without_an_ordinary_score_beside_it_is_refused_in_one_sentence() -> None:
    values = small_params().video.evaluation.model_dump() | {"transfer": [0.25, 0.33]}
    with pytest.raises(UserError) as told:
        validated(VideoEvaluation, values, "video.evaluation")
    assert "transfer: 0.33 is none of gammas, so nothing would stand beside it" in str(told.value)
