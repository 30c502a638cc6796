"""Gains under shifts that training has not seen: means by hand, what enters them, and a claim about them."""

import math

import numpy as np
import pandas as pd
import pytest

from descent.analysis import effects, scorecard, shift_estimates, shifts
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.figures.beyond import table_shifts
from descent.figures.parts import style
from tests.fakes.evidence import SHIFTS, Made, real_params
from tests.fakes.results import COMPONENTS, change, fake_params, fake_results

CONTROL = {"LABEL": "shuffled", "TASKS": ["video"], "ENERGY": False, "EQUIVARIANT": True}
TWO = {
    "components": COMPONENTS | {"shifts": COMPONENTS["shifts"] | {"shuffled_frames": CONTROL}},
    "video.evaluation.shifts": ["gaussian", "salt_and_pepper", "shuffled_frames"],
}


@pytest.fixture(scope="module")
def params() -> Params:
    return fake_params(TWO)


@pytest.fixture(scope="module")
def results(params: Params) -> pd.DataFrame:
    """Of DUST every gain is known: 0.1 at each level, 0.4 at the last."""
    rows = fake_results(params)
    rows = rows[rows["metric"].isin(["rmse", "accuracy", "log_rmse_replicate", "test_items"])].copy()
    score = {"metric": "log_rmse_replicate", "shift": "salt_and_pepper", "model": "dust"}
    for arm, value in (("constrained", math.log(10)), ("unconstrained", math.log(10) + 0.7 / 4)):
        change(rows, value, **score, arm=arm)
    for gamma in params.video.evaluation.energies:
        gain = 0.4 if gamma == 0.6 else 0.1
        for arm, value in (("constrained", 10.0), ("unconstrained", 10.0 * math.exp(gain))):
            change(rows, value, shift="salt_and_pepper", model="dust", gamma=gamma, arm=arm, metric="rmse")
    return rows


def test_a_shift_is_the_mean_of_its_levels_and_a_control_enters_no_mean(results, params: Params) -> None:
    assert shifts.others(params, "video") == ["salt_and_pepper"] and shifts.unmoved(params, "video")
    gains = select(shifts.gains(results, params), model="dust", arm="constrained")
    assert set(gains["shift"]) == {"salt_and_pepper"} and set(gains["experiment"]) == {"video"}
    (row,) = shifts.estimates(gains, ["model"]).to_dict("records")
    assert row["effect"] == pytest.approx((3 * 0.1 + 0.4) / 4) and math.isnan(row["low"])
    assert (row["seeds"], row["settings"]) == (1, 3 * 2 * 3)  # data sets x depths x noise levels
    by_level = shifts.estimates(gains, ["shift", "gamma"]).set_index("gamma")["effect"]
    assert by_level.to_dict() == pytest.approx({0.15: 0.1, 0.3: 0.1, 0.45: 0.1, 0.6: 0.4})


def test_a_cell_that_diverged_is_not_left_out_of_the_means_but_scores_as_the_zero_map(params: Params) -> None:
    rows = fake_results(params)
    cell = {"dataset": "ucsd", "model": "dust", "layers": 3, "eps": 0.13, "seed": 0}
    change(rows, 1.0, **cell, arm="constrained", metric="diverged")
    at = {"shift": "salt_and_pepper", "gamma": 0.3, "metric": "rmse"}
    rows = rows.drop(select(rows, **cell, arm="constrained", experiment="video", metric="rmse").index)
    zero = select(rows, dataset="ucsd", model="dust", arm="zero", **at)["value"].item()
    plain = select(rows, **cell, arm="unconstrained", **at)["value"].item()
    (found,) = select(shifts.gains(rows, params), **cell, arm="constrained", shift=at["shift"], gamma=0.3)["gain"]
    assert found == pytest.approx(math.log(plain / zero))


