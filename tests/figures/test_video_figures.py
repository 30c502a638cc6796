"""Every figure and table from a made-up results table: complete, honest about gaps, the same bytes twice."""

import math
from functools import cache
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.analysis.differences import video_gains
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import fig_shifts
from descent.figures.parts import catalogue, curves, style
from descent.figures.video import fig02_video_robustness as fig02
from descent.figures.video import fig07_video_descent, fig08_video_tradeoffs
from tests.fakes.results import change, fake_params, fake_results, with_another_shift

# Figure 16 shows texts: test_lm_figures has tests of its own for it.
ONES = ("fig16_completions", "fig_attention", "fig_confidence", "fig_dictionary", "fig_frames", "fig_lens")
FIGURES = [name for name in catalogue.names() if name.startswith("fig") and name not in ONES]
TABLES = [name for name in catalogue.names() if name.startswith("table")]


@pytest.fixture(scope="module")
def params() -> Params:
    return fake_params()


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    return fake_results(params)


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()


@pytest.fixture(scope="module")
def shifted(made_up: pd.DataFrame) -> pd.DataFrame:
    return with_another_shift(made_up)


@cache
def drawn(name: str) -> Figure:
    """A figure of the made-up results as they are, drawn once for all who look at it."""
    return catalogue.module(name).render(fake_results(fake_params()), fake_params())


def panel(figure: Figure, title: str) -> Axes:
    return next(axes for axes in figure.axes if title in axes.get_title())


def line(axes: Axes, label: str):
    return next(line for line in axes.lines if line.get_label() == label)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig02_video_robustness", "fig12_layer_ratios", "fig_theory"])
def test_a_figure_renders_twice_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    few = fake_params({"video.datasets": ["ucsd"], "video.models": ["ut", "dust"], "text.datasets": ["imdb"]})
    entry, results = catalogue.module(name), fake_results(few)
    for place in ("first", "second"):
        figure = entry.render(results, few)
        for ending in ("pdf", "png"):
            style.save(figure, tmp_path / f"{place}.{ending}")
    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert (tmp_path / "first.png").stat().st_size < 400_000
    assert sum(len(axes.lines) for axes in figure.axes) >= 4


@pytest.mark.parametrize("name", FIGURES)
def test_words_are_legible_and_synthetic_data_named(name: str) -> None:
    figure = drawn(name)
    written = [text for text in figure.findobj(Text) if text.get_text()]
    assert min(text.get_fontsize() for text in written) >= 7
    assert "demo: synthetic data" in [text.get_text() for text in written]
    assert figure.get_figwidth() in (style.COLUMN, style.TEXT)


def test_real_data_carry_no_stamp(params: Params) -> None:
    real = fake_params({"profile": "small", "video.models": ["ut"], "text.datasets": []})
    figure = fig02.render(fake_results(real), real)
    assert not [text for text in figure.findobj(Text) if "synthetic" in text.get_text()]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_its_rows_names_the_stage(name: str, results, params: Params) -> None:
    with pytest.raises(UserError, match="stage evaluate_"):
        catalogue.module(name).render(results.iloc[:0], params)


def test_the_stamp_follows_the_data_that_a_figure_shows(params: Params) -> None:
    real_texts = fake_params({f"profiles.demo.data.{name}": {"path": name} for name in params.text.datasets})
    assert style.synthetic(real_texts) and not style.synthetic(real_texts, ("text",))
    for name, expected in (("fig02_video_robustness", True), ("fig04_text_robustness", False)):
        assert catalogue.sidecar(catalogue.module(name), real_texts)["synthetic"] is expected
    assert style.synthetic(real_texts, ("video", "text"))


def test_names_are_found_in_the_folder_and_an_unknown_one_lists_them() -> None:
    assert catalogue.module("fig03_depth").TITLE
    with pytest.raises(
        UserError,
        match=r"no figure or table 'fig99'; known: fig01_layerwise_descent, fig02_video_robustness, fig03_depth",
    ):
        catalogue.module("fig99")
    with pytest.raises(UserError, match="no part 'parts'; known: beyond, lm, text, video"):
        catalogue.names("parts")


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


def test_arms_differ_in_dash_and_colour_in_every_panel(params: Params) -> None:
    for axes in drawn("fig02_video_robustness").axes[:-3]:  # less the row of differences
        curves = [line(axes, style.name(arm)) for arm in params.arms]
        assert len({one.get_color() for one in curves}) == len(params.arms) == 3
        assert len({str(one._unscaled_dash_pattern) for one in curves}) == 3


def test_looks_follow_the_order_of_the_arms_and_names_their_labels() -> None:
    style.use(fake_params(arms=["deep_supervision", "constrained", "unconstrained"]))
    assert [style.color(arm) for arm in ("deep_supervision", "constrained")] == list(style.PALETTE[:2])
    assert (style.dashes("deep_supervision"), style.name("deep_supervision")) == ("-", "deep supervision")
    style.use(fake_params(arms=["unconstrained", "constrained"]))
    assert style.color("deep_supervision") == style.PALETTE[2], "an arm that only a study shows has a look as well"
    assert style.color("tv_chambolle") == style.GREY and style.name("tv_chambolle") == "total variation"


