"""The figure of training from made-up results, and what it shares with its neighbours: what they draw and lack."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.analysis.select import select
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import fig_training
from descent.figures.parts import catalogue, drawing, style, tables
from tests.fakes.drawn import words
from tests.fakes.results import change
from tests.fakes.results_training import EPOCHS, training_params

UT = {"experiment": "video", "dataset": "ucsd", "model": "ut", "arm": "constrained", "layers": 5, "seed": 0}
ENTRIES = ["fig_training", "fig_controls", "table_ladder", "table_solver"]


def panel(figure: Figure, row: int, name: str) -> Axes:
    return figure.axes[len(fig_training.HEADS) * row + list(fig_training.HEADS).index(name)]


def heights(axes: Axes) -> list[list[float]]:
    return [np.asarray(line.get_ydata(), float).tolist() for line in axes.lines]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig_training", "fig_controls"])
def test_a_page_has_legible_words_and_a_width_of_print(name: str, results, params: Params, tmp_path) -> None:
    figure = drawing.shown(catalogue.module(name), results, params)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 7
    assert "demo: synthetic data" in words(figure) and figure.get_figwidth() == style.TEXT
    style.save(figure, tmp_path / "one.png")
    again = drawing.shown(catalogue.module(name), results, params)
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


def test_training_leaves_out_what_stands_for_layers_below_the_cap(results, params: Params) -> None:
    change(results, -0.5, **UT, metric="violation_epoch")
    change(results, 0.0, **UT, metric="violation_epoch", layer=0)
    for cap_layer, drawn in ((0, 0.0), (1, -0.5)):
        capped = training_params({"objectives.constrained.models.ut.cap_layer": cap_layer})
        assert [drawn] * EPOCHS in heights(panel(fig_training.render(results, capped), 0, "violation"))


@pytest.mark.slow
def test_training_tells_the_numbers_of_the_tail(results, params: Params) -> None:
    change(results, 0.125, **UT, metric="oscillation")
    change(results, 0.0, **UT, metric="descent_active")
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
    assert "without epochs: UT (video)" in words(figure)
    assert len(figure.axes) == 4 * len(fig_training.HEADS) + 1  # and the bar of the layers
    none = fig_training.render(results[~epochs], params)
    assert not none.axes and any(word.startswith("without epochs: UT (video), DUST") for word in words(none))
    plain = training_params({"arms": ["unconstrained", "deep_supervision"], "method": "unconstrained"} | UNHELD)
    assert catalogue.left_out(fig_training, plain) == "no arm in use holds its cells to constraints"


def test_a_model_whose_pass_is_cut_says_in_how_many_epochs(results, params: Params) -> None:
    cut = params.with_budget("ut_text", {"parts": 9})
    figures = [fig_training.render(results, own) for own in (params, cut)]
    whole, told = ([axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()] for figure in figures)
    (row,) = [label for label in told if label.endswith("9 epochs a pass")]
    assert row.startswith("UT") and not any("a pass" in label for label in whole)


UNHELD = {"comparison": {"ours": "deep_supervision", "baseline": "unconstrained"}}


def test_one_epoch_is_points_where_a_line_would_show_nothing() -> None:
    for epochs, marker in ((1, "o"), (2, "None")):
        axes = Figure().subplots()
        table = pd.DataFrame({0: [0.9, 0.8][:epochs], 1: [0.5, 0.4][:epochs]})
        fig_training._draw_layers(axes, table, 1, largest=False)
        assert [line.get_marker() for line in axes.lines] == [marker, marker]
