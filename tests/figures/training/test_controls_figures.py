"""Figures of controls from made-up results: where the arms stand, what is told of them and what is lacking."""

import numpy as np
import pytest
from matplotlib.axes import Axes

from descent.analysis import controls
from descent.analysis.select import select
from descent.config import Params
from descent.figures.beyond import fig_controls, fig_text_controls, table_ladder, table_solver
from descent.figures.parts import catalogue, style
from descent.figures.video import fig02_video_robustness as fig02
from tests.fakes.drawn import words
from tests.fakes.results import change, fake_results
from tests.fakes.results_training import BESIDE, text_controls_params, training_params, with_training

CONTROLS = {"experiment": "controls", "dataset": "ucsd", "model": "dust_per_layer"}


def dots(axes: Axes, row: int) -> list[tuple[float, bool]]:
    """The place of a row's two points and whether they are filled; the baseline's row has none."""
    found = [line for line in axes.lines if line.get_marker() == "o"][2 * row - 2 : 2 * row]
    return [(float(line.get_xdata()[0]), line.get_markerfacecolor() != "white") for line in found]


def test_controls_stand_at_their_log_ratios(results, params: Params) -> None:
    for gamma in map(float, params.video.evaluation.gammas):
        for arm, error in (("unconstrained", 10.0), ("replay", 5.0 if gamma <= 0.13 else 20.0)):
            change(results, error, **CONTROLS, arm=arm, metric="rmse", gamma=gamma)
    axes = fig_controls.render(results, params).axes[0]
    beyond, within = dots(axes, BESIDE.index("replay"))
    assert beyond == (pytest.approx(-100 * np.log(2)), True) and within == (pytest.approx(100 * np.log(2)), False)
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        style.name(arm) for arm in [*BESIDE, "constrained"]
    ]


def test_controls_have_intervals_over_seeds_and_none_for_one(results, params: Params) -> None:
    several, single = fig_controls.render(results, params).axes
    bars = [line for line in several.lines if line.get_label() == "penalty out"]
    row = controls.of_study(results, params, "controls", ["gain_out"]).set_index("arm").loc["penalty"]
    assert bars[0].get_xdata() == pytest.approx([100 * row["gain_out_low"], 100 * row["gain_out_high"]])
    assert [line for line in single.lines if line.get_label().endswith((" in", " out"))] == []
    assert several.get_title("left").endswith("6 seeds")
    assert single.get_title("left").endswith("one seed: no intervals")


@pytest.mark.slow
def test_controls_write_inflation_feasible_cells_and_divergence(results, params: Params) -> None:
    change(results, 0.0, **CONTROLS, arm="constrained", seed=1, metric="feasible")
    change(results, 1.0, **CONTROLS, arm="constrained", seed=1, metric="diverged")
    share = controls.of_study(results, params, "controls", ["inflation"]).set_index("arm")["inflation"]
    written = [text.get_text() for text in fig_controls.render(results, params).axes[0].texts]
    assert "5 of 6" in written and "1 of 6 diverged, scored as if nothing was learned" in written
    assert "the baseline: zero" in written
    assert f"{100 * share['deep_supervision']:.0f}%" in written and share["deep_supervision"] > 0.05


def test_controls_of_a_classifier_stand_at_their_differences_in_points() -> None:
    params = text_controls_params()
    results = with_training(fake_results(params), params)
    for gamma in map(float, params.text.evaluation.gammas):
        test = {"metric": "accuracy", "split": "test", "layer": 6, "gamma": gamma}
        for arm, share in (("unconstrained", 0.7), ("deep_supervision", 0.72 if gamma <= 0.4 else 0.65)):
            change(results, share, experiment="controls_distilbert", **test, arm=arm)
    figure = fig_text_controls.render(results, params)
    beyond, within = dots(figure.axes[0], 1)
    assert beyond == (pytest.approx(-5), True) and within == (pytest.approx(2), False)
    assert "points" in figure.axes[0].get_xlabel() and "RMSE" not in figure.axes[0].get_xlabel()
    why = "no study of controls of text is in use"
    assert catalogue.left_out(fig_text_controls, training_params()) == why
    assert catalogue.left_out(fig_text_controls, params) == ""


def test_an_arm_without_cells_is_told_and_a_study_not_in_use_left_out(results, params: Params) -> None:
    gone = select(results, experiment="controls", arm="erm_range").index
    assert "no cells" in words(fig_controls.render(results.drop(gone), params))
    one = training_params({"studies": ["controls_ut", "solver"]})
    figure = fig_controls.render(results, one)
    assert len(figure.axes) == 1 and figure.axes[0].get_title("left").startswith("UT")
    assert catalogue.left_out(table_ladder, one) == "the study controls is not in use"
    none = training_params({"studies": []})
    assert catalogue.left_out(fig_controls, none) == "no study of controls of video is in use"
    assert catalogue.left_out(table_solver, none) == "the study solver is not in use"


def test_controls_of_arms_that_differ_in_capacity_say_so(params: Params) -> None:
    alike = catalogue.sidecar(fig_controls, params)["caption"]
    paper = training_params(
        {"study.controls": dict(params.study["controls"]) | {"model": "dust"}, "video.models": ["dust"]}
    )
    assert "capacity" not in alike
    assert "differ in dictionaries" in catalogue.sidecar(fig_controls, paper)["caption"]


def test_figure_2_tells_where_the_pair_differs_in_capacity(results, params: Params) -> None:
    place = {"experiment": "video", "model": "dust_per_layer", "arm": "unconstrained"}
    change(results, 1024.0, **place, metric="parameters")
    change(results, 4096.0, **(place | {"arm": "constrained"}), metric="parameters")
    change(results, 77.0, **(place | {"arm": "deep_supervision"}), metric="parameters")
    for model in ("ut", "dust_shared"):
        change(results, 2048.0, experiment="video", model=model, metric="parameters")
    titles = [axes.get_title("right") for axes in fig02.render(results, params).axes]
    assert [title.partition(", ")[2] for title in titles] == ["", "weights 4 : 1", ""]
    older = results[results["metric"] != "parameters"]
    assert not any("weights" in axes.get_title("right") for axes in fig02.render(older, params).axes)
