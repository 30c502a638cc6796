"""The rows that a matrix item gives: complete, in agreement, and missing where nothing is known."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from torch import nn

from descent import results
from descent.cells import Cell, runs_folder, scores_file
from descent.datasets.video import Prepared, Sequences
from descent.errors import UserError
from descent.evaluation import video as evaluation
from descent.evaluation.sweeps import Sweep, sweep
from descent.training import video
from tests.fakes_core import TOKENS, enter_project, serially, small_params

ITEM = ("video", "ucsd", "dust", "constrained")
OUT = runs_folder(*ITEM)


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    serially(monkeypatch)
    return enter_project(tmp_path / "project", monkeypatch)


def test_the_sweep_has_every_training_level_once(prepared: Prepared) -> None:
    params = small_params({"eps": 0.13, "evaluation.gammas": [1, 0.0, 0.25, 0.5]})
    assert evaluation.gammas(params, "video") == [0.0, 0.13, 0.25, 0.5, 1.0]
    assert evaluation.gammas(params, "infeasible") == [0.0, 0.13, 0.25, 0.3, 0.5, 1.0]


def evaluated(**changes: object) -> pd.DataFrame:
    params = small_params(changes)
    evaluation.evaluate_cells(params, *ITEM)
    return pd.read_parquet(scores_file(*ITEM))


def test_the_rows_of_a_matrix_item_are_complete_and_agree_with_each_other(prepared: Prepared) -> None:
    params = small_params()
    video.train_cells(params, *ITEM)
    table = evaluated()
    assert list(table) == list(results.COLUMNS) and table["value"].notna().all()
    assert {str(kind) for kind in table.dtypes[["layers", "layer", "seed"]]} == {"int64"}
    levels = evaluation.gammas(params, "video")
    for cell in video.cells(params, *ITEM):
        own = table[(table["layers"] == cell.layers) & (table["eps"] == cell.eps)]
        test = own[own["split"] == "test"]
        counts = {"loss": (cell.layers + 1) * len(levels), "rmse": len(levels), "rmse_clipped": len(levels)}
        assert test["metric"].value_counts().to_dict() == counts
        last = test[(test["metric"] == "loss") & (test["layer"] == cell.layers)].sort_values("gamma")
        rmse = test[test["metric"] == "rmse"].sort_values("gamma")
        assert sorted(rmse["gamma"]) == levels and (rmse["layer"] == cell.layers).all()
        np.testing.assert_allclose(last["value"], 16 * (rmse["value"].to_numpy() / 255) ** 2, rtol=1e-9)
        check_validation_rows(own[own["split"] == "validation"], cell)


def check_validation_rows(rows: pd.DataFrame, cell: Cell) -> None:
    """Losses of the reported epoch, violations and verdicts worked out again from the history."""
    record = json.loads((OUT / cell.name / "cell.json").read_text())
    log = pd.read_csv(OUT / cell.name / "history.csv")
    f = log[log["epoch"] == record["epoch"]].sort_values("layer")["loss_validation"].to_numpy()
    v = np.array([f[0] / 0.5 - 1, *(f[1:] / f[:-1] - 0.8)])
    assert (rows["gamma"] == cell.eps).all()
    values = {name: group.sort_values("layer")["value"].to_numpy() for name, group in rows.groupby("metric")}
    assert set(values) == {"validation_loss", "violation", "feasible", "diverged", "epoch"}
    np.testing.assert_allclose(values["validation_loss"], f, rtol=1e-6)
    np.testing.assert_allclose(values["violation"], v, atol=1e-5)
    assert values["feasible"] == [float(v.max() <= 0.02)]
    assert values["epoch"] == [record["epoch"]] and values["diverged"] == [0.0]


def test_the_mean_patch_loss_is_the_sum_over_the_number_of_pixels(prepared: Prepared) -> None:
    cell = Cell(*ITEM, layers=1, eps=0.0, seed=0)
    found = Sweep(np.array([[[0.04, 0.01]]]), np.array([[0.0025]]))
    for loss, scale in (("sum", 16), ("mean", 1)):
        rows = list(evaluation._test_rows(small_params({"video.patch_loss": loss}), cell, found, [0.5], 0))
        values = {(row["metric"], row["layer"]): row["value"] for row in rows}
        expected = {
            ("loss", 0): 0.04 * scale,
            ("loss", 1): 0.01 * scale,
            ("rmse", 1): 25.5,
            ("rmse_clipped", 1): 12.75,
        }
        assert values == pytest.approx(expected)


def test_verdicts_are_read_by_the_problem_of_the_experiment(prepared: Prepared) -> None:
    out = runs_folder("infeasible", "ucsd", "dust", "constrained")
    cell = Cell("infeasible", "ucsd", "dust", "constrained", 1, 0.3, 0)
    (out / cell.name).mkdir(parents=True)
    (out / cell.name / "cell.json").write_text('{"epoch": 2, "diverged": true}')
    (out / cell.name / "history.csv").write_text(
        "epoch,layer,loss_validation\n1,0,9\n1,1,9\n2,0,0.02\n2,1,0.01\n3,0,9\n3,1,9\n"
    )
    rows = pd.DataFrame(evaluation._validation_rows(small_params(), cell, out))
    values = rows.set_index(["metric", "layer"])["value"].to_dict()
    assert values == pytest.approx(
        {
            ("validation_loss", 0): 0.02,
            ("validation_loss", 1): 0.01,
            ("violation", 0): 0.02 / 0.01 - 1,  # its own R0 and alpha = 0.9
            ("violation", 1): 0.5 - 0.1,
            ("feasible", 1): 0.0,
            ("diverged", 1): 1.0,
            ("epoch", 1): 2.0,
        }
    )


def test_a_cell_that_diverged_before_its_first_validation_has_no_validation_losses(prepared: Prepared) -> None:
    params = small_params({"training.diverged_above": 1e-6})
    video.train_cells(params, *ITEM)
    table = evaluated(**{"training.diverged_above": 1e-6})
    rows = table[table["split"] == "validation"]
    assert set(rows["metric"]) == {"feasible", "diverged", "epoch"}
    values = rows.groupby("metric")["value"].unique().map(list).to_dict()
    assert values == {"feasible": [0.0], "diverged": [1.0], "epoch": [0.0]}


def test_cells_scored_before_are_not_swept_again(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []

    def count(
        model: nn.Module, sequences: Sequences, levels: list, sigma: float, cells: int, *rest: object
    ) -> Sweep:
        swept.append(cells)
        return sweep(model, sequences, levels, sigma, cells, *rest)

    monkeypatch.setattr(evaluation, "sweep", count)
    video.train_cells(small_params(), *ITEM)
    first = evaluated()
    assert swept == [3, 3]
    pd.testing.assert_frame_equal(evaluated(), first, check_exact=True)
    assert swept == [3, 3]
    other = evaluated(**{"evaluation.noise_draws": 1})
    assert swept == [3, 3, 3, 3] and not other.equals(first)
    video.train_cells(small_params({"eps": 0.25}), *ITEM)
    more = evaluated(eps=0.25)
    assert swept[4:] == [3, 3], "the new level joins every cell's sweep"
    assert set(more["eps"]) == {0.0, 0.25, 0.5}


def test_a_stale_or_missing_cell_is_refused(prepared: Prepared) -> None:
    with pytest.raises(UserError, match="is missing: run `dvc repro`"):
        evaluated()
    video.train_cells(small_params(), *ITEM)
    with pytest.raises(UserError, match="trained with other parameters"):
        evaluated(**{"primal_dual.dust.alpha": 0.3})


def test_the_reference_rows_are_the_noise_and_the_intensity(prepared: Prepared) -> None:
    evaluation.evaluate_references(small_params(), "ucsd")
    table = pd.read_parquet("data/scores/reference/ucsd.parquet")
    assert list(table) == list(results.COLUMNS) and set(table["method"]) == {"reference"}
    rmse = table[table["metric"] == "rmse"].pivot(index="gamma", columns="model", values="value")
    assert 0.3 in rmse.index, "the level of the infeasible experiment too"
    sequences = prepared.sequences("test", TOKENS)
    numbers = 2 * len(sequences) * TOKENS * 16
    expected = rmse.index.to_numpy() * prepared.sigma * 255
    np.testing.assert_allclose(rmse["identity"], expected, rtol=4 / math.sqrt(2 * numbers))
    clean = sequences.gather(np.arange(len(sequences))).double()
    np.testing.assert_allclose(rmse["zero"], clean.square().mean().sqrt().item(), rtol=1e-6)
