"""Figures and tables about text, from a made-up results table: the right cells, bands, gaps, marks, notes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.analysis.trials import best_text
from descent.config import Params
from descent.figures.parts import ablations, catalogue, curves, style
from tests.fakes.results import change, fake_params, fake_results
from tests.fakes.results_text import BINS

ROBERTA = {"experiment": "text", "dataset": "imdb", "model": "roberta", "eps": 0.4}
NAMES = ["fig01_layerwise_descent", "fig04_text_robustness", "fig05_step_size", "fig09_training_noise"]
NAMES += ["fig10_mnli_robustness", "fig12_layer_ratios", "fig14_alpha_ablation", "fig15_dual_lr_ablation"]


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    rows = fake_results(params)
    return rows[rows["experiment"] != "video"]


def render(name: str, results: pd.DataFrame, params: Params) -> Figure:
    return catalogue.module(name).render(results, params)


def panel(figure: Figure, title: str) -> Axes:
    return next(axes for axes in figure.axes if title in axes.get_title())


def line(axes: Axes, label: str):
    return next(line for line in axes.lines if line.get_label() == label)


@pytest.mark.parametrize("name", NAMES)
def test_one_value_one_seed_one_level_and_other_data_still_make_a_figure(name: str, tmp_path: Path) -> None:
    changes = {"text.datasets": ["imdb"], "text.models": ["ut_text"]}
    changes |= {"profiles.demo.text.eps": [0.4], "profiles.demo.text.seeds": [0]}
    for study, values in (("alpha", [0.0]), ("dual_lr", [0.01]), ("resilience", ["none", "decay"])):
        changes[f"study.{study}.model"] = "ut_text"
        changes[f"profiles.demo.studies.{study}"] = {"values": values, "seeds": [0]}
    small = fake_params(changes)
    figure = render(name, fake_results(small), small)
    style.save(figure, tmp_path / "figure.png")
    words = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "UT, IMDb" in words and "RoBERTa" not in words and "MNLI" not in words


def test_fig01_shows_the_best_trial_the_bound_and_chance(results: pd.DataFrame, params: Params) -> None:
    cell = ROBERTA | {"arm": "constrained", "seed": 2}
    change(results, 0.001, **cell, metric="validation_loss", layer=8)
    for layer in range(9):
        change(results, 1.0 / 2**layer, **cell, metric="loss", gamma=0.4, layer=layer)
    change(results, 0.75, **cell, metric="accuracy", layer=8)
    figure = render("fig01_layerwise_descent", results, params)
    loss, accuracy = figure.axes
    assert line(loss, "constrained").get_ydata().tolist() == [1 / 2**layer for layer in range(9)]
    assert set(line(accuracy, "constrained").get_ydata()) == {0.75}
    asked = params.problem("imdb", "roberta")
    bound = [asked.R0 * (1 - asked.alpha) ** layer for layer in range(9)]
    assert line(loss, "implied bound").get_ydata().tolist() == pytest.approx(bound)
    assert set(line(accuracy, "chance").get_ydata()) == {0.5}


def test_fig04_draws_the_best_trial_over_the_band_of_all(results: pd.DataFrame, params: Params) -> None:
    for seed, accuracy in enumerate((0.5, 0.7, 0.9)):
        change(results, accuracy, **ROBERTA, arm="constrained", seed=seed, metric="accuracy")
    best = select(best_text(cells_table(results, params), params), **ROBERTA, arm="constrained").squeeze()
    axes = panel(render("fig04_text_robustness", results, params), "RoBERTa, IMDb")
    assert set(line(axes, "constrained").get_ydata()) == {(0.5, 0.7, 0.9)[best["seed"]]}
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (pytest.approx(0.5), pytest.approx(0.9))  # 0.7 +- 0.2
    assert set(line(panel(axes.figure, "DistilBERT, MNLI"), "chance").get_ydata()) == {1 / 3}
    change(results, 1.0, **ROBERTA, arm="constrained", seed=2, metric="diverged")
    axes = panel(render("fig04_text_robustness", results, params), "RoBERTa, IMDb")
    assert axes.collections[0].get_paths()[0].vertices[:, 1].max() < 0.75  # 0.6 +- 0.14


def test_seeds_that_are_no_trials_are_shown_by_their_mean_and_not_by_the_luckiest(results: pd.DataFrame) -> None:
    seeds = fake_params({"text.search.arms": {}})
    for seed, accuracy in enumerate((0.5, 0.7, 0.6)):
        change(results, accuracy, **ROBERTA, arm="constrained", seed=seed, metric="accuracy")
    axes = panel(render("fig04_text_robustness", results, seeds), "RoBERTa, IMDb")
    assert line(axes, "constrained").get_ydata() == pytest.approx(0.6)
    axes = panel(render("fig01_layerwise_descent", results, seeds), "RoBERTa, IMDb")
    losses = select(
        results, **ROBERTA, arm="constrained", metric="loss", split="test", gamma=0.4, shift="gaussian"
    )
    assert line(axes, "constrained").get_ydata()[-1] == pytest.approx(
        losses[losses["layer"] == losses["layers"]]["value"].mean()
    )


def test_marks_of_text_are_those_of_the_cell_that_is_shown(results: pd.DataFrame, params: Params) -> None:
    best = select(best_text(cells_table(results, params), params), **ROBERTA, arm="constrained").squeeze()
    other = (best["seed"] + 1) % 3
    change(results, 0.0, **ROBERTA, arm="constrained", seed=other, metric="feasible", split="validation")
    change(results, 0.0, **ROBERTA, arm="constrained", metric="feasible", split="test")
    axes = panel(render("fig04_text_robustness", results, params), "RoBERTa, IMDb")
    assert line(axes, "constrained").get_marker() == "None"
    change(results, 0.0, **ROBERTA, arm="constrained", metric="feasible")
    axes = panel(render("fig04_text_robustness", results, params), "RoBERTa, IMDb")
    assert line(axes, "constrained (infeasible)").get_markerfacecolor() == "white"


def test_fig09_has_every_level_in_its_shade_and_errors_that_complement(
    results: pd.DataFrame, params: Params
) -> None:
    change(results, 0.8, model="distilbert", dataset="imdb", metric="accuracy", layer=3)
    accuracy, error = render("fig09_training_noise", results, params).axes
    for axes in (accuracy, error):
        shown = [drawn for drawn in axes.lines if drawn.get_label().startswith(r"$\epsilon=")]
        assert len(shown) == 6 and len({drawn.get_color() for drawn in shown}) == 6
    for drawn in error.lines:
        assert len(drawn.get_xdata()) == 7 and drawn.get_ydata()[3] == pytest.approx(0.2)


def test_fig09_names_the_depth_of_each_line_where_a_search_chose_unlike_ones() -> None:
    own = fake_params({"text.models": ["ut_text"]})
    results, (shallow, deep) = fake_results(own), own.model_budget("ut_text")["layers"]
    where = {"experiment": "text", "dataset": "imdb", "metric": "validation_loss"}
    for eps in select(results, experiment="text")["eps"].unique():
        best = deep if eps == 0.4 else shallow
        change(results, 0.001, **where, eps=eps, layers=best, layer=best)
    accuracy, _ = render("fig09_training_noise", results, own).axes
    named = {drawn.get_label() for drawn in accuracy.lines if drawn.get_label().startswith(r"$\epsilon=")}
    assert rf"$\epsilon=0.4$, $L={deep}$" in named and rf"$\epsilon=0$, $L={shallow}$" in named
    assert accuracy.get_title() == "UT, IMDb"


def test_fig12_shares_and_numbers_are_those_of_the_rows(results: pd.DataFrame, params: Params) -> None:
    where = {"experiment": "resilience", "varied": "decay"}
    change(results, 0.125, **where, metric="ratio_mean")
    shares = select(results, **where, metric="ratio_share", seed=0).sort_values("bin")["value"].to_numpy()
    figure = render("fig12_layer_ratios", results, params)
    drawn = panel(figure, "with relaxation (decay)").patches[0].get_data()
    assert drawn.values.tolist() == pytest.approx(shares.tolist()) and drawn.values.sum() == pytest.approx(1)
    assert drawn.edges[:-1].tolist() == pytest.approx(BINS) and drawn.edges[-1] == pytest.approx(2.02)
    words = " ".join(text.get_text() for text in panel(figure, "with relaxation (decay)").texts)
    assert "mean 0.125" in words
    assert "paper\nmean 0.87\nmedian 0.82\n70.8% below 1" in words
    assert panel(figure, "without relaxation").patches[1].get_data().values.sum() == pytest.approx(1)


def test_an_ablation_with_a_missing_seed_has_a_gap_there(results: pd.DataFrame, params: Params) -> None:
    for seed, accuracy in enumerate((0.6, 0.7, 0.8)):
        where = {"experiment": "alpha", "varied": "0.1", "seed": seed}
        change(results, accuracy, **where, metric="accuracy", layer=8)
    _, cells = ablations.cells_of(results, params, "alpha")
    found = ablations.by_value(select(cells, arm="constrained"), "accuracy_out_of_distribution")
    assert found.loc["0.1", ["mean", "std"]].tolist() == pytest.approx([0.7, 0.1])
    gone = select(results, experiment="alpha", varied="0.2", seed=1).index
    for rows in (results.drop(gone), results.assign(value=results["value"].mask(results.index.isin(gone)))):
        axes = render("fig05_step_size", rows, params).axes[1]
        assert np.isnan(line(axes, "constrained").get_ydata()).tolist() == [False, False, True]
        assert line(axes, "constrained").get_ydata()[1] == pytest.approx(0.7)


def test_ablations_mark_what_failed(results: pd.DataFrame, params: Params) -> None:
    change(results, 0.0, experiment="dual_lr", varied="0.01", seed=1, metric="feasible", split="validation")
    change(results, 1.0, experiment="dual_lr", varied="0.1", seed=2, metric="diverged")
    for axes in render("fig15_dual_lr_ablation", results, params).axes:
        assert line(axes, "constrained (some infeasible)").get_xdata().tolist() == [0.01]
        assert line(axes, "constrained (diverged)").get_xdata().tolist() == [0.1]
        assert np.isnan(line(axes, "constrained").get_ydata()).tolist() == [False, False, True]
        assert axes.get_xscale() == "log"


def test_fig14_shows_the_lowest_the_middle_and_the_highest_level(results: pd.DataFrame, params: Params) -> None:
    for gamma, accuracy in ((0.0, 0.9), (1.0, 0.8), (2.0, 0.7)):
        change(results, accuracy, experiment="alpha", metric="accuracy", gamma=gamma, layer=8)
    figure = render("fig14_alpha_ablation", results, params)
    assert [axes.get_title() for axes in figure.axes] == [rf"test noise $\gamma={g}$" for g in (0, 1, 2)]
    for axes, accuracy in zip(figure.axes, (0.9, 0.8, 0.7), strict=True):
        assert line(axes, "constrained").get_xdata().tolist() == [0.02, 0.1, 0.2]
        assert line(axes, "constrained").get_ydata().tolist() == pytest.approx([accuracy] * 3)
        assert line(axes, "unconstrained").get_ydata() == pytest.approx([accuracy] * 2)


def test_made_up_accuracy_rises_with_alpha_beyond_the_training_noise(
    results: pd.DataFrame, params: Params
) -> None:
    drawn = line(render("fig05_step_size", results, params).axes[1], "constrained").get_ydata()
    assert (np.diff(drawn) > 0).all()


def test_depths_are_told_where_the_arms_differ() -> None:
    arms = pd.DataFrame({"arm": ["deep_supervision", "unconstrained", "constrained"], "layers": [7, 3, 5]})
    assert curves.depths(arms) == "$L=5/3/7$"  # in the order of the legend
    same = arms.assign(layers=4)
    assert curves.depths(same) == curves.depths(same.head(1)) == "$L=4$"
    assert curves.depths(arms.head(0)) == ""


def test_a_kind_that_an_arm_was_not_tested_on_has_no_difference(results: pd.DataFrame) -> None:
    params = fake_params({"text.search.arms": {}})
    gone = {"dataset": "mnli", "model": "ut_text", "shift": "transfer"}
    rows = results.drop(select(results, **gone, tested="fiction", arm="constrained").index)
    rows = rows.drop(select(rows, **gone, tested="travel", arm="unconstrained").index)
    whole, own = (panel(render("fig_kinds", table, params), "UT, MNLI") for table in (results, rows))
    places = [[text.get_position()[1] for text in axes.texts] for axes in (whole, own)]
    assert places == [[0, 1, 2], [2]] and "nan" not in own.texts[0].get_text()


def test_kinds_of_text_keep_their_lines_where_a_model_diverged(results: pd.DataFrame) -> None:
    params = fake_params({"text.search.arms": {}})  # seeds repeat one training
    change(results, 1.0, experiment="text", dataset="mnli", model="distilbert", metric="diverged")
    figure = render("fig_kinds", results, params)
    sound, lost = (panel(figure, f"{name}, MNLI") for name in ("UT", "DistilBERT"))
    assert [tick.get_text() for tick in sound.get_yticklabels()] == ["fiction", "travel", "letters (unseen)"]
    own = select(results, dataset="mnli", model="ut_text", shift="transfer", eps=0.4, arm="constrained")
    first = own[own["tested"] == "fiction"]["value"].mean()
    assert sound.lines[params.arms.index("constrained")].get_xdata()[0] == pytest.approx(first)
    shown = [float(x) for mark in lost.lines for x in mark.get_xdata()]
    assert all(np.isnan(x) or x == pytest.approx(1 / 3) for x in shown)
