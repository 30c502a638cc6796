"""Every figure and table from a made-up results table: complete, honest about gaps, the same bytes twice."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.errors import UserError
from descent.figures import catalogue, curves, fig07_video_descent, fig08_video_tradeoffs, style, tables
from descent.figures import fig02_video_robustness as fig02
from descent.figures import table1_video_hyperparameters as table1
from descent.figures import table3_video_rmse as table3
from descent.params import Params
from descent.summary import cells_table, select
from tests.fakes_results import fake_params, fake_results

FOLDER = Path(catalogue.__file__).parent
FIGURES = sorted(path.stem for path in FOLDER.glob("fig[0-9]*.py"))
TABLES = sorted(path.stem for path in FOLDER.glob("table[0-9]*.py"))


@pytest.fixture(scope="module")
def params() -> Params:
    return fake_params()


@pytest.fixture
def results(params: Params) -> pd.DataFrame:
    return fake_results(params)


def change(results: pd.DataFrame, value: float, **where: object) -> None:
    chosen = select(results, **where).index
    assert len(chosen)
    results.loc[chosen, "value"] = value


def panel(figure: Figure, title: str) -> Axes:
    return next(axes for axes in figure.axes if title in axes.get_title())


def line(axes: Axes, label: str):
    return next(line for line in axes.lines if line.get_label() == label)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_renders_twice_to_the_same_bytes(name: str, results, params: Params, tmp_path: Path) -> None:
    entry = catalogue.module(name, "figure")
    for place in ("first", "second"):
        figure = entry.render(results, params)
        for ending in ("pdf", "png"):
            style.save(figure, tmp_path / f"{place}.{ending}")
    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert (tmp_path / "first.png").stat().st_size < 300_000
    assert sum(len(axes.lines) for axes in figure.axes) >= 4


@pytest.mark.parametrize("name", FIGURES)
def test_words_are_legible_and_synthetic_data_named(name: str, results, params: Params) -> None:
    figure = catalogue.module(name, "figure").render(results, params)
    written = [text for text in figure.findobj(Text) if text.get_text()]
    assert min(text.get_fontsize() for text in written) >= 7
    assert "demo: synthetic data" in [text.get_text() for text in written]
    assert figure.get_figwidth() in (style.COLUMN, style.TEXT)


def test_real_data_carry_no_stamp(params: Params) -> None:
    real = params.model_copy(update={"profile": "small"})
    figure = fig02.render(fake_results(real), real)
    assert not [text for text in figure.findobj(Text) if "synthetic" in text.get_text()]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_its_rows_names_the_stage(name: str, results, params: Params) -> None:
    references = results[results["method"] == "reference"]
    empty = references[references["experiment"] == "none"]
    with pytest.raises(UserError, match="stage evaluate_"):
        catalogue.module(name, "figure").render(empty, params)


def test_figures_never_import_torch() -> None:
    names = [f"descent.figures.{path.stem}" for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    names += ["stages.figure", "stages.table", "stages.report", "stages.plots", "stages.collect"]
    code = f"import sys, importlib; sys.path.insert(0, 'src'); [importlib.import_module(n) for n in {names}]"
    code += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_are_found_in_the_folder_and_an_unknown_one_lists_them() -> None:
    assert catalogue.module("fig03_depth", "figure").TITLE
    with pytest.raises(UserError, match=r"no figure 'fig99'; known: fig02_video_robustness, fig03_depth"):
        catalogue.module("fig99", "figure")
    with pytest.raises(UserError, match="no table 'fig03_depth'"):
        catalogue.module("fig03_depth", "table")


@pytest.mark.parametrize(("kind", "name"), [("figure", n) for n in FIGURES] + [("table", n) for n in TABLES])
def test_sidecars_hold_the_values_of_their_parameters(kind: str, name: str, params: Params) -> None:
    found = catalogue.sidecar(catalogue.module(name, kind), kind, params)
    assert found["name"] == name and found["profile"] == "demo" and found["synthetic"] is True
    assert not any("$" in key for key in found["parameters"])
    if "profiles.demo.video.layers" in found["parameters"]:
        assert found["parameters"]["profiles.demo.video.layers"] == params.budget.video.layers
    assert "\n" not in found["caption"] and len(found["caption"]) > 80


def test_a_missing_point_is_a_gap_in_its_curve_and_a_missing_cell_no_curve(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "eps": 0.13}
    hole = select(results, **cell, metric="rmse", method="constrained", gamma=0.3).index
    gone = select(results, **cell, method="unconstrained").index
    assert len(hole) and len(gone)
    axes = fig02.render(results.drop([*hole, *gone]), params).axes[4]  # second row, second column
    drawn = line(axes, "constrained")
    assert 0.3 not in drawn.get_xdata() and 0.25 in drawn.get_xdata()
    assert min(drawn.get_ydata()) > 0
    assert "unconstrained" not in [drawn.get_label() for drawn in axes.lines]


def test_an_infeasible_cell_is_drawn_hollow_and_named(results, params: Params) -> None:
    change(results, 0.0, experiment="video", dataset="avenue", model="ut", method="constrained", metric="feasible")
    figure = fig02.render(results, params)
    marked = line(figure.axes[0], "constrained (infeasible)")
    assert marked.get_marker() == "o" and marked.get_markerfacecolor() == "white"
    assert line(figure.axes[1], "constrained").get_marker() == "None"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"constrained", "constrained (infeasible)", "unconstrained"} <= set(labels)


def test_a_diverged_cell_is_drawn_with_crosses(results, params: Params) -> None:
    change(
        results, 1.0, experiment="video", dataset="avenue", model="ut", method="unconstrained", metric="diverged"
    )
    assert line(fig02.render(results, params).axes[0], "unconstrained (diverged)").get_marker() == "x"


def test_a_cell_that_diverged_before_any_measurement_is_named_without_a_curve(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "avenue", "model": "ut", "method": "unconstrained", "eps": 0.13}
    change(results, 1.0, **cell, metric="diverged")
    change(results, float("nan"), **cell, metric="rmse")
    change(results, float("nan"), **cell, metric="validation_loss")
    drawn = line(fig02.render(results, params).axes[0], "unconstrained (diverged)")
    assert len(drawn.get_xdata()) == 0


def test_arms_differ_in_dash_and_colour_in_every_panel(results, params: Params) -> None:
    for axes in fig02.render(results, params).axes:
        assert line(axes, "constrained").get_linestyle() == "-"
        assert line(axes, "unconstrained").get_linestyle() == "--"
        assert line(axes, "constrained").get_color() != line(axes, "unconstrained").get_color()


def test_seeds_are_averaged_and_a_point_that_one_seed_lacks_is_left_out() -> None:
    rows = [("rmse", 0.0, 0, 1.0), ("rmse", 0.0, 1, 3.0), ("rmse", 0.1, 0, 5.0)]
    table = pd.DataFrame(rows, columns=["metric", "gamma", "seed", "value"])
    assert curves.curve(table, "gamma", "rmse").to_dict() == {0.0: 2.0}


def test_fig07_shows_the_losses_and_the_implied_bound(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 3, "eps": 0.13}
    for layer in range(4):
        test = {"metric": "loss", "gamma": 0.13, "layer": layer, "method": "constrained"}
        change(results, 4.0 / 2**layer, **cell, **test)
    axes = panel(fig07_video_descent.render(results, params), "L=3")
    assert line(axes, "constrained").get_ydata().tolist() == [4.0, 2.0, 1.0, 0.5]
    asked = params.primal_dual.dust
    bound = line(axes, "implied bound").get_ydata().tolist()
    assert bound == pytest.approx([asked.R0 * (1 - asked.alpha) ** layer for layer in range(4)])


def test_fig08_takes_the_largest_turns_that_fig02_does_not_show(results, params: Params) -> None:
    setting = {"experiment": "video", "dataset": "avenue", "model": "ut", "layers": 3, "eps": 0.0}
    for gamma in params.evaluation.gammas:
        where = {"metric": "rmse", "gamma": gamma}
        change(results, 50.0 if gamma == 0 else 5.0, **setting, **where, method="constrained")
        change(results, 10.0, **setting, **where, method="unconstrained")
    picked = fig08_video_tradeoffs.chosen(cells_table(results, params), headline=0.13)
    assert len(picked) == 3 and {choice["model"] for choice in picked} == {"ut", "dust"}
    assert picked[0] == {name: setting[name] for name in ("dataset", "model", "layers", "eps")}
    change(results, 0.0, **setting, method="constrained", metric="feasible")
    again = fig08_video_tradeoffs.chosen(cells_table(results, params), headline=0.13)
    assert picked[0] not in again


def test_fig08_never_repeats_what_fig02_shows(results, params: Params) -> None:
    only = results[(results["eps"] == 0.13) & (results["layers"] == 3) & (results["experiment"] == "video")]
    assert fig08_video_tradeoffs.chosen(cells_table(only, params), headline=0.13) == []
    figure = fig08_video_tradeoffs.render(only, params)
    assert "no further setting\nin this grid" in [text.get_text() for text in figure.findobj(Text)]


def test_fig13_counts_descending_cells(results, params: Params) -> None:
    change(
        results, 99.0, experiment="video", model="ut", dataset="ucsd", metric="validation_loss", layer=2, layers=3
    )
    figure = catalogue.module("fig13_all_descents", "figure").render(results, params)
    texts = [text.get_text() for text in panel(figure, "UT").texts]
    assert "15 of 18 descend" in texts  # 18 constrained cells, of which three (one per level) now rise
    assert "18 of 18 descend" in [text.get_text() for text in panel(figure, "DUST").texts]


def table3_setting(table: pd.DataFrame, model: str = "dust") -> pd.Series:
    return select(table, dataset="ucsd", model=model, layers=5, eps=0.13).squeeze()


def test_table3_numbers_by_hand(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13}
    for step, gamma in enumerate(params.evaluation.gammas):
        change(results, 10.0 + step, **cell, method="constrained", metric="rmse", gamma=gamma)
    table = table3.build(results, params)
    found = table3_setting(table)
    assert found["constrained"] == pytest.approx(16.0)  # the mean of 10 ... 22; the training level is no part
    assert (found["paper_constrained"], found["paper_unconstrained"]) == (13.240, 13.257)
    levels, depths = {*params.budget.video.eps, params.eps}, params.budget.video.layers
    assert len(table) == len(params.video.datasets) * len(params.video.models) * len(depths) * len(levels)


def test_table3_bold_daggers_dashes_and_wins(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13}
    change(results, 0.0, **cell, method="constrained", metric="feasible")
    change(results, 1.0, **cell, method="unconstrained", metric="rmse")
    lost = select(results, **(cell | {"layers": 3}), method="unconstrained").index
    table = table3.build(results.drop(lost), params)
    shown = table3.display(table, params)
    rows = shown[(shown[("", "model")] == "DUST") & (shown[("", "eps")] == "0.13")].set_index(("", "L"))["UCSD"]
    assert rows.loc["5", "constr."].endswith(tables.DAGGER) and "**" not in rows.loc["5", "constr."]
    assert rows.loc["5", "unconstr."] == "**1.00**"
    assert rows.loc["3", "unconstr."] == tables.MISSING and "**" not in rows.loc["3", "constr."]
    assert rows.loc["5", ["paper c.", "paper u."]].tolist() == ["**13.2**", "13.3"]
    notes = table3.notes(table, params)
    assert notes[0] == "The constrained arm is better in 34 of 35 settings."  # the fakes win all but what changed
    assert "orientation only" in notes[-1]


def test_table3_counts_the_papers_wins_over_the_whole_grid(params: Params) -> None:
    paper = params.model_copy(update={"profile": "paper"})
    notes = table3.notes(table3.build(fake_results(paper), paper), paper)
    assert (
        notes[1] == "In the same settings of the paper's table it is in 62 of 90 settings."
    )  # 74 of 105 less ViT's 12
    assert len(notes) == 2


def test_table1_stands_beside_what_is_known_of_the_papers(results, params: Params) -> None:
    table = table1.build(results, params).set_index("parameter")
    assert table.loc["R0", ["ut ours", "ut paper", "dust ours", "dust paper"]].tolist() == [5.5, 5.5, 6.5, 6.5]
    assert table.loc["1 - alpha", ["ut paper", "dust paper"]].tolist() == [0.78, 0.75]
    assert table.loc["lr", ["ut paper", "dust paper"]].isna().all()
    shown = table1.display(table.reset_index(), params)
    assert shown[("UT", "paper")].tolist().count(tables.MISSING) == len(shown) - 2
    assert shown[("DUST", "ours")].iloc[0] == "6.5"


def test_latex_and_markdown_say_the_same() -> None:
    columns = pd.MultiIndex.from_tuples([("", "model_a"), ("UCSD", "ours"), ("UCSD", "paper")])
    table = pd.DataFrame([["UT", "**1.50**", "2.00†"], ["DUST", tables.MISSING, "3 %"]], columns=columns)
    latex = tables.to_latex(table, ["a note"])
    assert r" & \multicolumn{2}{c}{UCSD} \\" in latex and "% a note" in latex
    assert r"UT & \textbf{1.50} & 2.00$^{\dagger}$ \\" in latex and r"DUST & -- & 3 \% \\" in latex
    assert r"model\_a" in latex
    lines = tables.to_markdown(table, ["a note"]).splitlines()
    assert lines[0] == "| model_a | UCSD ours | UCSD paper |" and lines[2] == "| UT | **1.50** | 2.00† |"
    assert lines[-1] == "a note" or lines[-2] == "a note"
