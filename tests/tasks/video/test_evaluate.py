"""The rows that a data set gives: complete, in agreement, and missing where nothing is known."""

import inspect
import json
import math

import numpy as np
import pandas as pd
import pytest

from descent.analysis import replicates, results
from descent.analysis.select import measured, select
from descent.cells import REFERENCES, Cell
from descent.errors import UserError
from descent.models.parts.denoiser import Pixels
from descent.paths import scores_file
from descent.tasks.video import bias, units
from descent.tasks.video import evaluate as evaluation
from descent.tasks.video.batches import SequenceTask
from descent.tasks.video.data import Prepared
from descent.tasks.video.shifted import levels
from descent.tasks.video.sweep import Sweep, sweep
from tests.fakes.core import DIAGNOSED, item_of, small_params
from tests.fakes.dust import CELL, DUST, ITEM, OUT, evaluated, trained

REPLICATES = {
    f"{name}_replicate" for name in ("descending", "log_rmse_in_distribution", "log_rmse_out_of_distribution")
}


def test_cells_are_tested_in_a_precision_of_their_own(prepared: Prepared) -> None:
    trained()
    exact, rough = (
        measured(evaluated(**{"video.evaluation.precision": precision})).query("metric == 'rmse'")["value"]
        for precision in ("float32", "bf16")
    )
    change = (rough.to_numpy() / exact.to_numpy() - 1).clip(-1, 1)
    assert 1e-6 < abs(change).max() < 0.05
    default = evaluated().query("metric == 'rmse'")["value"]
    assert (default.to_numpy() == exact.to_numpy()).all(), "null: that of training"


def test_the_rows_of_a_data_set_are_complete_and_agree_with_each_other(prepared: Prepared) -> None:
    trained()
    params, table = small_params(DUST), evaluated()
    assert list(table) == list(results.COLUMNS) and table["value"].notna().all()
    assert {str(kind) for kind in table.dtypes[["layers", "layer", "seed"]]} == {"int64"}
    assert set(table["shift"]) == {"gaussian"}
    gammas, item = levels(params, "gaussian"), item_of(params, *ITEM)
    assert len(item.cells) == 2 * 2 * 3 == len(table.groupby(CELL))
    for cell in item.cells:
        own = select(table, arm=cell.arm, layers=cell.layers, eps=cell.eps)
        test = own[own["split"] == "test"]
        counts = {"loss": (cell.layers + 1) * len(gammas), "rmse": len(gammas), "rmse_clipped": len(gammas)}
        counts |= {"psnr": len(gammas), "violation": cell.layers + 1, "feasible": 1, "test_items": 1}
        counts |= {"rmse_layer": cell.layers + 1, "psnr_layer": cell.layers + 1, "step_length": cell.layers}
        one_map = item.feed.build([cell]).shared
        counts |= {"rmse_further": cell.layers + 1} if one_map else {}
        counts |= {name: 8 for name in results.METRICS if name in REPLICATES}
        counts |= dict.fromkeys(bias.METRICS, len(gammas))
        assert test["metric"].value_counts().to_dict() == counts, "and no SSIM of patches below its window"
        losses = test[(test["metric"] == "loss") & (test["gamma"] == cell.eps)].sort_values("layer")["value"]
        check_verdict(test, cell, losses.to_numpy())
        last = test[(test["metric"] == "loss") & (test["layer"] == cell.layers)].sort_values("gamma")
        rmse, clipped, psnr = (
            test[test["metric"] == name].sort_values("gamma") for name in ("rmse", "rmse_clipped", "psnr")
        )
        assert sorted(rmse["gamma"]) == gammas and (rmse["layer"] == cell.layers).all()
        np.testing.assert_allclose(last["value"], 16 * (rmse["value"].to_numpy() / 255) ** 2, rtol=1e-9)
        np.testing.assert_allclose(psnr["value"], 20 * np.log10(255 / clipped["value"].to_numpy()), rtol=1e-9)
        check_validation_rows(own[own["split"] == "validation"], cell)


