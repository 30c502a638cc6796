"""Curves of a made-up results table: honest about gaps, about cells that failed and about what is averaged."""

import pandas as pd
import pytest

from descent.analysis.select import select
from descent.config import Params
from descent.errors import UserError
from descent.figures.parts import curves
from descent.figures.video import fig02_video_robustness as fig02
from tests.fakes.drawn import line
from tests.fakes.results import change


def test_a_missing_point_is_a_gap_in_its_curve_and_a_missing_cell_no_curve(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "eps": 0.13}
    hole = select(results, **cell, metric="rmse", arm="constrained", gamma=0.3).index
    gone = select(results, **cell, arm="unconstrained").index
    assert len(hole) and len(gone)
    axes = fig02.render(results.drop([*hole, *gone]), params).axes[4]  # second row, second column
    drawn = line(axes, "constrained")
    assert 0.3 not in drawn.get_xdata() and 0.25 in drawn.get_xdata()
    assert min(drawn.get_ydata()) > 0
    assert "unconstrained" not in [drawn.get_label() for drawn in axes.lines]


def test_an_infeasible_cell_is_drawn_hollow_and_named(results, params: Params) -> None:
    change(results, 0.0, experiment="video", dataset="avenue", model="ut", arm="constrained", metric="feasible")
    figure = fig02.render(results, params)
    marked = line(figure.axes[0], "constrained (infeasible)")
    assert marked.get_marker() == "o" and marked.get_markerfacecolor() == "white"
    assert line(figure.axes[1], "constrained").get_marker() == "None"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"constrained", "constrained (infeasible)", "unconstrained"} <= set(labels)


def test_a_diverged_cell_is_drawn_with_crosses(results, params: Params) -> None:
    change(results, 1.0, experiment="video", dataset="avenue", model="ut", arm="unconstrained", metric="diverged")
    assert line(fig02.render(results, params).axes[0], "unconstrained (diverged)").get_marker() == "x"


def test_a_cell_that_diverged_before_any_measurement_is_named_without_a_curve(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "avenue", "model": "ut", "arm": "unconstrained", "eps": 0.13}
    change(results, 1.0, **cell, metric="diverged")
    change(results, float("nan"), **cell, metric="rmse")
    change(results, float("nan"), **cell, metric="validation_loss")
    drawn = line(fig02.render(results, params).axes[0], "unconstrained (diverged)")
    assert len(drawn.get_xdata()) == 0


def test_an_average_that_nobody_named_is_refused(results) -> None:
    with pytest.raises(UserError, match="'eps'"):
        curves.curve(results, "gamma", "rmse", dataset="ucsd", model="dust", arm="constrained", layers=3)


def test_seeds_are_averaged_and_a_point_that_one_seed_lacks_is_left_out() -> None:
    rows = [("rmse", 0.0, 0, 1.0), ("rmse", 0.0, 1, 3.0), ("rmse", 0.1, 0, 5.0)]
    table = pd.DataFrame(rows, columns=["metric", "gamma", "seed", "value"]).assign(shift="gaussian")
    assert curves.curve(table, "gamma", "rmse").to_dict() == {0.0: 2.0}