def test_a_classifier_that_diverged_is_not_left_out_but_counts_as_chance_and_a_language_model_as_nothing() -> None:
    known = COMPONENTS["shifts"] | {"fog": {"LABEL": "fog", "TASKS": ["text", "lm"], "ENERGY": True}}
    use = {f"{task}.evaluation.shifts": ["gaussian", "fog"] for task in ("text", "lm")}
    named = {"components": COMPONENTS | {"shifts": known}, "video.datasets": [], "studies": []}
    named |= {"shifts": fake_params().shifts | {"fog": {"levels": None}}}
    with_fog = fake_params(named | use | {"text.search.arms": {}})
    rows = fake_results(with_fog)
    rows = rows[rows["metric"].isin(["accuracy", "diverged"])]
    rows = pd.concat([rows, select(rows, metric="accuracy", shift="gaussian", bin=0.0).assign(shift="fog")])
    rows = rows.reset_index(drop=True)
    chances = {"mnli": ("ut_text", 3, 1 / 3, 0.4, 0.4), "alpaca": ("causal_lm", 4, 0.0, 0.25, 0.5)}
    for dataset, (model, layers, chance, eps, gamma) in chances.items():
        cell = {"dataset": dataset, "model": model, "layers": layers, "eps": eps, "seed": 0}
        change(rows, 1.0, **cell, arm="constrained", metric="diverged")
        rows = rows.drop(select(rows, **cell, arm="constrained", metric="accuracy").index)
        at = {"shift": "fog", "gamma": gamma, "layer": layers, "metric": "accuracy"}
        plain = select(rows, **cell, **at, arm="unconstrained")["value"].item()
        (gain,) = select(shifts.gains(rows, with_fog), **cell, arm="constrained", gamma=gamma)["gain"]
        assert gain == pytest.approx(chance - plain)


def test_of_a_search_each_arm_shows_its_best_trial_and_no_interval() -> None:
    known = COMPONENTS["shifts"] | {"fog": {"LABEL": "fog", "TASKS": ["text"], "ENERGY": True}}
    named = {"components": COMPONENTS | {"shifts": known}, "video.datasets": [], "studies": [], "lm.datasets": []}
    named |= {"text.evaluation.shifts": ["gaussian", "fog"], "text.datasets": ["imdb"], "text.models": ["ut_text"]}
    searched = fake_params(named | {"shifts": fake_params().shifts | {"fog": {"levels": [0.4]}}})
    rows = fake_results(searched)
    other = select(rows, metric="accuracy", shift="gaussian", gamma=0.4, bin=0.0).assign(shift="fog")
    rows = pd.concat([rows, other], ignore_index=True)
    for arm, seed, value in (("constrained", 2, 0.9), ("unconstrained", 1, 0.6)):
        change(rows, 0.001, arm=arm, seed=seed, metric="validation_loss")
        change(rows, value, arm=arm, seed=seed, metric="accuracy", shift="fog")
    assert select(rows, shift="fog")["seed"].nunique() == 3
    found = shifts.estimates(select(shifts.gains(rows, searched), arm="constrained", eps=0.4), ["shift"])
    assert found[["effect", "seeds"]].to_numpy().tolist() == [[pytest.approx(0.3), 1]]


def test_models_of_single_frames_are_asked_of_no_shift_in_time() -> None:
    frames = {"LABEL": "dropped frames", "TASKS": ["video"], "ENERGY": False, "SEES": "time"}
    known = {"components": COMPONENTS | {"shifts": COMPONENTS["shifts"] | {"dropped_frames": frames}}}
    known |= {"video.evaluation.shifts": ["gaussian", "salt_and_pepper", "dropped_frames"]}
    every = ["salt_and_pepper", "dropped_frames"]
    assert shifts.others(fake_params(known | {"video.models": ["ut", "vit"]}), "video") == every
    assert shifts.others(fake_params(known | {"video.models": ["vit"]}), "video") == every[:1]


def test_means_are_over_shifts_with_equal_weight_whatever_their_levels(results, params: Params) -> None:
    other = select(results, shift="salt_and_pepper", gamma=0.6).assign(shift="fog")
    both = pd.concat([results, other])
    named = TWO["components"]["shifts"] | {"fog": CONTROL | {"EQUIVARIANT": False}}
    changes = {"components": COMPONENTS | {"shifts": named}, "shifts": params.shifts | {"fog": {"levels": [0.6]}}}
    with_fog = fake_params(TWO | changes | {"video.evaluation.shifts": ["gaussian", "salt_and_pepper", "fog"]})
    gains = select(shifts.gains(both, with_fog), model="dust", arm="constrained")
    (row,) = shifts.estimates(gains, ["model"]).to_dict("records")
    assert row["effect"] == pytest.approx((0.175 + 0.4) / 2)


