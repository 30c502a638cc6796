"""Gains at every level: differences that a table made by hand has, and whose means are those of the controls."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import controls, levels
from descent.analysis.select import select
from tests.fakes.results import change, fake_results
from tests.fakes.results_training import text_controls_params, training_params, with_training

STUDY = "controls_distilbert"


def test_a_gain_is_the_difference_of_accuracy_at_its_own_level() -> None:
    params = text_controls_params()
    results = with_training(fake_results(params), params)
    test = {"experiment": STUDY, "metric": "accuracy", "split": "test", "layer": 6}
    for gamma in map(float, params.text.evaluation.gammas):
        change(results, 0.8, **test, gamma=gamma, arm="unconstrained")
        change(results, 0.8 + 0.01 * gamma, **test, gamma=gamma, arm="constrained")
    change(results, 0.6, **test, gamma=1.0, arm="constrained", seed=1)
    found = select(levels.table(results, params), experiment=STUDY, arm="constrained").set_index("gamma")
    assert found.loc[2.0, "gain"] == pytest.approx(0.02) and found.loc[2.0, "score"] == pytest.approx(0.82)
    assert found.loc[1.0, "gain"] == pytest.approx((0.01 - 0.2) / 2) and found.loc[1.0, "gain_low"] < -0.5
    assert (found["gain_seeds"] == 2).all() and list(found.index) == sorted(params.text.evaluation.gammas)


def test_the_means_over_levels_are_the_gains_of_the_controls_and_lost_cells_count_as_the_zero_map() -> None:
    params = training_params()
    results = with_training(fake_results(params), params)
    change(results, 1.0, experiment="controls", arm="constrained", seed=2, metric="diverged")
    change(results, float("nan"), experiment="controls", arm="constrained", seed=2, metric="rmse")
    found = select(levels.table(results, params), experiment="controls").set_index("arm")
    beyond = found[found["gamma"] > 0.13]
    whole = controls.of_study(results, params, "controls", ["gain_out"]).set_index("arm")["gain_out"]
    for arm, rows in beyond.groupby(level=0):
        assert rows["gain"].mean() == pytest.approx(whole[arm]), arm
    assert whole["constrained"] < -0.1 and np.isfinite(found["gain"]).all()


def test_a_lost_trial_that_saw_no_test_data_has_no_score() -> None:
    params = training_params({"study.controls.tested": False})
    results = with_training(fake_results(params), params)
    results = results[(results["experiment"] != "controls") | (results["split"] != "test")]
    change(results, 1.0, experiment="controls", arm="constrained", seed=2, metric="diverged")
    assert select(levels.table(results, params), experiment="controls").empty
    tested = training_params()
    assert len(select(levels.table(results, tested), experiment="controls")), "of a study that was tested it would"


def test_where_there_is_no_baseline_there_is_no_gain() -> None:
    params = training_params()
    results = with_training(fake_results(params), params)
    gone = results[(results["experiment"] != "controls") | (results["arm"] != "unconstrained")]
    found = select(levels.table(pd.DataFrame(gone), params), experiment="controls")
    assert len(found) and found["gain"].isna().all() and found["score"].notna().all()
