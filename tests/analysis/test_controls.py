"""What the controls are compared by: the inflation share, log-ratios, intervals over seeds, the ladder's steps."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis import controls
from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.errors import UserError
from tests.fakes.results import change, fake_results, with_another_shift
from tests.fakes.results_training import text_controls_params, training_params, with_training

CELL = {"experiment": "controls", "dataset": "ucsd", "model": "dust_per_layer", "layers": 5, "eps": 0.13}


@pytest.fixture(scope="module")
def params() -> Params:
    return training_params()


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    rows = with_training(fake_results(params), params)
    read = rows["bin"].eq(0) & (rows["model"].map(params.task_of) == "video")
    return rows[read].reset_index(drop=True)


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()


def of_arm(results: pd.DataFrame, params: Params, arm: str, seed: int = 0) -> pd.Series:
    return select(controls.trained_cells(results, params), **CELL, arm=arm, seed=seed).squeeze()


def set_errors(results: pd.DataFrame, params: Params, inside: float, outside: float, **cell: object) -> None:
    for gamma in map(float, params.video.evaluation.gammas):
        change(results, inside if gamma <= 0.13 else outside, **cell, metric="rmse", gamma=gamma)


def test_inflation_by_hand() -> None:
    f = np.array([8.0, 4.0, 2.0, 1.0])
    assert controls.inflation_share(f, np.array([4.0, 4.0, 2.0, 1.0]), 0) == pytest.approx(1 / 3)
    assert controls.inflation_share(f, np.array([4.0, 4.0, 2.0, 1.0]), 1) == 0.0, "the first step is not asked for"
    assert controls.inflation_share(f, np.ones(4), 0) == pytest.approx(1.0), "all of it from layers made worse"
    rising = np.array([8.0, 16.0, 2.0, 1.0])  # f_1 is worse by ln 4 of the ln 8 that the second step descends
    assert controls.inflation_share(rising, np.array([8.0, 4.0, 2.0, 1.0]), 0) == pytest.approx(
        np.log(4) / np.log(16)
    )
    assert np.isnan(controls.inflation_share(np.array([1.0, 2.0]), np.ones(2), 0))


def test_inflation_is_a_share_that_no_common_factor_changes() -> None:
    draw = np.random.default_rng(0)
    for _ in range(50):
        f, g = np.exp(draw.normal(size=(2, 6)))
        share = controls.inflation_share(f, g, 0)
        assert 0 <= share <= 1 and controls.inflation_share(f, f, 0) == 0
        assert controls.inflation_share(7 * f, 7 * g, 0) == pytest.approx(share)
        better = g * draw.uniform(0.1, 1, size=6)
        assert controls.inflation_share(better, g, 0) == 0 or (np.diff(better) >= 0).all(), "no layer is worse"


def test_inflation_is_against_the_baseline_cell_of_the_same_seed(params: Params, results: pd.DataFrame) -> None:
    losses = {"split": "validation", "metric": "validation_loss", "seed": 3}
    for layer in range(6):
        change(results, 2.0 ** (5 - layer), **CELL, **losses, arm="replay", layer=layer)
        change(results, 1.0 if layer < 2 else 99.0, **CELL, **losses, arm="unconstrained", layer=layer)
    assert of_arm(results, params, "replay", 3)["inflation"] == pytest.approx(2 / 5)
    lost = results.copy()
    change(lost, 1.0, **CELL, arm="unconstrained", seed=3, metric="diverged")
    assert np.isnan(of_arm(lost, params, "replay", 3)["inflation"]), "its baseline says nothing"
    change(results, 1.0, **CELL, arm="replay", seed=3, metric="diverged")
    assert np.isnan(of_arm(results, params, "replay", 3)["inflation"])
    assert np.isnan(of_arm(results, params, "unconstrained", 3)["inflation"])


def test_gains_are_mean_log_ratios_on_either_side_of_the_training_level(
    params: Params, results: pd.DataFrame
) -> None:
    set_errors(results, params, 10.0, 10.0, **CELL, arm="unconstrained", seed=1)
    set_errors(results, params, 5.0, 40.0, **CELL, arm="penalty", seed=1)
    for rows in (results, with_another_shift(results)):
        found = of_arm(rows, params, "penalty", 1)
        assert found["gain_in"] == pytest.approx(np.log(2)) and found["gain_out"] == pytest.approx(-np.log(4))
        assert (found["rmse_in"], found["rmse_out"]) == (pytest.approx(5), pytest.approx(40))


def test_the_mean_is_of_logarithms(params: Params, results: pd.DataFrame) -> None:
    set_errors(results, params, 10.0, 10.0, **CELL, arm="unconstrained", seed=0)
    set_errors(results, params, 10.0, 10.0, **CELL, arm="replay", seed=0)
    change(results, 160.0, **CELL, arm="replay", seed=0, metric="rmse", gamma=0.6)
    assert of_arm(results, params, "replay")["gain_out"] == pytest.approx(-np.log(16) / 10)


def test_a_cell_that_diverged_scores_as_the_zero_map(params: Params, results: pd.DataFrame) -> None:
    change(results, 1.0, **CELL, arm="constrained", seed=2, metric="diverged")
    change(results, float("nan"), **CELL, arm="constrained", seed=2, metric="rmse")
    found, plain = of_arm(results, params, "constrained", 2), of_arm(results, params, "unconstrained", 2)
    assert found["rmse_out"] == pytest.approx(106.0) and found["rmse_in"] == pytest.approx(106.0)
    assert found["gain_out"] == pytest.approx(-np.log(106.0) - plain["score_out"])
    table = controls.of_study(results, params, "controls", ["gain_out"]).set_index("arm")
    assert table["lost"].to_dict() == {arm: int(arm == "constrained") for arm in table.index}
    assert table.loc["constrained", "gain_out_seeds"] == 6, "lost is not left out"


def test_of_classifiers_gains_are_differences_of_accuracy_and_divergence_is_chance() -> None:
    params = text_controls_params()
    results = with_training(fake_results(params), params)
    cell = {"experiment": "controls_distilbert", "seed": 1}
    for gamma in map(float, params.text.evaluation.gammas):
        test = {"metric": "accuracy", "split": "test", "layer": 6, "gamma": gamma}
        change(results, 0.75, **cell, **test, arm="unconstrained")
        change(results, 0.8 if gamma <= 0.4 else 0.6, **cell, **test, arm="deep_supervision")
    change(results, 1.0, **cell, arm="replay_positive", metric="diverged")
    change(results, float("nan"), **cell, arm="replay_positive", metric="accuracy", split="test")
    cells = select(controls.trained_cells(results, params), **cell).set_index("arm")
    assert cells.loc["deep_supervision", ["gain_in", "gain_out"]].tolist() == pytest.approx([0.05, -0.15])
    assert cells.loc["replay_positive", ["gain_in", "gain_out"]].tolist() == pytest.approx([-0.25, -0.25])
    assert cells.loc["unconstrained", ["gain_in", "gain_out"]].tolist() == [0, 0]
    assert cells["rmse_out"].isna().all()
    table = controls.of_study(results, params, "controls_distilbert", ["gain_out", "inflation"]).set_index("arm")
    assert table["gain_out_seeds"].tolist() == [2] * 4 and table.loc["constrained", "inflation"] >= 0


def test_in_a_study_of_rates_the_baseline_is_that_of_the_cells_own_rate() -> None:
    name = "controls_distilbert"
    rates = {f"study.{name}.vary": "lr", f"study.{name}.beside": ["unconstrained"]}
    params = text_controls_params(rates | {f"profiles.demo.studies.{name}.values": [0.001, 0.002]})
    results = with_training(fake_results(params), params)
    shares = {("unconstrained", 0.001): 0.7, ("unconstrained", 0.002): 0.8}
    shares |= {("constrained", 0.001): 0.72, ("constrained", 0.002): 0.77}
    test = {"metric": "accuracy", "split": "test", "layer": 6}
    for (arm, rate), share in shares.items():
        for gamma in map(float, params.text.evaluation.gammas):
            change(results, share, experiment=name, **test, gamma=gamma, arm=arm, varied=str(rate))
    table = controls.of_study(results, params, name, ["gain_out", "gain_in", "inflation"])
    assert table[["arm", "varied"]].apply(tuple, axis=1).tolist() == [(arm, str(rate)) for arm, rate in shares]
    assert table["gain_out"].tolist() == pytest.approx([0, 0, 0.02, -0.03])
    assert table["gain_in"].tolist() == pytest.approx([0, 0, 0.02, -0.03])
    assert table["inflation"].notna().tolist() == [False, False, True, True]
    assert controls.of_study(results, params, name, ["gain_out"])["gain_out_seeds"].tolist() == [2] * 4


def test_the_interval_over_seeds_is_students(params: Params, results: pd.DataFrame) -> None:
    gains = select(controls.trained_cells(results, params), **CELL, arm="replay")["gain_out"]
    row = controls.of_study(results, params, "controls", ["gain_out"]).set_index("arm").loc["replay"]
    expected = stats.ttest_1samp(gains, 0).confidence_interval(0.95)
    assert row["gain_out"] == pytest.approx(gains.mean())
    assert (row["gain_out_low"], row["gain_out_high"]) == (
        pytest.approx(expected.low),
        pytest.approx(expected.high),
    )
    single = controls.of_study(results, params, "controls_ut", ["gain_out"]).set_index("arm").loc["replay"]
    assert np.isfinite(single["gain_out"]) and np.isnan([single["gain_out_low"], single["gain_out_high"]]).all()


def test_a_study_keeps_its_order_and_tells_what_was_not_trained(params: Params, results: pd.DataFrame) -> None:
    gone = select(results, experiment="controls", arm="replay").index
    table = controls.of_study(results.drop(gone), params, "controls", ["gain_out", "feasible"])
    assert table["arm"].tolist() == [*params.studied("controls").beside, "constrained"]
    trained = table.set_index("arm")["trained"]
    assert trained["replay"] == 0 and trained["penalty"] == 6
    assert table.set_index("arm").loc["unconstrained", "gain_out"] == 0
    assert table["feasible"].dropna().tolist() == [0, 0, 0, 0, 0, 1]
    forms = controls.of_study(results, params, "solver", ["slower"])
    assert forms["varied"].tolist() == ["", "", "ratio sgd", "log sgd"]
    assert forms["slower"].tolist() == pytest.approx([1, 1, 1.1, 1.1])


def test_without_the_baseline_there_is_no_gain_and_nothing_fails(params: Params, results: pd.DataFrame) -> None:
    gone = select(results, experiment="controls", arm="unconstrained").index
    table = controls.of_study(results.drop(gone), params, "controls", ["gain_out", "inflation", "rmse_out"])
    assert table[["gain_out", "inflation"]].isna().all().all() and table["rmse_out"].notna().sum() == 6


def test_rungs_are_compared_seed_by_seed_with_the_row_above_and_the_first(
    params: Params, results: pd.DataFrame
) -> None:
    for arm, error in (("unconstrained", 16.0), ("deep_supervision", 8.0), ("replay_positive", 4.0)):
        for seed in range(6):
            set_errors(results, params, error, error * (1 + seed), **CELL, arm=arm, seed=seed)
    for seed in range(3):
        first = CELL | {"experiment": "video", "model": "dust_shared"}
        set_errors(results, params, 32.0, 32.0 * (1 + seed), **first, arm="unconstrained", seed=seed)
    gone = select(results, experiment="controls", arm="replay").index
    table = controls.ladder(results.drop(gone), params, "controls", "dust_shared")
    assert table["arm"].tolist() == [
        *("unconstrained", "unconstrained", "deep_supervision", "replay_positive", "penalty", "constrained")
    ]
    assert table["model"].tolist() == ["dust_shared", *["dust_per_layer"] * 5]
    assert table["rmse_in"].tolist()[:4] == pytest.approx([32, 16, 8, 4])
    for where in ("in", "out"):  # the seeds' factors cancel: every increment is ln 2, without spread
        assert table[f"step_{where}"].tolist()[1:4] == pytest.approx([np.log(2)] * 3)
        assert table[f"all_{where}"].tolist()[1:4] == pytest.approx([np.log(2) * step for step in (1, 2, 3)])
        assert table[f"step_{where}_high"][1:4].tolist() == pytest.approx([np.log(2)] * 3)
    assert table["step_in"].isna().tolist() == [True] + [False] * 5, "nothing stands above the first"
    assert table["all_in_seeds"].tolist()[1:] == [3] * 5, "the grid has three seeds, the study six"


def test_training_stands_in_the_table_of_cells(params: Params, results: pd.DataFrame) -> None:
    cells = select(cells_table(results, params), **CELL, seed=0).set_index("arm")
    assert cells.loc["constrained", ["active", "oscillation", "feasible_epochs"]].tolist() == [True, 0.03, 0.9]
    assert pd.isna(cells.loc["replay", "active"]) and cells.loc["replay", "seconds"] == 10
    assert (cells["parameters"] == 5 * 256**2).all()


def test_an_average_that_nobody_named_is_refused(params: Params, results: pd.DataFrame) -> None:
    twice = select(results, **CELL, arm="replay", seed=0, metric="validation_loss").assign(split="test")
    with pytest.raises(UserError, match="'split'"):
        controls.trained_cells(pd.concat([results, twice]), params)