def test_at_a_level_settings_are_trimmed_as_in_the_mean_over_levels(results, params: Params) -> None:
    """Of six settings one gains 1 more: a plain mean at each level would lie above every mean over levels."""
    rows, far = results.copy(), {"dataset": "ucsd", "model": "dust", "layers": 3, "arm": "constrained"}
    under = far | {"shift": "salt_and_pepper"}
    change(rows, 10.0 / math.e, **under, metric="rmse")
    change(rows, math.log(10) - 1, **under, metric="log_rmse_replicate")
    own = select(table_shifts.build(rows, params), model="dust", shift="salt_and_pepper")
    levels, [mean] = own.dropna(subset="gamma")["effect"].tolist(), own[own["gamma"].isna()]["effect"]
    assert levels == pytest.approx([0.1, 0.1, 0.1, 0.4]) and own["settings"].eq(6).all()
    assert mean == pytest.approx(np.mean(levels))


def test_a_control_that_moves_an_error_is_told(results, params: Params) -> None:
    rows = results.copy()
    for gamma in params.shifts["shuffled_frames"]["levels"]:
        change(rows, 10.0, shift="shuffled_frames", metric="rmse", gamma=gamma)
    assert shifts.moved(rows, params)["moved"].eq(0).all()
    change(rows, 10.1, shift="shuffled_frames", metric="rmse", gamma=1.0, model="ut", layers=5, eps=0.13)
    moved = shifts.moved(rows, params).set_index(["model", "arm"])["moved"]
    assert moved["ut", "constrained"] == pytest.approx(math.log(1.01)) and moved["dust", "constrained"] == 0
    style.use(params)
    table = table_shifts.build(rows, params)
    shown = table_shifts.display(table, params)
    shown.columns = shown.columns.get_level_values(1)
    by_shift = shown[shown["model"] == "UT"].set_index("shift")["mean over levels"]
    assert by_shift["shuffled"] == "control: 1 %"
    dust = shown[(shown["model"] == "DUST") & (shown["shift"] == "salt and pepper")].iloc[0]
    assert dust[["levels", "gain at each", "mean over levels"]].tolist() == [
        "gamma 0.15 0.3 0.45 0.6",
        "+10.0 +10.0 +10.0 +40.0",
        "+17.50",
    ]


def test_the_claim_is_the_mean_over_shifts_of_pairs_of_equal_capacity_and_a_lost_cell_scores_as_nothing() -> None:
    made = Made(seeds=6).video(gain=0.07, models=("ut",)).video(parameters=(200, 100), models=("dust",)).table()
    params = real_params()

    def effect(rows: pd.DataFrame) -> pd.Series:
        found = effects.of_claim("video_shifts", Evidence(rows, params))
        return select(found, resample=0).set_index(["dataset", "model", "layers", "seed"])["effect"]

    found = effect(made)
    assert set(found.index.get_level_values("model")) == {"ut"}, "the arms of the other differ in capacity"
    assert found.mean() == pytest.approx(0.07, abs=2e-3) and len(found) == 2 * 2 * 6
    lost = {"dataset": "ucsd", "model": "ut", "arm": "constrained", "layers": 3, "seed": 1}
    change(made, 1.0, **lost, metric="diverged")
    gone = select(made, **lost, shift=SHIFTS[0], metric="log_rmse_replicate").index
    assert len(gone)
    again = effect(made.drop(gone))
    assert again["ucsd", "ut", 3, 1] < -1 and again.notna().all()
    pd.testing.assert_series_equal(again.drop(("ucsd", "ut", 3, 1)), found.drop(("ucsd", "ut", 3, 1)))


def test_a_shift_alone_is_judged_as_the_claim_about_all_is() -> None:
    params = real_params()
    made = Made(seeds=6).video(gain=0.07, models=("ut",)).table()

    def ours(rows: pd.DataFrame) -> pd.DataFrame:
        return select(shift_estimates.table(rows, params), arm=params.comparison.ours).set_index("shift")

    found, ends = ours(made), ["effect", "low", "high", "seeds", "settings"]
    assert list(found.index) == [*SHIFTS, shift_estimates.ALL]
    claim = scorecard.scorecard(made, params).set_index("claim").loc["video_shifts"]
    expected = claim[["estimate", "low", "high", "seeds", "settings"]].tolist()
    assert found.loc[shift_estimates.ALL, ends].tolist() == pytest.approx(expected)
    wider, first = made.copy(), SHIFTS[0]
    drawn = (wider["shift"] == first) & (wider["metric"] == "log_rmse_replicate") & (wider["bin"] > 0)
    wider.loc[drawn & (wider["arm"] == params.comparison.ours), "value"] *= 1 + 0.2 * np.sin(wider["bin"])
    widths = [own.at[first, "high"] - own.at[first, "low"] for own in (found, ours(wider))]
    assert widths[1] > 2 * widths[0], "what test items move is in the interval"


