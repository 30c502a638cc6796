"""Bias and variance of the two arms, beside each other."""

import numpy as np
import pytest

from descent.analysis.select import select
from descent.analysis.summary import sound
from descent.figures.beyond import fig_bias, fig_stopped
from descent.figures.parts import catalogue
from tests.fakes.results import change, fake_params, fake_results

ONE = {"video.datasets": ["ucsd"], "video.models": ["dust"], "studies": [], "profiles.demo.video.seeds": [0, 1]}
PARAMS = fake_params(ONE)
PLACE = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 3, "eps": 0.13}


def test_both_parts_and_their_sum_are_told_of_the_baselines_squared_error() -> None:
    results = fake_results(PARAMS)
    figure = fig_bias.render(results, PARAMS)
    axes = next(axes for axes in figure.axes if axes.get_title().endswith("$L=3$"))
    drawn = {line.get_label(): line for line in axes.lines if line.get_label() in ("bias", "variance", "both")}
    gamma = max(PARAMS.video.evaluation.gammas)
    rmse = {
        arm: np.mean(select(results, **PLACE, arm=arm, metric="rmse", gamma=gamma, shift="gaussian")["value"] ** 2)
        for arm in ("constrained", "unconstrained")
    }
    expected = 100 * (rmse["constrained"] / rmse["unconstrained"] - 1)
    assert drawn["both"].get_xdata()[-1] == gamma
    assert drawn["both"].get_ydata()[-1] == pytest.approx(expected)
    parts = drawn["bias"].get_ydata() + drawn["variance"].get_ydata()
    np.testing.assert_allclose(parts, drawn["both"].get_ydata())
    assert abs(expected) > 1 and abs(drawn["bias"].get_ydata()[-1]) > 0.1, "else the test would see nothing"


def test_a_seed_that_lost_a_cell_is_left_out_of_both_arms() -> None:
    results = fake_results(PARAMS)
    alone = results[~((results["seed"] == 1) & (results["layers"] == 3))].reset_index(drop=True)
    change(results, 1.0, **PLACE, arm="unconstrained", seed=1, metric="diverged")
    both = (fig_bias.apart(sound(select(rows, **PLACE), PARAMS), 3, PARAMS) for rows in (results, alone))
    lost, without = both
    assert len(lost) and lost.equals(without)


def test_without_parts_it_is_left_out() -> None:
    results = fake_results(PARAMS)
    assert catalogue.left_out(fig_bias, PARAMS, results) == ""
    older = results[~results["metric"].isin(list(fig_bias.PARTS))]
    assert catalogue.left_out(fig_bias, PARAMS, older) == fig_bias.NONE


def test_where_every_seed_lost_a_cell_nothing_is_drawn() -> None:
    params = fake_params(ONE | {"text.datasets": [], "lm.datasets": []})
    results = fake_results(params)
    change(results, 1.0, experiment="video", arm="constrained", metric="diverged")
    for figure in (fig_bias.render(results, params), fig_stopped.render(results, params)):
        (axes,) = figure.axes
        assert not [line for line in axes.lines if len(line.get_xdata()) > 2]