def test_resample_0_is_the_test_set(prepared: Prepared) -> None:
    trained()
    known = measured(evaluated())
    gammas = small_params().video.evaluation.gammas
    rmse = select(known, metric="rmse")
    rmse = rmse[rmse["gamma"].isin(gammas)]
    for name, inside in (("in", True), ("out_of", False)):
        rows = select(known, metric=f"log_rmse_{name}_distribution_replicate")
        chosen = rmse[(rmse["gamma"] <= rmse["eps"]) == inside]
        expected = np.log(chosen["value"]).groupby([chosen[key] for key in CELL]).mean()
        found = select(rows, bin=0.0).set_index(CELL)["value"].sort_index()
        pd.testing.assert_series_equal(found, expected, rtol=1e-9)
        assert set(rows["bin"]) == set(map(float, range(8)))
    assert set(select(known, metric="test_items")["value"]) == {2.0}, "clips"


def test_replicates_are_scores_of_the_clips_that_were_drawn() -> None:
    """Two clips of 3 and 1 sequences: the RMSE of a resample is of their weighted mean square."""
    params = small_params()
    cell = Cell(*ITEM, "constrained", layers=1, eps=0.0, seed=0)
    square = np.array([[0.04, 0.16], [0.01, 0.09]])[None].repeat(4, axis=0)  # (gammas, depth, clips)
    resamples = replicates.counts("ucsd", 2, params.video.evaluation)
    error = replicates.mean(square, np.array([3, 1]), resamples)
    levels = [0.0, 0.25, 0.5, 1.0]
    told = units.units(params, SequenceTask, Pixels())
    scores = evaluation._scores(params, told, cell, error, levels)
    found = scores["log_rmse_out_of_distribution"]
    for number, (first, second) in enumerate(resamples):
        mean_square = (3 * first * 0.01 + second * 0.09) / (3 * first + second)
        assert found[number] == pytest.approx(math.log(255 * math.sqrt(mean_square)))
    assert len(set(found)) >= 2 and scores["descending"].all()


@pytest.mark.parametrize(("cap_layer", "falls"), [(0, False), (1, True)])
def test_descent_is_that_of_the_training_level_from_the_capped_layer_on(cap_layer: int, falls: bool) -> None:
    params = small_params({"objectives.constrained": {"cap_layer": cap_layer}})
    cell = Cell(*ITEM, "constrained", layers=2, eps=0.25, seed=0)
    levels, told = [0.0, 0.25, 0.5, 1.0], units.units(params, SequenceTask, Pixels())

    def descends(at_eps: list[float], elsewhere: list[float]) -> list[bool]:
        error = np.array([elsewhere, at_eps, elsewhere, elsewhere])[:, :, None].repeat(5, axis=2)
        return evaluation._scores(params, told, cell, error, levels)["descending"].astype(bool).tolist()

    fall, rise, later = [0.09, 0.04, 0.01], [0.01, 0.04, 0.09], [0.01, 0.09, 0.04]
    assert descends(fall, rise) == 5 * [True] and descends(rise, fall) == 5 * [False]
    assert descends(later, rise) == 5 * [falls]


def check_validation_rows(rows: pd.DataFrame, cell: Cell) -> None:
    """Losses of the reported epoch, violations and verdicts worked out again from the history."""
    record = json.loads((OUT / cell.name / "cell.json").read_text())
    log = pd.read_csv(OUT / cell.name / "history.csv")
    f = log[log["epoch"] == record["epoch"]].sort_values("layer")["loss_validation"].to_numpy()
    assert (rows["gamma"] == cell.eps).all()
    values = by_metric(rows)
    numbers = {"lr": 0.01, "epoch": record["epoch"], "diverged": 0.0}
    if cell.arm == "constrained":
        numbers |= {"dual_lr": 0.05, "alpha": 0.2, "rho": 20.0}
    assert set(values) - set(DIAGNOSED) == {"validation_loss", "violation", "feasible", *numbers}
    assert set(DIAGNOSED) - set(values) == set() or cell.arm == "unconstrained"
    np.testing.assert_allclose(values["validation_loss"], f, rtol=1e-6)
    assert {name: values[name].tolist() for name in numbers} == {name: [v] for name, v in numbers.items()}
    check_verdict(rows, cell, f)


