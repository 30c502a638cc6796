"""Price and gain of single cells beside their longest step."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from descent.analysis.select import select
from descent.figures.beyond import fig_steps
from descent.figures.parts import catalogue, style
from tests.fakes.results import change, fake_params, fake_results

PARAMS = fake_params({"video.datasets": ["ucsd"], "video.models": ["ut", "vit"], "studies": []})
CELL = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13, "seed": 0}
GAMMAS = PARAMS.video.evaluation.gammas
OURS = CELL | {"arm": "constrained"}


def points(axes: Axes) -> list[tuple[float, float]]:
    """What is drawn of cells: the lines of one point."""
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]


def either_side(results: pd.DataFrame) -> tuple[float, float, float]:
    """Of one cell of ours the longest step, the price and the gain, from the rows of the table alone."""
    rmse = select(results, **CELL, metric="rmse", shift="gaussian", split="test")
    sides = []
    for inside in (True, False):
        logs = {
            arm: [np.log(select(rmse, arm=arm, gamma=g)["value"].item()) for g in GAMMAS if (g <= 0.13) == inside]
            for arm in ("constrained", "unconstrained")
        }
        sides.append(100 * (np.mean(logs["constrained"]) - np.mean(logs["unconstrained"])))
    return select(results, **OURS, metric="step_length")["value"].max(), sides[0], -sides[1]


def test_a_cell_stands_at_its_longest_step_with_what_it_pays_and_gains() -> None:
    results = fake_results(PARAMS)
    price, gain, bias, variance = fig_steps.render(results, PARAMS).axes
    longest, paid, gained = either_side(results)
    assert any(point == pytest.approx((longest, paid)) for point in points(price))
    assert any(point == pytest.approx((longest, gained)) for point in points(gain))
    for axes, metric, gamma in ((bias, "rmse_bias", 0.13), (variance, "rmse_variance", max(GAMMAS))):
        ours, baseline = (
            select(results, **CELL, arm=arm, metric=metric, gamma=gamma)["value"].item()
            for arm in ("constrained", "unconstrained")
        )
        assert any(point == pytest.approx((longest, 100 * np.log(ours / baseline))) for point in points(axes))
    ours = select(
        results, experiment="video", model="ut", arm="constrained", metric="feasible", split="validation"
    )
    assert len(points(price)) == len(points(gain)) == len(ours), "ViT has no such steps, and no point"


def test_cells_that_do_not_hold_are_hollow_and_lost_ones_not_there() -> None:
    results = fake_results(PARAMS)
    change(results, 0.0, **OURS, metric="feasible", split="validation")
    price, *_ = fig_steps.render(results, PARAMS).axes
    hollow = [line for line in price.lines if line.get_markerfacecolor() == "none"]
    assert [line.get_xdata()[0] for line in hollow] == [pytest.approx(either_side(results)[0])]
    before = len(points(price))
    change(results, 1.0, **OURS, metric="diverged")
    assert len(points(fig_steps.render(results, PARAMS).axes[0])) == before - 1


def test_of_more_models_than_markers_none_is_left_out() -> None:
    models = ["ut", "dust", "dust_per_layer"]
    params = fake_params(
        {"video.datasets": ["avenue", "ucsd", "shanghaitech"], "video.models": models, "studies": []}
    )
    results = fake_results(params)
    ours = select(results, experiment="video", arm="constrained", metric="feasible", split="validation")
    assert len(style.MARKERS) < 9 and len(points(fig_steps.render(results, params).axes[0])) == len(ours)


def test_of_runs_without_the_two_parts_price_and_gain_remain() -> None:
    results = fake_results(PARAMS)
    older = results[~results["metric"].isin(["rmse_bias", "rmse_variance"])]
    assert len(fig_steps.render(older, PARAMS).axes) == 2


def test_without_such_steps_it_is_left_out() -> None:
    results = fake_results(PARAMS)
    assert catalogue.left_out(fig_steps, PARAMS, results) == ""
    assert catalogue.left_out(fig_steps, PARAMS, results[results["metric"] != "step_length"]) == fig_steps.NONE
