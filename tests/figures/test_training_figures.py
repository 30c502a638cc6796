"""Figures and tables of training, controls and solvers from made-up results: what they draw and what they lack."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.analysis import controls
from descent.analysis.select import select
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import fig_controls, fig_text_controls, fig_training, table_ladder, table_solver
from descent.figures.parts import catalogue, style, tables
from descent.figures.video import fig02_video_robustness as fig02
from tests.fakes.results import change, fake_results
from tests.fakes.results_training import BESIDE, EPOCHS, text_controls_params, training_params, with_training

UT = {"experiment": "video", "dataset": "ucsd", "model": "ut", "arm": "constrained", "layers": 5, "seed": 0}
CONTROLS = {"experiment": "controls", "dataset": "ucsd", "model": "dust_per_layer"}
ENTRIES = ["fig_training", "fig_controls", "table_ladder", "table_solver"]


@pytest.fixture(scope="module")
def params() -> Params:
    return training_params()


@pytest.fixture(autouse=True)
def look(params: Params) -> None:
    style.use(params)


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    rows = with_training(fake_results(params), params)
    return rows[~rows["metric"].str.endswith("_replicate")].reset_index(drop=True)


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def panel(figure: Figure, row: int, name: str) -> Axes:
    return figure.axes[len(fig_training.HEADS) * row + list(fig_training.HEADS).index(name)]


def heights(axes: Axes) -> list[list[float]]:
    return [np.asarray(line.get_ydata(), float).tolist() for line in axes.lines]


def dots(axes: Axes, row: int) -> list[tuple[float, bool]]:
    """The place of a row's two points and whether they are filled; the baseline's row has none."""
    found = [line for line in axes.lines if line.get_marker() == "o"][2 * row - 2 : 2 * row]
    return [(float(line.get_xdata()[0]), line.get_markerfacecolor() != "white") for line in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig_training", "fig_controls"])
def test_a_page_has_legible_words_and_a_width_of_print(name: str, results, params: Params, tmp_path) -> None:
    figure = catalogue.module(name).render(results, params)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 7
    assert "demo: synthetic data" in words(figure) and figure.get_figwidth() == style.TEXT
    style.save(figure, tmp_path / "one.png")
    again = catalogue.module(name).render(results, params)
    style.save(again, tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


@pytest.mark.parametrize("name", ENTRIES)
def test_a_sidecar_has_every_parameter_and_a_table_its_texts(name: str, results, params: Params) -> None:
    entry = catalogue.module(name)
    assert catalogue.left_out(entry, params) == ""
    found = catalogue.sidecar(entry, params)
    asked = {key for key in entry.PARAMETERS if catalogue.CONTROLS not in key}
    gone = asked - {key.replace("demo", "${profile}") for key in found["parameters"]}
    assert {key for key in gone if "${" not in key or "studies" not in key} <= {"objectives.${ours}"}
    if catalogue.kind(entry) == "table":
        numbers, shown, notes = tables.made(entry, results, params)
        assert len(numbers) == len(shown) > 3
        assert tables.to_latex(shown, notes).count(r"\\") == len(shown) + 2
        assert notes[0] == "DUST, a dictionary a layer, UCSD, eps = 0.13, L = 5."


@pytest.mark.parametrize("name", ENTRIES)
def test_without_rows_the_stage_that_makes_them_is_named(name: str, results, params: Params) -> None:
    entry = catalogue.module(name)
    make = getattr(entry, "render", None) or entry.build
    with pytest.raises(UserError, match="stage evaluate_"):
        make(results.iloc[:0], params)


@pytest.mark.slow
def test_training_draws_every_layer_of_the_deepest_cell(results, params: Params) -> None:
    for epoch in range(1, EPOCHS + 1):
        place = {"metric": "loss_epoch", "bin": float(epoch)}
        change(results, 5.0 + epoch, **UT, **place, layer=2)
    figure = fig_training.render(results, params)
    loss, multiplier, weight = (panel(figure, 0, name) for name in ("loss", "multiplier", "weight"))
    assert loss.get_ylabel() == "UT\nUCSD, $L=5$" and loss.get_yscale() == "log"
    drawn = [line for line in loss.lines if len(line.get_xdata()) == EPOCHS]
    baseline, *drawn = drawn
    twin = select(results, **UT | {"arm": "unconstrained"}, metric="loss_epoch", layer=5).sort_values("bin")
    assert baseline.get_ydata().tolist() == twin["value"].tolist() and len(drawn) == 6
    assert drawn[2].get_xdata().tolist() == list(range(1, EPOCHS + 1))
    assert drawn[2].get_ydata().tolist() == [5.0 + epoch for epoch in range(1, EPOCHS + 1)]
    shades = [to_hex(line.get_color()) for line in drawn]
    assert len(set(shades)) == 6 and shades[-1] == to_hex(fig_training.LAYERS(1.0))
    assert len([line for line in multiplier.lines if len(line.get_xdata()) == EPOCHS]) == 6
    assert weight.get_yscale() == "symlog"
    assert [0, 0] in heights(weight) and [1, 1] in heights(weight), "the weights of ERM"
    assert [panel(figure, row, "loss").get_ylabel().split("\n")[0] for row in range(4)] == [
        *("UT", "DUST, a dictionary", "DUST, one", "UT")
    ]


@pytest.mark.parametrize("below", [0.0, 0.0008, 0.0999, 3.0])
def test_the_weight_that_erm_gives_the_last_layer_has_its_tick(results, params: Params, below: float) -> None:
    for layer in range(5):
        change(results, -below, **UT, metric="weight_epoch", layer=layer)
    change(results, 1.5, **UT, metric="weight_epoch", layer=5)
    ticks = panel(fig_training.render(results, params), 0, "weight").get_yticks()
    assert {0.0, 1.0} <= {round(float(tick), 9) for tick in ticks} and len(ticks) <= 7


def test_training_draws_the_largest_violation_beside_the_tolerance(results, params: Params) -> None:
    change(results, -0.5, **UT, metric="violation_epoch")
    change(results, 0.7, **UT, metric="violation_epoch", layer=4, bin=9.0)
    axes = panel(fig_training.render(results, params), 0, "violation")
    expected = [0.7 if epoch == 9 else -0.5 for epoch in range(1, EPOCHS + 1)]
    assert expected in heights(axes) and [params.video.tolerance] * 2 in heights(axes)


@pytest.mark.slow
def test_training_tells_the_numbers_of_the_tail(results, params: Params) -> None:
    change(results, 0.125, **UT, metric="oscillation")
    change(results, 0.0, **UT, metric="active")
    gone = select(results, **UT, metric="feasible_epochs").index
    figure = fig_training.render(results.drop(gone), params)
    texts = {name: [text.get_text() for text in panel(figure, 0, name).texts] for name in fig_training.HEADS}
    assert texts["loss"] == ["$f_0$ swings by 12.5%"] and texts["multiplier"] == ["not active, swing by 8%"]
    assert texts["violation"] == [] == texts["weight"]
    assert [text.get_text() for text in panel(figure, 1, "violation").texts] == ["feasible 90%"]
    change(results, 1.0, **UT, metric="diverged")
    figure = fig_training.render(results, params)
    assert [text.get_text() for text in panel(figure, 0, "loss").texts] == ["diverged"]


def test_training_names_models_without_epochs(results, params: Params) -> None:
    epochs = results["metric"].str.endswith("_epoch")
    figure = fig_training.render(results[~(epochs & (results["model"] == "ut"))], params)
    assert "without epochs of seed 0: UT (video)" in words(figure)
    assert len(figure.axes) == 4 * len(fig_training.HEADS) + 1  # and the bar of the layers
    none = fig_training.render(results[~epochs], params)
    assert len(none.axes) == 1 and any(
        word.startswith("without epochs of seed 0: UT (video), DUST") for word in words(none)
    )
    plain = training_params({"arms": ["unconstrained", "deep_supervision"], "method": "unconstrained"} | UNHELD)
    assert catalogue.left_out(fig_training, plain) == "no arm in use holds its cells to constraints"


UNHELD = {"comparison": {"ours": "deep_supervision", "baseline": "unconstrained"}}


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
    why = "no study of controls of video is in use"
    assert catalogue.left_out(fig_controls, none) == why and why in words(fig_controls.render(results, none))
    assert catalogue.left_out(table_solver, none) == "the study solver is not in use"


def test_controls_of_arms_that_differ_in_capacity_say_so(params: Params) -> None:
    alike = catalogue.sidecar(fig_controls, params)["caption"]
    paper = training_params(
        {"study.controls": dict(params.study["controls"]) | {"model": "dust"}, "video.models": ["dust"]}
    )
    assert "capacity" not in alike
    assert "differ in dictionaries" in catalogue.sidecar(fig_controls, paper)["caption"]


def test_the_ladder_writes_steps_and_names_those_without_cells(results, params: Params) -> None:
    gone = results["arm"].isin(["replay", "replay_positive"]) & (results["experiment"] == "controls")
    table = table_ladder.build(results[~gone], params)
    shown = table_ladder.display(table, params)
    assert shown[("", "step")].tolist() == [
        "unconstrained (DUST, one dictionary)",
        "+ capacity (DUST, a dictionary a layer)",
        *("+ deep supervision", "+ penalty", "+ constrained"),
    ]
    assert shown.iloc[0, 4:8].tolist() == [tables.MISSING] * 4
    step = 100 * table.loc[3, ["step_out", "step_out_low", "step_out_high"]].astype(float)
    assert shown.iloc[3, 5] == "{:+.2f} [{:+.2f}, {:+.2f}]".format(*step)
    assert shown[("", "descends")].tolist() == ["0%"] * 4 + ["100%"]
    assert table_ladder.notes(table, params)[1:] == [
        "Left out, as no such cell was trained: + replay, + replay, positive part."
    ]


def test_a_step_is_never_from_a_row_of_which_every_cell_diverged(results, params: Params) -> None:
    lost = {"experiment": "controls", "arm": "replay"}
    whole = table_ladder.build(results, params).set_index("arm")
    for seed in results["seed"].unique():
        change(results, 1.0, **lost, seed=seed, metric="diverged")
    table = table_ladder.build(results, params)
    place = table.index[table["arm"] == "replay"][0]
    after, before = table.iloc[place + 1], table.iloc[place - 1]
    gain = float(np.log(before["rmse_out"] / after["rmse_out"]))
    assert table.loc[place, "rmse_out"] > 2 * whole.loc["replay", "rmse_out"], "it is the zero map's"
    assert after["step_out"] == pytest.approx(gain, abs=0.02) and abs(after["step_out"]) < 0.5


def test_the_ladder_of_one_seed_has_no_intervals_and_without_its_first_row_starts_at_the_next(
    results, params: Params
) -> None:
    few = results[(results["seed"] == 0) & (results["model"] != "dust_shared")]
    table = table_ladder.build(few, params)
    shown = table_ladder.display(table, params)
    assert (
        shown.iloc[0, 0].startswith("+ capacity") and shown.iloc[1, 4] == f"{100 * table.loc[1, 'step_in']:+.2f}"
    )
    assert "unconstrained (DUST, one dictionary)" in table_ladder.notes(table, params)[1]


def test_the_solvers_are_told_apart_by_their_forms(results, params: Params) -> None:
    cell = {"experiment": "solver", "varied": "log sgd"}
    change(results, 0.0, **cell, metric="feasible", split="validation", seed=0)
    change(results, 1.0, **cell, metric="diverged", seed=1)
    change(results, 0.5, **cell, metric="clipped", seed=0)
    change(results, 20.0, **cell, metric="seconds")
    table = table_solver.build(results, params)
    shown = table_solver.display(table, params).set_index(("", "form"))
    assert shown.index.tolist() == ["unconstrained", "penalty", "ratio sgd", "log sgd"]
    row = shown.loc["log sgd"]
    assert (row["feasible", "seeds"], row["feasible", "epochs"], row["", "active"]) == ("50%", "90%", "100%")
    assert (row["", "clipped"], row["", "time"], row["", "diverged"]) == ("35%", "2.00", "1 of 2")
    assert "**" not in row["RMSE", "out"]
    alike = [
        words
        for words in shown["RMSE", "out"]
        if words.strip("*") == shown.loc["ratio sgd"]["RMSE", "out"].strip("*")
    ]
    assert ("**" in shown.loc["ratio sgd"]["RMSE", "out"]) == (len(alike) == 1)
    assert shown.loc["penalty"]["", "active"] == tables.MISSING
    gone = select(results, **cell).index
    table = table_solver.build(results.drop(gone), params)
    assert table_solver.display(table, params).iloc[-1, 1:].tolist() == [tables.MISSING] * 10
    assert table_solver.notes(table, params)[1] == "No cell was trained of: log sgd."


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


def test_one_epoch_is_points_where_a_line_would_show_nothing() -> None:
    for epochs, marker in ((1, "o"), (2, "None")):
        axes = Figure().subplots()
        table = pd.DataFrame({0: [0.9, 0.8][:epochs], 1: [0.5, 0.4][:epochs]})
        fig_training._draw_layers(axes, table, 1, largest=False)
        assert [line.get_marker() for line in axes.lines] == [marker, marker]