def by_metric(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    return {name: group.sort_values("layer")["value"].to_numpy() for name, group in rows.groupby("metric")}


def check_verdict(rows: pd.DataFrame, cell: Cell, f: np.ndarray) -> None:
    """The violations of these losses at the training level, and what follows from them, whatever the arm."""
    own = rows[rows["metric"].isin(["violation", "feasible"])]
    assert (own["gamma"] == cell.eps).all()
    values, v = by_metric(own), np.array([f[0] / 0.5 - 1, *(f[1:] / f[:-1] - 0.8)])
    np.testing.assert_allclose(values["violation"], v, atol=1e-5)
    assert values["feasible"] == [float(v.max() <= 0.02)]


def test_the_mean_patch_loss_is_the_sum_over_the_number_of_pixels(prepared: Prepared) -> None:
    cell = Cell(*ITEM, "constrained", layers=1, eps=0.0, seed=0)
    found = Sweep(np.array([[[[0.04], [0.01]]]]), np.array([3]), np.array([[0.0025]]), np.array([[0.75]]))
    for loss, scale in (("sum", 16), ("mean", 1)):
        told = units.units(small_params({"video.patch_loss": loss}), SequenceTask, Pixels())
        rows = list(units.rows(told, cell, found, [0.5], 0))
        values = {(row["metric"], row["layer"]): row["value"] for row in rows}
        expected = {
            ("loss", 0): 0.04 * scale,
            ("loss", 1): 0.01 * scale,
            ("rmse", 1): 25.5,
            ("rmse_clipped", 1): 12.75,
            ("psnr", 1): 10 * math.log10(400),
            ("ssim", 1): 0.75,
        }
        assert values == pytest.approx(expected)


def test_what_has_no_number_has_no_row() -> None:
    cell = Cell(*ITEM, "constrained", layers=0, eps=0.0, seed=0)
    told = units.units(small_params(), SequenceTask, Pixels())
    nothing = Sweep(np.array([[[[0.0]]]]), np.array([3]), np.array([[0.0]]), np.array([[np.nan]]))
    rows = list(units.rows(told, cell, nothing, [0.0], 0))
    assert [row["metric"] for row in rows] == ["loss", "rmse", "rmse_clipped"], "PSNR is infinite, SSIM unknown"


def test_epochs_are_kept_of_the_first_seed_whatever_it_is(prepared: Prepared) -> None:
    seeds = {"profiles.demo.video.seeds": [4, 3]}
    trained(**seeds)
    table = evaluated(**seeds)
    assert set(table["seed"]) == {3, 4} and {*select(table, metric="loss_epoch")["seed"]} == {3}


@pytest.mark.slow
def test_cells_scored_before_are_not_swept_again(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []

    def count(*arguments: object, **others: object) -> Sweep:
        cells = inspect.signature(sweep).bind(*arguments, **others).arguments["cells"]
        swept.extend([cells] if cells > 1 else [])  # the maps that learn nothing are one cell
        return sweep(*arguments, **others)

    monkeypatch.setattr(evaluation, "sweep", count)
    trained()
    first = evaluated()
    assert swept == [3] * 4
    pd.testing.assert_frame_equal(evaluated(), first, check_exact=True)
    assert swept == [3] * 4
    other = evaluated(**{"video.evaluation": {"noise_draws": 1}})
    assert swept == [3] * 8 and not other.equals(first)
    trained(eps=0.25)
    more = evaluated(eps=0.25)
    assert swept[8:] == [3] * 4, "the new level joins every cell's sweep"
    assert set(more["eps"]) == {0.0, 0.25, 0.5}
    monkeypatch.setattr("descent.runner.scores.digest", lambda modules: "other code of the rows")
    evaluated(eps=0.25)
    assert swept[12:] == [3] * 4


def test_a_stale_or_missing_cell_is_refused(prepared: Prepared) -> None:
    with pytest.raises(UserError, match="is missing: run `dvc repro`"):
        evaluated()
    trained()
    with pytest.raises(UserError, match="trained with other parameters"):
        evaluated(**{"objectives.constrained": {"alpha": 0.3}})


def test_the_rows_of_a_data_set_are_in_its_file(prepared: Prepared) -> None:
    trained()
    table = evaluated()
    written = pd.read_parquet(scores_file(*ITEM[:2]))
    assert len(written) > len(table) and set(written["arm"]) == {*REFERENCES, "constrained", "unconstrained"}
    assert not written.duplicated([name for name in written if name != "value"]).any()
