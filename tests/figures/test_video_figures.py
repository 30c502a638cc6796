"""Figures about video from a made-up results table: the right cells, differences, titles and counts."""

import math
from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent.analysis.differences import video_gains
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.beyond import fig_shifts
from descent.figures.parts import catalogue, style
from descent.figures.video import fig02_video_robustness as fig02
from descent.figures.video import fig07_video_descent, fig08_video_tradeoffs
from tests.fakes.drawn import drawn, line
from tests.fakes.results import change, fake_params, fake_results, with_another_shift


@pytest.fixture(scope="module")
def shifted(made_up: pd.DataFrame) -> pd.DataFrame:
    return with_another_shift(made_up)


def panel(figure: Figure, title: str) -> Axes:
    return next(axes for axes in figure.axes if title in axes.get_title())


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
