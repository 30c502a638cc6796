"""The text part of the summary: areas, the trial and depth to show, metrics, nothing chosen by test rows."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import summary, trials
from descent.analysis.metrics import metrics
from descent.analysis.select import select
from descent.config import Params
from tests.fakes.results import change, fake_params, fake_results

ROBERTA = {"experiment": "text", "dataset": "imdb", "model": "roberta", "arm": "constrained", "eps": 0.4}
TRIAL = ROBERTA | {"seed": 0}


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    rows = fake_results(params)
    return rows[rows["experiment"] != "video"]


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()


def row(results: pd.DataFrame, params: Params, **cell: object) -> pd.Series:
    return select(summary.cells_table(select(results, **cell), params), **cell).squeeze()


@pytest.mark.parametrize("accuracy", [0.5, 1 / 3, 0.87])
def test_the_area_of_a_flat_curve_is_its_height_times_the_range(params: Params, results, accuracy: float) -> None:
    change(results, accuracy, **TRIAL, metric="accuracy")  # 1/2 and 1/3: the areas of chance, 1.0 and 0.667
    found = row(results, params, **TRIAL)
    assert found["area"] == pytest.approx(2 * accuracy)
    for name in ("accuracy_clean", "accuracy_at_eps", "accuracy_in_distribution", "accuracy_out_of_distribution"):
        assert found[name] == pytest.approx(accuracy)


def test_area_and_means_of_a_straight_line_by_hand(params: Params, results: pd.DataFrame) -> None:
    rows = select(results, **TRIAL, metric="accuracy")
    results.loc[rows.index, "value"] = np.where(rows["layer"] == rows["layers"], 0.9 - 0.2 * rows["gamma"], 0.1)
    found = row(results, params, **TRIAL)
    assert found["area"] == pytest.approx(1.8 - 0.4)
    assert found["accuracy_in_distribution"] == pytest.approx(0.9 - 0.2 * 0.2)  # 0, 0.2, 0.4
    assert found["accuracy_out_of_distribution"] == pytest.approx(0.9 - 0.2 * 1.3)  # 0.6, ..., 2.0
    assert (found["accuracy_clean"], found["accuracy_at_eps"]) == (0.9, pytest.approx(0.82))


def test_a_training_level_between_the_sweep_levels_is_no_part_of_the_area(params: Params, results) -> None:
    between = select(results, **TRIAL, metric="accuracy", gamma=0.4).assign(gamma=0.5, value=0.0)
    with_it = pd.concat([results, between], ignore_index=True)
    assert row(with_it, params, **TRIAL)["area"] == row(results, params, **TRIAL)["area"]


@pytest.mark.parametrize("hole", ["row", "nan"])
def test_a_hole_in_the_sweep_leaves_the_area_missing(params: Params, results: pd.DataFrame, hole: str) -> None:
    place = TRIAL | {"metric": "accuracy", "gamma": 1.2, "layer": 8}
    if hole == "nan":
        change(results, float("nan"), **place)
    else:
        results = results.drop(select(results, **place).index)
    found = row(results, params, **TRIAL)
    assert found[["area", "accuracy_in_distribution", "accuracy_out_of_distribution"]].isna().all()
    assert found[["accuracy_clean", "accuracy_at_eps", "ratio_mean"]].notna().all()


def test_ratios_hyperparameters_and_descent_are_taken_over(params: Params, results: pd.DataFrame) -> None:
    found = row(results, params, **(TRIAL | {"seed": 2}))
    held_to = params.problem("imdb", "roberta")
    assert (found["alpha"], found["rho"]) == (held_to.alpha, pytest.approx(1.2 * held_to.rho))
    assert (found["lr"], found["dual_lr"], found["varied"]) == (0.001, 0.02, "")
    assert 0 < found["ratio_below_target"] < found["ratio_below_one"] < 1
    assert found["descending"] and found["feasible"] and found["feasible_test"]
    plain = row(results, params, **(TRIAL | {"arm": "unconstrained"}))
    assert plain[["dual_lr", "alpha", "rho"]].isna().all() and plain["lr"] == 0.001


def test_a_study_has_one_row_for_every_value_and_seed(params: Params, results: pd.DataFrame) -> None:
    cells = summary.cells_table(results, params)
    for experiment, values in (("alpha", 3), ("dual_lr", 3), ("resilience", 2)):
        rows = select(cells, experiment=experiment)
        assert len(rows) == (1 + values) * 3 and rows["area"].notna().all()
    assert set(select(cells, experiment="resilience")["varied"]) == {"", "decay", "none"}


def test_the_best_trial_is_the_one_with_the_lowest_validation_loss(params: Params, results: pd.DataFrame) -> None:
    change(results, 0.01, **(ROBERTA | {"seed": 1}), metric="validation_loss", layer=8)
    change(results, 0.0, **(ROBERTA | {"seed": 1}), metric="feasible")  # infeasible, and chosen nevertheless
    best = select(trials.best_trial(summary.cells_table(results, params), params), **ROBERTA).squeeze()
    assert (best["seed"], best["feasible"], best["trials"]) == (1, False, 3)
    assert best["area"] == pytest.approx(row(results, params, **(ROBERTA | {"seed": 1}))["area"])
    change(results, 1.0, **(ROBERTA | {"seed": 1}), metric="diverged")
    best = select(trials.best_trial(summary.cells_table(results, params), params), **ROBERTA).squeeze()
    assert best["seed"] != 1 and best["trials"] == 2


def test_best_trial_and_depth_never_look_at_test_rows(params: Params, results: pd.DataFrame) -> None:
    chosen = ["dataset", "model", "arm", "eps", "layers", "seed"]
    before = [best(summary.cells_table(results, params), params) for best in (trials.best_trial, trials.best_text)]
    test = results.index[results["split"] == "test"]
    results.loc[test, "value"] = np.random.default_rng(0).permutation(results.loc[test, "value"])
    results.loc[results["metric"] == "feasible", "value"] = 0.0
    after = [best(summary.cells_table(results, params), params) for best in (trials.best_trial, trials.best_text)]
    for old, new in zip(before, after, strict=True):
        pd.testing.assert_frame_equal(old[chosen], new[chosen])
        assert not old["area"].equals(new["area"])


def test_mean_and_spread_over_trials_by_hand(params: Params, results: pd.DataFrame) -> None:
    for seed, accuracy in enumerate((0.5, 0.7, 0.9)):
        change(results, accuracy, **(ROBERTA | {"seed": seed}), metric="accuracy")
    best = select(trials.best_trial(summary.cells_table(results, params), params), **ROBERTA).squeeze()
    assert (best["area_mean"], best["area_sd"]) == (pytest.approx(1.4), pytest.approx(0.4))
    assert best["accuracy_in_distribution_sd"] == pytest.approx(0.2)
    alone = results[results["seed"] == 0]
    best = select(trials.best_trial(summary.cells_table(alone, params), params), **ROBERTA).squeeze()
    assert best["trials"] == 1 and pd.isna(best["area_sd"]) and best["area_mean"] == pytest.approx(1.0)


def test_where_every_trial_diverged_one_is_shown_and_none_counted(params: Params, results: pd.DataFrame) -> None:
    change(results, 1.0, **ROBERTA, metric="diverged")
    best = select(trials.best_trial(summary.cells_table(results, params), params), **ROBERTA).squeeze()
    assert best["diverged"] and best["trials"] == 0 and pd.isna(best["area_mean"])


def test_seeds_that_repeat_one_training_are_averaged(params: Params, results: pd.DataFrame) -> None:
    """The best of them is luck, in its areas and in its losses: depth 3 has it, depth 5 the lower mean."""
    repeated = fake_params({"text.search.arms": {}})
    cell = {"experiment": "text", "dataset": "mnli", "model": "ut_text", "arm": "constrained", "eps": 1.0}
    for layers, losses in ((3, (0.1, 0.9, 0.8)), (5, (0.5, 0.5, 0.5))):
        for seed, loss in enumerate(losses):
            where = {"layers": layers, "seed": seed}
            change(results, loss, **cell, **where, metric="validation_loss", layer=layers)
            change(results, seed / 2, **cell, **where, metric="accuracy")
    change(results, 0.0, **cell, seed=1, metric="feasible")
    cells = summary.cells_table(results, params)
    assert select(trials.best_text(cells, params), **cell).squeeze()[["layers", "seed"]].tolist() == [3, 0]
    best = select(trials.best_text(cells, repeated), **cell).squeeze()
    assert best["layers"] == 5 and best["validation_loss"] == pytest.approx(0.5)
    assert best["area"] == best["area_mean"] == pytest.approx(0.5 * 2)
    assert best["feasible"] == pytest.approx(2 / 3) and best["infeasible"] and not best["diverged"]
    for layers in (3, 5):
        change(results, 1.0, **cell, seed=2, layers=layers, metric="diverged")
    lost = select(trials.best_text(summary.cells_table(results, params), repeated), **cell).squeeze()
    assert lost["diverged"] and lost["layers"] == 5
    assert lost["trials"] == 3 and lost["area"] == pytest.approx(2 * (0 + 0.5 + 1 / 3) / 3), "it scores as chance"


def test_the_best_depth_is_that_of_the_best_trials(params: Params, results: pd.DataFrame) -> None:
    cell = {"experiment": "text", "dataset": "mnli", "model": "ut_text", "arm": "unconstrained", "eps": 1.0}
    for layers, losses in ((3, (0.5, 0.6, 0.7)), (5, (0.4, 0.9, 0.9))):  # by the mean of trials 3 would win
        for seed, loss in enumerate(losses):
            where = {"layers": layers, "layer": layers, "seed": seed, "metric": "validation_loss"}
            change(results, loss, **cell, **where)
    best = select(trials.best_text(summary.cells_table(results, params), params), **cell).squeeze()
    assert (best["layers"], best["seed"]) == (5, 0)


def numbers(by_arm: dict[str, float]) -> dict[str, float]:
    """Of the two arms of the comparison."""
    return {arm: value for arm, value in by_arm.items() if arm != "deep_supervision"}


def test_metrics_by_hand(params: Params, results: pd.DataFrame) -> None:
    for arm, accuracy in (("constrained", 0.8), ("unconstrained", 0.6)):
        change(results, accuracy, experiment="text", arm=arm, eps=0.4, metric="accuracy")
    change(results, 0.5, experiment="text", dataset="mnli", arm="constrained", metric="accuracy")
    change(results, 0.0, **TRIAL, metric="feasible", split="validation")
    change(results, 9.0, **TRIAL, metric="validation_loss", layer=5)
    found = metrics(summary.cells_table(results, params), params)["text"]
    assert numbers(found["area"]) == {
        "constrained": 1.3,
        "unconstrained": 1.2,
    }  # medians of three 1.6 and three 1.0
    assert numbers(found["accuracy_out_of_distribution"]) == {"constrained": 0.65, "unconstrained": 0.6}
    assert found["feasible_share"] == {"constrained": pytest.approx(23 / 24, abs=1e-5)}
    assert found["descending_share"]["constrained"] == pytest.approx(23 / 24, abs=1e-5)
    assert found["wins_share"] == 0.5


def test_metrics_without_text_have_no_such_part(params: Params, results: pd.DataFrame) -> None:
    cells = summary.cells_table(results[results["experiment"] != "text"], params)
    assert "text" not in metrics(cells, params)
