"""Shifts that tell: by known numbers, alike for both arms, and what a claim makes of those that do not."""

import math

import numpy as np
import pandas as pd
import pytest

from descent.analysis import scorecard, shift_estimates, telling
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.figures.beyond import table_shifts
from descent.figures.parts import shift_map, style
from tests.fakes.evidence import ENDS, OTHERS, SHIFTS, ZERO_RMSE, Made, real_params
from tests.fakes.results import change, fake_params, fake_results

TEXT = OTHERS["text"][0]
STILL = "uniform"  # here it moves nothing
TWO = {"video.evaluation.shifts": ["gaussian", *SHIFTS, STILL]}


def video() -> pd.DataFrame:
    return Made(seeds=6, noise=0).video(gain=0.2, models=("ut",), layers=(3,)).table()


def text() -> pd.DataFrame:
    return Made(seeds=6, noise=0).accuracy("text", "imdb", "ut_text", gain=0.02).table()


def told(rows: pd.DataFrame, task: str, shift: str) -> pd.Series:
    found = telling.table(Evidence(rows, real_params()), task).set_index("shift")
    return found.loc[shift]


def test_the_cost_and_what_is_left_are_means_over_both_arms() -> None:
    own = told(video(), "video", SHIFTS[0])
    rmse = np.exp([2.5 - 0.2, 2.5])
    assert own["cost"] == pytest.approx((rmse / np.exp([2.0 - 0.2 * 0, 2.0])).mean() - 1)
    assert own["left"] == pytest.approx(1 - rmse.mean() / ZERO_RMSE) and own["tells"]
    own = told(text(), "text", TEXT)
    assert own["cost"] == pytest.approx(0.85 - 0.71) and own["tells"]


@pytest.mark.parametrize(
    ("values", "tells"),
    [
        ((0.84, 0.801), False),  # costs less than five points
        ((0.84, 0.799), True),
        ((0.799, 0.84), True),  # the higher level is the milder one
        ((0.80, 0.80), True),  # just
        ((0.61, 0.0), True),  # one level breaks the models, and the other one tells
        ((0.59, 0.0), False),
        ((0.85, 0.0), False),  # one does nothing, the other one leaves nothing
    ],
)
def test_a_shift_of_texts_tells_where_it_costs_five_points_and_leaves_ten(
    values: tuple[float, float], tells: bool
) -> None:
    rows = text()
    for gamma, value in zip(ENDS, values, strict=True):
        change(rows, value, shift=TEXT, metric="accuracy", gamma=gamma)
    assert told(rows, "text", TEXT)["tells"] == tells


@pytest.mark.parametrize(("share", "tells"), [(1.09, False), (1.11, True)])
def test_a_shift_of_video_tells_where_it_makes_the_error_a_tenth_larger(share: float, tells: bool) -> None:
    rows = video()
    change(rows, math.exp(2.0) * share, shift=SHIFTS[0], metric="rmse")
    assert told(rows, "video", SHIFTS[0])["tells"] == tells
    change(rows, 0.95 * ZERO_RMSE, shift=SHIFTS[0], metric="rmse", gamma=0.6)
    assert told(rows, "video", SHIFTS[0])["tells"] == tells
    change(rows, 0.95 * ZERO_RMSE, shift=SHIFTS[0], metric="rmse")
    assert not told(rows, "video", SHIFTS[0])["tells"]


def test_what_counts_does_not_depend_on_which_arm_is_which() -> None:
    rows = video()
    change(rows, math.exp(2.0) * 1.05, shift=SHIFTS[0], metric="rmse", arm="constrained")
    other = video()
    change(other, math.exp(2.0) * 1.05, shift=SHIFTS[0], metric="rmse", arm="unconstrained")
    names = {"constrained": "unconstrained", "unconstrained": "constrained"}
    swapped = rows.assign(arm=rows["arm"].replace(names))
    for name in ("cost", "left"):
        assert told(swapped, "video", SHIFTS[0])[name] == pytest.approx(told(rows, "video", SHIFTS[0])[name])
    assert told(rows, "video", SHIFTS[0])["cost"] != told(other, "video", SHIFTS[0])["cost"]


def test_an_arm_of_which_cells_diverged_has_the_same_say() -> None:
    rows = video()
    for arm, share in (("constrained", 1.0), ("unconstrained", 1.15)):
        change(rows, math.exp(2.0) * share, shift=SHIFTS[0], metric="rmse", arm=arm)
    assert told(rows, "video", SHIFTS[0])["cost"] == pytest.approx(0.075)
    lost = select(rows, metric="rmse", arm="constrained").query("seed > 0").index
    assert told(rows.drop(lost), "video", SHIFTS[0])["cost"] == pytest.approx(0.075)


def test_a_shift_that_costs_nothing_is_no_part_of_the_mean_and_without_another_there_is_no_verdict() -> None:
    params, rows = real_params(TWO), Made(seeds=6).video(gain=0.07, models=("ut",)).table()
    still = rows[rows["shift"] == SHIFTS[0]].assign(shift=STILL)
    change(still, math.exp(2.0), metric="rmse")
    change(still, 2.0, metric="log_rmse_replicate")
    both = pd.concat([rows, still], ignore_index=True)

    def judged(table: pd.DataFrame) -> pd.Series:
        return scorecard.scorecard(table, params).set_index("claim").loc["video_shifts"]

    found = judged(both)
    assert found["estimate"] == pytest.approx(0.07, abs=0.002)
    [whole] = shift_estimates.table(both, params).query("shift == '' and arm == 'constrained'")["effect"]
    assert whole == pytest.approx(found["estimate"])
    change(both, math.exp(2.0), shift=SHIFTS[0], metric="rmse")
    nothing = judged(both)
    assert nothing["verdict"] == "not tested" and "no shift both costs ut something" in nothing["why"]
    assert nothing["estimate"] == pytest.approx(0.035, abs=0.002), "its numbers are of all shifts"


def test_a_shift_that_does_not_tell_has_a_dagger_and_is_named_below_the_map() -> None:
    params = fake_params(TWO | {"video.models": ["ut"], "text.datasets": [], "lm.datasets": [], "studies": []})
    rows = fake_results(params)
    style.use(params)
    clean = float(select(rows, metric="rmse", model="ut", shift="gaussian", gamma=0.0)["value"].median())
    change(rows, clean, model="ut", metric="rmse", gamma=0.0, shift="gaussian")
    change(rows, 2 * clean, model="ut", metric="rmse", shift=SHIFTS[0])
    change(rows, clean, model="ut", metric="rmse", shift=STILL)
    table = table_shifts.build(rows, params)
    shown = table_shifts.display(table, params)
    named = shown[("", "shift")].tolist()
    assert named == [style.name(SHIFTS[0]), f"{style.name(STILL)}†", "**mean over shifts**"]
    assert table_shifts.SILENT in table_shifts.notes(table, params)
    below = [axes.get_xlabel() for axes in shift_map.render(rows, params, "video").axes]
    assert f"not in the mean: {style.name(STILL)}" in below
    change(rows, clean, model="ut", metric="rmse", shift=SHIFTS[0])
    shown = table_shifts.display(table_shifts.build(rows, params), params)
    assert all(name.endswith("†") for name in shown[("", "shift")])
    assert any("of all" in axes.get_xlabel() for axes in shift_map.render(rows, params, "video").axes)