def test_no_arm_has_the_colour_of_the_compared_two_or_another_arms_look() -> None:
    more = {f"components.arms.arm{n}": {"LABEL": f"arm {n}", "ENFORCES": False} for n in range(12)}
    params = fake_params(more | {"studies": ["alpha"], "study.alpha.beside": ["replay_positive"]})
    style.use(params)
    looks = {arm: (style.color(arm), str(style.dashes(arm))) for arm in params.components["arms"]}
    assert len(set(looks.values())) == len(looks) > len(style.PALETTE)
    taken = [arm for arm, (color, _) in looks.items() if color in style.PALETTE[:2]]
    assert taken == list(params.arms[:2])
    assert style.color("replay_positive") == style.PALETTE[len(params.arms)], "what a study shows comes first"


def test_the_third_arm_is_drawn() -> None:
    everywhere = ["fig01_layerwise_descent", "fig02_video_robustness", "fig03_depth", "fig04_text_robustness"]
    everywhere += ["fig06_causal_lm", "fig07_video_descent", "fig13_all_descents"]
    for name in everywhere:
        colors = {to_hex(curve.get_color()).upper() for axes in drawn(name).axes for curve in axes.lines}
        assert style.color("deep_supervision") in colors, name


def test_fig02_has_references_of_every_model_and_tells_of_them(results, params: Params) -> None:
    for dataset in params.video.datasets:
        change(results, 11.0, dataset=dataset, model="vit", arm="tv_chambolle", metric="rmse")
    for axes in fig02.render(results, params).axes[6:9]:  # ViT's row
        drawn = line(axes, "total variation")
        assert set(drawn.get_ydata()) == {11.0} and drawn.get_color() == style.GREY
    caption = catalogue.sidecar(fig02, params)["caption"]
    assert "told the noise level" in caption and "whole frames" in caption
    assert "DUST differ in dictionaries" in caption and "resized to 32 x 32" in caption


@pytest.mark.slow
def test_fig02_shows_the_difference_of_the_arms_by_model_with_its_interval(params: Params) -> None:
    few = {"video.models": ["ut", "dust"], "text.datasets": [], "lm.datasets": [], "studies": []}
    several = fake_params(few | {"profiles.demo.video.seeds": [0, 1, 2]})
    results = fake_results(several)
    gains = video_gains(Evidence(results, several))
    figure = fig02.render(results, several)
    assert len(figure.axes) == 6 + 3
    for axes, dataset in zip(figure.axes[6:], several.video.datasets, strict=True):
        for bars, where in zip(axes.containers, ("out_of", "in"), strict=True):
            own = select(gains, dataset=dataset, where=where).set_index("model").loc[several.video.models]
            values, places = bars.lines[0].get_data()
            order = [several.video.models[round(place)] for place in places]
            assert values == pytest.approx(100 * own["gain"].loc[order].to_numpy())
            [segments] = [bars.get_segments() for bars in bars.lines[2]]
            ends = sorted(end for segment in segments for end in segment[:, 0])
            assert ends == pytest.approx(sorted(100 * own[["low", "high"]].to_numpy().ravel()))


@pytest.mark.slow
def test_other_shifts_have_their_own_figure_and_enter_no_other(results, params: Params) -> None:
    shift, theirs = "salt_and_pepper", {"arm": "unconstrained", "model": "dust", "metric": "rmse"}
    for arm, value in (("constrained", 10.0), ("unconstrained", 10.0 * math.exp(0.2))):
        where = theirs | {"shift": shift, "eps": 0.13, "gamma": 0.3, "arm": arm}
        change(results, value, **where)
    figure = fig_shifts.render(results, params)
    arms = [arm for arm in params.arms if arm != "unconstrained"]
    assert len(figure.axes) == len(arms) * len(params.video.models)
    axes = panel(figure, "DUST\nconstrained")
    squares = [text.get_text() for text in axes.texts]
    assert squares[1] == "+20.0" and len(squares) == len(params.video.evaluation.energies) + 1
    assert axes.collections[0].get_array()[0, 1] == pytest.approx(20)
    assert "salt and pepper\n$\\gamma$ 0.15  0.3  0.45  0.6" in [
        t.get_text() for t in figure.axes[0].get_yticklabels()
    ]
    before, after = (fig02.render(rows, params).axes[4] for rows in (select(results, shift="gaussian"), results))
    for label in ("constrained", "deep supervision", "noisy input"):
        assert line(before, label).get_ydata().tolist() == line(after, label).get_ydata().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig02_video_robustness", "fig07_video_descent", "fig08_video_tradeoffs"])
