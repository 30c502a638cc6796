"""The rows that a matrix item gives: complete, in agreement, and missing where nothing is known."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from torch import nn

from descent.analysis import replicates, results
from descent.analysis.select import mean, measured, select, whole_sweep
from descent.cells import Cell, runs_folder, scores_file
from descent.errors import UserError
from descent.runner import store
from descent.tasks.video import evaluate as evaluation
from descent.tasks.video.data import Prepared, Sequences
from descent.tasks.video.references import Identity
from descent.tasks.video.sequences import Denoising
from descent.tasks.video.sweep import Sweep, sweep
from tests.fakes.core import (
    TOKENS,
    enter_project,
    evaluate_cells,
    serially,
    small_params,
    train_cells,
    video_item,
)

ITEM = ("video", "ucsd", "dust", "constrained")
OUT = runs_folder(*ITEM)
REPLICATES = {f"{name}_replicate" for name in ("descending", "rmse_in_distribution", "rmse_out_of_distribution")}


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
    evaluate_cells(params, *ITEM)
    return pd.read_parquet(scores_file(*ITEM))


def test_the_rows_of_a_matrix_item_are_complete_and_agree_with_each_other(prepared: Prepared) -> None:
    params = small_params()
    train_cells(params, *ITEM)
    table = evaluated()
    assert list(table) == list(results.COLUMNS) and table["value"].notna().all()
    assert {str(kind) for kind in table.dtypes[["layers", "layer", "seed"]]} == {"int64"}
    levels = evaluation.gammas(params, "video")
    for cell in video_item(params, *ITEM).cells:
        own = table[(table["layers"] == cell.layers) & (table["eps"] == cell.eps)]
        test = own[own["split"] == "test"]
        counts = {"loss": (cell.layers + 1) * len(levels), "rmse": len(levels), "rmse_clipped": len(levels)}
        counts |= {"violation": cell.layers + 1, "feasible": 1, "test_items": 1}
        counts |= {name: 8 for name in results.METRICS if name in REPLICATES}
        assert test["metric"].value_counts().to_dict() == counts
        losses = test[(test["metric"] == "loss") & (test["gamma"] == cell.eps)].sort_values("layer")["value"]
        check_verdict(test, cell, losses.to_numpy())
        last = test[(test["metric"] == "loss") & (test["layer"] == cell.layers)].sort_values("gamma")
        rmse = test[test["metric"] == "rmse"].sort_values("gamma")
        assert sorted(rmse["gamma"]) == levels and (rmse["layer"] == cell.layers).all()
        np.testing.assert_allclose(last["value"], 16 * (rmse["value"].to_numpy() / 255) ** 2, rtol=1e-9)
        check_validation_rows(own[own["split"] == "validation"], cell)


def test_resample_0_is_the_test_set(prepared: Prepared) -> None:
    params = small_params()
    train_cells(params, *ITEM)
    known = measured(evaluated())
    rmse = whole_sweep(known, "rmse", params.evaluation.gammas)
    for name, inside in (("in", True), ("out_of", False)):
        rows = select(known, metric=f"rmse_{name}_distribution_replicate")
        expected = mean(rmse[(rmse["gamma"] <= rmse["eps"]) == inside])
        pd.testing.assert_series_equal(mean(select(rows, bin=0.0)), expected, rtol=1e-9)
        assert set(rows["bin"]) == set(map(float, range(8)))
    assert set(select(known, metric="test_items")["value"]) == {2.0}, "clips"


def test_replicates_are_scores_of_the_clips_that_were_drawn() -> None:
    """Two clips of 3 and 1 sequences: the RMSE of a resample is of their weighted mean square."""
    params = small_params()
    cell = Cell(*ITEM, layers=1, eps=0.0, seed=0)
    square = np.array([[0.04, 0.16], [0.01, 0.09]])[None].repeat(4, axis=0)  # (gammas, depth, clips)
    resamples = replicates.counts("ucsd", 2, params.evaluation)
    error = replicates.mean(square, np.array([3, 1]), resamples)
    levels = [0.0, 0.25, 0.5, 1.0]
    units = evaluation.units(params, Denoising, Identity())
    rows = pd.DataFrame(evaluation._replicates(params, units, cell, error, levels, 2))
    found = rows.query("metric == 'rmse_out_of_distribution_replicate'").set_index("bin")["value"]
    for number, (first, second) in enumerate(resamples):
        mean_square = (3 * first * 0.01 + second * 0.09) / (3 * first + second)
        assert found[number] == pytest.approx(255 * math.sqrt(mean_square))
    assert found.nunique() >= 2 and set(rows.query("metric == 'descending_replicate'")["value"]) == {1.0}


def check_validation_rows(rows: pd.DataFrame, cell: Cell) -> None:
    """Losses of the reported epoch, violations and verdicts worked out again from the history."""
    record = json.loads((OUT / cell.name / "cell.json").read_text())
    log = pd.read_csv(OUT / cell.name / "history.csv")
    f = log[log["epoch"] == record["epoch"]].sort_values("layer")["loss_validation"].to_numpy()
    assert (rows["gamma"] == cell.eps).all()
    values = by_metric(rows)
    numbers = {"lr": 0.01, "dual_lr": 0.05, "alpha": 0.2, "rho": 20.0, "epoch": record["epoch"], "diverged": 0.0}
    assert set(values) == {"validation_loss", "violation", "feasible", *numbers}
    np.testing.assert_allclose(values["validation_loss"], f, rtol=1e-6)
    assert {name: values[name].tolist() for name in numbers} == {name: [v] for name, v in numbers.items()}
    check_verdict(rows, cell, f)


def by_metric(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    return {name: group.sort_values("layer")["value"].to_numpy() for name, group in rows.groupby("metric")}


def check_verdict(rows: pd.DataFrame, cell: Cell, f: np.ndarray) -> None:
    """The violations of these losses at the training level, and what follows from them."""
    own = rows[rows["metric"].isin(["violation", "feasible"])]
    assert (own["gamma"] == cell.eps).all()
    values, v = by_metric(own), np.array([f[0] / 0.5 - 1, *(f[1:] / f[:-1] - 0.8)])
    np.testing.assert_allclose(values["violation"], v, atol=1e-5)
    assert values["feasible"] == [float(v.max() <= 0.02)]


def test_the_mean_patch_loss_is_the_sum_over_the_number_of_pixels(prepared: Prepared) -> None:
    cell = Cell(*ITEM, layers=1, eps=0.0, seed=0)
    found = Sweep(np.array([[[[0.04], [0.01]]]]), np.array([3]), np.array([[0.0025]]))
    for loss, scale in (("sum", 16), ("mean", 1)):
        units = evaluation.units(small_params({"video.patch_loss": loss}), Denoising, Identity())
        rows = list(evaluation._rows(units, cell, found, [0.5], 0))
        values = {(row["metric"], row["layer"]): row["value"] for row in rows}
        expected = {
            ("loss", 0): 0.04 * scale,
            ("loss", 1): 0.01 * scale,
            ("rmse", 1): 25.5,
            ("rmse_clipped", 1): 12.75,
        }
        assert values == pytest.approx(expected)


def test_verdicts_are_read_by_the_problem_of_the_experiment(prepared: Prepared) -> None:
    words = ("infeasible", "ucsd", "dust", "constrained")
    params, out = small_params({"infeasible.layers": 1}), runs_folder(*words)
    train_cells(params, *words)
    cell = Cell(*words, 1, 0.3, 0)
    record = store.record(out, cell) | {"epoch": 2, "diverged": True}
    (out / cell.name / "cell.json").write_text(json.dumps(record))
    (out / cell.name / "history.csv").write_text(
        "epoch,layer,loss_validation\n1,0,9\n1,1,9\n2,0,0.02\n2,1,0.01\n3,0,9\n3,1,9\n"
    )
    evaluate_cells(params, *words)
    rows = pd.read_parquet(scores_file(*words)).query("split == 'validation'")
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
            ("lr", 1): 0.01,
            ("dual_lr", 1): 0.05,
            ("alpha", 1): 0.9,
            ("rho", 1): 20.0,
        }
    )


def test_a_cell_that_diverged_before_its_first_validation_has_no_validation_losses(prepared: Prepared) -> None:
    params = small_params({"training.diverged_above": 1e-6})
    train_cells(params, *ITEM)
    table = evaluated(**{"training.diverged_above": 1e-6})
    values = table.groupby(["split", "metric"])["value"].unique().map(list).to_dict()
    verdicts = {"feasible": [0.0], "diverged": [1.0], "epoch": [0.0]}
    numbers = {"lr": [0.01], "dual_lr": [0.05], "alpha": [0.2], "rho": [20.0]}
    assert values == {("validation", name): found for name, found in (verdicts | numbers).items()} | {
        ("test", "feasible"): [0.0]
    }


def test_cells_scored_before_are_not_swept_again(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []

    def count(
        model: nn.Module, sequences: Sequences, levels: list, sigma: float, cells: int, *rest: object
    ) -> Sweep:
        swept.append(cells)
        return sweep(model, sequences, levels, sigma, cells, *rest)

    monkeypatch.setattr(evaluation, "sweep", count)
    train_cells(small_params(), *ITEM)
    first = evaluated()
    assert swept == [3, 3]
    pd.testing.assert_frame_equal(evaluated(), first, check_exact=True)
    assert swept == [3, 3]
    other = evaluated(**{"evaluation.noise_draws": 1})
    assert swept == [3, 3, 3, 3] and not other.equals(first)
    train_cells(small_params({"eps": 0.25}), *ITEM)
    more = evaluated(eps=0.25)
    assert swept[4:] == [3, 3], "the new level joins every cell's sweep"
    assert set(more["eps"]) == {0.0, 0.25, 0.5}


def test_a_stale_or_missing_cell_is_refused(prepared: Prepared) -> None:
    with pytest.raises(UserError, match="is missing: run `dvc repro`"):
        evaluated()
    train_cells(small_params(), *ITEM)
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