def test_cells_that_diverged_count_in_the_table_as_in_the_claim() -> None:
    """Two, since of six settings one at either end is trimmed."""
    params = fake_params({"text.datasets": [], "lm.datasets": [], "studies": [], "video.models": ["dust"]})
    rows = fake_results(params)
    style.use(params)
    lost = {"dataset": "ucsd", "model": "dust", "eps": params.eps, "seed": 0, "arm": "constrained"}
    change(rows, 1.0, **lost, metric="diverged")
    rows = rows.drop(select(rows, **lost, experiment="video", metric="rmse").index)
    before, after = (table_shifts.build(own, params) for own in (fake_results(params), rows))
    assert before["settings"].dropna().eq(3 * 2).all() and after["settings"].dropna().eq(3 * 2).all()
    assert (after["effect"] < before["effect"])[after["gamma"].notna()].all()


def test_a_lost_cell_of_single_frames_is_asked_of_no_shift_in_time() -> None:
    """Lost cells have a score under every shift, also under those that nobody tested them under."""
    frames = {"LABEL": "dropped frames", "TASKS": ["video"], "ENERGY": False, "SEES": "time"}
    known = {"components": COMPONENTS | {"shifts": COMPONENTS["shifts"] | {"dropped_frames": frames}}}
    known |= {"video.evaluation.shifts": ["gaussian", "salt_and_pepper", "dropped_frames"]}
    params = fake_params(known | {"text.datasets": [], "lm.datasets": [], "studies": []})
    rows = fake_results(params)
    seen = set(zip(rows["model"], rows["shift"], strict=True))
    assert ("dust", "dropped_frames") in seen, "the made-up results have the shift"
    rows = rows[(rows["model"] != "vit") | (rows["shift"] != "dropped_frames")]
    lost = {"dataset": "ucsd", "model": "vit", "eps": params.eps, "seed": 0, "arm": "constrained"}
    change(rows, 1.0, **lost, metric="diverged")
    found = shift_estimates.table(rows, params)
    assert set(select(found, model="dust")["shift"]) == {"salt_and_pepper", "dropped_frames", shift_estimates.ALL}
    vit = select(found, model="vit")
    assert set(vit["shift"]) == {"salt_and_pepper", shift_estimates.ALL} and vit["effect"].notna().all()


def test_a_model_of_which_every_cell_is_lost_has_a_row_without_a_mean() -> None:
    others = {"text.datasets": [], "lm.datasets": [], "studies": [], "video.models": ["dust", "vit"]}
    params = fake_params(others)
    rows = fake_results(params)
    style.use(params)
    lost = {"experiment": "video", "model": "dust"}
    change(rows, 1.0, **lost, metric="diverged")
    scored = rows["metric"].isin(["rmse", "log_rmse_replicate"]) & rows["arm"].isin(params.arms)
    rows = rows[~(scored & (rows["model"] == "dust"))]
    assert not table_shifts.lacking(rows, params), "the other model is left to show"
    shown = table_shifts.display(table_shifts.build(rows, params), params)
    means = shown.groupby(("", "model"))[[("", "mean over levels")]].agg(set).squeeze()
    assert means[style.name("dust")] == {UNKNOWN} and UNKNOWN not in means[style.name("vit")]


def test_a_table_of_models_that_are_all_lost_says_so_instead() -> None:
    params = fake_params({"text.datasets": [], "lm.datasets": [], "studies": [], "video.models": ["dust"]})
    rows = fake_results(params)
    assert not table_shifts.lacking(rows, params)
    change(rows, 1.0, experiment="video", metric="diverged")
    scored = rows["metric"].isin(["rmse", "log_rmse_replicate"]) & rows["arm"].isin(params.arms)
    assert table_shifts.lacking(rows[~scored], params)
