"""The summary: one row per cell, the depth to show, the metrics."""

import pandas as pd
import pytest

from descent.analysis import summary
from descent.analysis.keys import PAIR
from descent.analysis.metrics import followed, metrics
from descent.config import Params

UT = {"experiment": "video", "dataset": "ucsd", "model": "ut", "arm": "constrained", "layers": 3, "eps": 0.13}


def mask(results: pd.DataFrame, **where: object) -> pd.Series:
    return results.index.isin(summary.select(results, **where).index)


def row(results: pd.DataFrame, params: Params) -> pd.Series:
    return summary.select(summary.cells_table(results, params), **UT).squeeze()


def test_means_split_at_the_training_level(params: Params, results: pd.DataFrame) -> None:
    chosen = mask(results, **UT, metric="rmse")
    results.loc[chosen, "value"] = 100 * results.loc[chosen, "gamma"] + 1
    found = row(results, params)
    levels = params.video.evaluation.gammas
    assert levels == [round(0.05 * step, 2) for step in range(13)]
    assert found["mean_rmse"] == pytest.approx(31)
    assert found["rmse_in_distribution"] == pytest.approx(6)  # 0, 0.05, 0.1
    assert found["rmse_out_of_distribution"] == pytest.approx(1 + 100 * sum(levels[3:]) / 10)
    assert found["rmse_at_eps"] == pytest.approx(14)  # 0.13 is no part of the uniform sweep


@pytest.mark.parametrize("hole", ["row", "nan", "inf"])
def test_a_hole_in_the_sweep_leaves_the_means_missing(params: Params, results: pd.DataFrame, hole: str) -> None:
    chosen = mask(results, **UT, metric="rmse", gamma=0.3)
    if hole == "row":
        results = results[~chosen]
    else:
        results.loc[chosen, "value"] = float(hole)
    found = row(results, params)
    assert found[["mean_rmse", "rmse_in_distribution", "rmse_out_of_distribution"]].isna().all()
    assert found[["rmse_at_eps", "mean_rmse_clipped", "validation_loss"]].notna().all()


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([9, 5, 4, 3], True),
        ([1, 5, 4, 3], True),
        ([9, 5, 5, 3], False),
        ([9, 5, 6, 3], False),
        ([9, 5, float("inf"), 3], False),
    ],
)
def test_descending_is_strict_and_starts_at_the_capped_layer(
    params: Params, results: pd.DataFrame, losses: list[float], expected: bool
) -> None:
    assert params.problem("ucsd", "ut").cap_layer == 1
    for layer, loss in enumerate(losses):
        results.loc[mask(results, **UT, metric="validation_loss", layer=layer), "value"] = loss
    found = row(results, params)
    assert found["descending"] == expected
    assert found["validation_loss"] == 3
    results.loc[mask(results, **UT, metric="diverged"), "value"] = 1.0
    assert not row(results, params)["descending"], "whatever its last sound epoch had"


def test_worst_violation_and_states_are_taken_over(params: Params, results: pd.DataFrame) -> None:
    results.loc[mask(results, **UT, metric="violation", layer=2), "value"] = 0.4
    results.loc[mask(results, **UT, metric="feasible"), "value"] = 0.0
    found = row(results, params)
    assert found["worst_violation"] == 0.4
    assert (found["feasible"], found["diverged"], found["epoch"]) == (False, False, 17)


def test_what_test_data_say_of_the_constraints_stands_apart(params: Params, results: pd.DataFrame) -> None:
    before = row(results, params)
    results.loc[mask(results, **UT, metric="violation", layer=2, split="test"), "value"] = 0.7
    results.loc[mask(results, **UT, metric="feasible", split="test"), "value"] = 0.0
    results.loc[mask(results, **UT, metric="violation", layer=1, split="test"), "layer"] = (
        0  # no cap_layer of ours
    )
    found = row(results, params)
    assert found["worst_violation_test"] == 0.7 and not found["feasible_test"]
    for name in ("worst_violation", "feasible", "descending", "mean_rmse"):
        assert found[name] == before[name]


def test_reference_maps_have_a_mean_but_no_training_level(params: Params, results: pd.DataFrame) -> None:
    cells = summary.cells_table(results, params)
    identity = summary.select(cells, arm="identity", dataset="ucsd", model="ut").squeeze()
    assert identity["mean_rmse"] == pytest.approx(0.3 * 46)
    assert identity[["rmse_in_distribution", "rmse_at_eps", "feasible", "descending"]].isna().all()


def test_where_one_arm_diverged_the_other_is_left_out_with_it(params: Params, results: pd.DataFrame) -> None:
    """As cells_table tells it; other settings, and arms that are not compared, are not touched."""
    own = summary.select(results, experiment="video")
    own.loc[mask(own, **UT, metric="diverged"), "value"] = 1.0
    compared = own[own["arm"].isin(params.comparison.arms)]
    cells = summary.cells_table(compared, params)
    lost = {tuple(pair) for pair in cells.loc[cells["diverged"].fillna(False), PAIR].to_numpy().tolist()}
    assert len(lost) == 1
    kept = [tuple(pair) not in lost for pair in compared[PAIR].to_numpy().tolist()]
    found = summary.sound(own, params)
    pd.testing.assert_frame_equal(found, compared[kept])
    gone = compared.drop(found.index)
    assert set(gone["arm"]) == set(params.comparison.arms)


