"""What stopping early pays and gains, drawn."""

import pytest

from descent import cells
from descent.analysis import stopped
from descent.analysis.select import select
from descent.figures.beyond import fig_stopped
from descent.figures.parts import style
from tests.fakes.results import fake_params, fake_results

VIDEO = {"video.datasets": ["ucsd"], "video.models": ["ut"], "studies": []}
PARAMS = fake_params(VIDEO | {"text.datasets": [], "lm.datasets": []})


def test_every_layer_that_costs_little_stands_where_its_price_and_gain_are() -> None:
    results = fake_results(PARAMS)
    found = stopped.table(select(results, eps=0.13), PARAMS)
    figure = fig_stopped.render(results, PARAMS)
    shown = 0
    for axes, layers in zip(figure.axes, sorted(found["layers"].unique()), strict=True):
        own = select(found, layers=layers)
        lines = {line.get_label(): line for line in axes.lines}
        for arm in PARAMS.comparison.arms:
            drawn = dict(zip(*(lines[style.name(arm)].get_data()), strict=True))
            last = select(own, arm=arm, layer=layers)
            assert drawn[-100 * last["gain_in"].item()] == pytest.approx(100 * last["gain_out"].item())
            shown += len(drawn)
        most = max(fig_stopped.LEAST, -200 * select(own, arm="constrained", layer=layers)["gain_in"].item())
        assert (-100 * own["gain_in"] <= most).sum() == sum(
            len(lines[style.name(arm)].get_xdata()) for arm in PARAMS.comparison.arms
        )
        assert "0.0" not in {text.get_text() for text in axes.texts}
    assert shown


def test_of_texts_and_the_language_model_it_is_in_points_of_accuracy() -> None:
    params = fake_params(VIDEO | {"text.datasets": ["imdb"], "text.models": ["distilbert"]})
    figure = fig_stopped.render(fake_results(params), params)
    units = [axes.get_ylabel().rsplit(", ")[-1] for axes in figure.axes if axes.lines]
    of_video = len(cells.depths(params, "ut"))
    assert units == ["%"] * of_video + ["points"] * (len(units) - of_video)
    assert len(units) >= of_video + 2
    for axes in figure.axes[len(units) :]:
        assert not axes.axison


def test_the_last_layer_of_plain_training_of_texts_is_at_zero() -> None:
    params = fake_params({"video.datasets": [], "text.datasets": ["imdb"], "text.models": ["distilbert"]})
    figure = fig_stopped.render(fake_results(params), params)
    plain = [
        line for axes in figure.axes for line in axes.lines if line.get_label() == style.name("unconstrained")
    ]
    assert plain
    for line in plain:
        assert (line.get_xdata()[-1], line.get_ydata()[-1]) == pytest.approx((0.0, 0.0))