def test_a_second_shift_changes_no_figure_of_the_paper(name: str, shifted, params: Params) -> None:
    other = catalogue.module(name).render(shifted, params)
    for before, after in zip(drawn(name).axes, other.axes, strict=True):
        curves = [[list(curve.get_ydata()) for curve in axes.lines] for axes in (before, after)]
        assert str(curves[0]) == str(curves[1])


def test_an_average_that_nobody_named_is_refused(results) -> None:
    with pytest.raises(UserError, match="'eps'"):
        curves.curve(results, "gamma", "rmse", dataset="ucsd", model="dust", arm="constrained", layers=3)


def test_seeds_are_averaged_and_a_point_that_one_seed_lacks_is_left_out() -> None:
    rows = [("rmse", 0.0, 0, 1.0), ("rmse", 0.0, 1, 3.0), ("rmse", 0.1, 0, 5.0)]
    table = pd.DataFrame(rows, columns=["metric", "gamma", "seed", "value"]).assign(shift="gaussian")
    assert curves.curve(table, "gamma", "rmse").to_dict() == {0.0: 2.0}


def test_fig07_shows_the_losses_and_the_implied_bound(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 3, "eps": 0.13}
    for layer in range(4):
        test = {"metric": "loss", "gamma": 0.13, "layer": layer, "arm": "constrained"}
        change(results, 4.0 / 2**layer, **cell, **test)
    axes = panel(fig07_video_descent.render(results, params), "L=3")
    assert line(axes, "constrained").get_ydata().tolist() == [4.0, 2.0, 1.0, 0.5]
    asked = params.problem("ucsd", "dust")
    bound = line(axes, "implied bound").get_ydata().tolist()
    assert bound == pytest.approx([asked.R0 * (1 - asked.alpha) ** layer for layer in range(4)])


@pytest.mark.parametrize("module", [fig07_video_descent, fig08_video_tradeoffs], ids=["fig07", "fig08"])
def test_titles_of_three_panels_do_not_meet(
    module, results, params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = {"ucsd": "Shanghai", "avenue": "Shanghai", "shanghaitech": "Shanghai"}
    labels |= dict.fromkeys(("dust", "ut", "vit"), "DUST, a dictionary a layer")
    name = style.name
    monkeypatch.setattr(style, "name", lambda word: labels.get(word) or name(word))
    three = [results, select(results, layers=3).assign(layers=7)]
    figure = module.render(pd.concat(three, ignore_index=True), params)
    figure.canvas.draw()
    boxes = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
    assert len(boxes) == 3 and all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_fig08_takes_the_largest_turns_that_fig02_does_not_show(results, params: Params) -> None:
    setting = {"experiment": "video", "dataset": "avenue", "model": "ut", "layers": 3, "eps": 0.0}
    for gamma in params.video.evaluation.gammas:
        where = {"metric": "rmse", "gamma": gamma}
        change(results, 50.0 if gamma == 0 else 5.0, **setting, **where, arm="constrained")
        change(results, 10.0, **setting, **where, arm="unconstrained")
    picked = fig08_video_tradeoffs.chosen(cells_table(results, params), params)
    assert [choice["model"] for choice in picked].count("ut") == 1 and len(picked) == 3
    assert picked[0] == {name: setting[name] for name in ("dataset", "model", "layers", "eps")}
    change(results, 0.0, **setting, arm="constrained", metric="feasible")
    again = fig08_video_tradeoffs.chosen(cells_table(results, params), params)
    assert again == picked, "an infeasible cell is shown for what it is"
    labels = [text.get_text() for text in fig08_video_tradeoffs.render(results, params).legends[0].get_texts()]
    assert any(label.startswith("constrained (") for label in labels)
    change(results, 1.0, **setting, arm="constrained", metric="diverged")
    assert picked[0] not in fig08_video_tradeoffs.chosen(cells_table(results, params), params)


def test_fig08_never_repeats_what_fig02_shows(results, params: Params) -> None:
    only = results[(results["eps"] == 0.13) & (results["layers"] == 3) & (results["experiment"] == "video")]
    assert fig08_video_tradeoffs.chosen(cells_table(only, params), params) == []
    figure = fig08_video_tradeoffs.render(only, params)
    assert "no setting in this grid beside those of Figure 2" in [text.get_text() for text in figure.findobj(Text)]
    assert not figure.axes


def test_fig13_counts_descending_cells(results, params: Params) -> None:
    change(
        results, 99.0, experiment="video", model="ut", dataset="ucsd", metric="validation_loss", layer=2, layers=3
    )
    figure = catalogue.module("fig13_all_descents").render(results, params)
    texts = [text.get_text() for text in panel(figure, "UT").texts]
    assert "15 of 18 descend" in texts  # 18 constrained cells, of which three (one per level) now rise
    assert "18 of 18 descend" in [text.get_text() for text in panel(figure, "DUST").texts]
    assert "9 of 9 descend" in [text.get_text() for text in panel(figure, "ViT").texts], "it has one depth"