def depths(*rows: tuple) -> pd.DataFrame:
    columns = ["arm", "layers", "seed", "validation_loss", "feasible", "diverged"]
    common = {"experiment": "video", "dataset": "ucsd", "model": "ut", "eps": 0.1}
    kinds = {"feasible": "boolean", "diverged": "boolean"}
    table = pd.DataFrame(rows, columns=columns).assign(**common, trained=True).astype(kinds)
    return table.assign(infeasible=table["arm"].eq("constrained") & ~table["feasible"])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("constrained", 3, 0, 2.0, True, False), ("constrained", 5, 0, 1.0, True, False)], 5),
        ([("constrained", 3, 0, 2.0, True, False), ("constrained", 5, 0, 1.0, False, False)], 3),
        ([("constrained", 3, 0, 2.0, False, False), ("constrained", 5, 0, 1.0, False, False)], 5),
        ([("unconstrained", 3, 0, 2.0, True, False), ("unconstrained", 5, 0, 1.0, False, False)], 5),
        ([("unconstrained", 3, 0, 2.0, False, False), ("unconstrained", 5, 0, 1.0, False, True)], 3),
        ([("constrained", 3, 0, None, True, False), ("constrained", 5, 0, 9.0, True, False)], 5),
    ],
    ids=["lowest", "feasible first", "none feasible", "arm without constraints", "diverged last", "no loss"],
)
def test_best_depth(rows: list[tuple], expected: int) -> None:
    assert summary.best_depth(depths(*rows))["layers"].tolist() == [expected]


def test_best_depth_averages_seeds_and_one_infeasible_seed_counts() -> None:
    rows = [("constrained", 3, 0, 4.0, True, False), ("constrained", 3, 1, 4.0, True, False)]
    even = depths(*rows, ("constrained", 5, 0, 1.0, True, False), ("constrained", 5, 1, 6.0, True, False))
    assert summary.best_depth(even)["layers"].tolist() == [5]
    broken = depths(*rows, ("constrained", 5, 0, 1.0, True, False), ("constrained", 5, 1, 1.0, False, False))
    assert summary.best_depth(broken)["layers"].tolist() == [3]


def test_metrics_by_hand(params: Params) -> None:
    shared = {"experiment": "video", "model": "ut", "eps": 0.13, "seed": 0, "diverged": False, "trained": True}
    cells = pd.DataFrame(
        [
            # data set, arm, L, validation loss, ID, OOD, mean, feasible, descending, worst violation
            ("avenue", "constrained", 3, 1.0, 7.0, 12.0, 10.0, True, True, -0.1),
            ("avenue", "constrained", 5, 2.0, 1.0, 1.0, 30.0, False, False, 0.5),
            ("avenue", "unconstrained", 3, 1.0, 6.0, 15.0, 11.0, False, False, 0.9),
            ("avenue", "unconstrained", 5, 2.0, 1.0, 1.0, 20.0, False, True, 0.9),
            ("ucsd", "constrained", 3, 1.0, 9.0, 16.0, 9.0, True, True, -0.2),
            ("ucsd", "unconstrained", 3, 1.0, 8.0, 17.0, 12.0, False, False, 0.9),
        ],
        columns=[
            "dataset",
            "arm",
            "layers",
            "validation_loss",
            "rmse_in_distribution",
            "rmse_out_of_distribution",
            "mean_rmse",
            "feasible",
            "descending",
            "worst_violation",
        ],
    ).assign(**shared)
    elsewhere = cells.assign(eps=0.5, mean_rmse=99.0, rmse_in_distribution=99.0)  # another level: not counted
    kinds = dict.fromkeys(("feasible", "descending", "diverged"), "boolean")
    table = pd.concat([cells, elsewhere]).astype(kinds)
    table["infeasible"] = table["arm"].eq("constrained") & ~table["feasible"]
    assert metrics(table, params) == {
        "video": {
            "rmse_in_distribution": {"constrained": 8.0, "unconstrained": 7.0},
            "rmse_out_of_distribution": {"constrained": 14.0, "unconstrained": 16.0},
            "descending_share": {"constrained": 0.66667, "unconstrained": 0.33333},
            "feasible_share": {"constrained": 0.66667},
            "worst_violation": {"constrained": 0.5},
            "wins_share": 0.6667,
        }
    }
    shares = {"descent": 0.6667, "feasible": 0.6667}
    assert followed(table, params) == {"rmse": 8.0, "rmse_ood": 14.0} | shares
    other = params.model_copy(update={"method": "unconstrained"})
    assert followed(table, other) == {"rmse": 7.0, "rmse_ood": 16.0, "descent": 0.3333, "feasible": 0.0}


def test_metrics_of_one_arm_leave_the_other_out(params: Params, results: pd.DataFrame) -> None:
    cells = summary.cells_table(results[results["arm"] != "constrained"], params)
    found = metrics(cells, params)["video"]
    assert "wins_share" not in found and "feasible_share" not in found
    assert sorted(found["rmse_in_distribution"]) == ["deep_supervision", "unconstrained"]
