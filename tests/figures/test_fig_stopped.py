"""What stopping early pays and gains, drawn."""

import pytest

from descent.analysis import stopped
from descent.analysis.select import select
from descent.figures.beyond import fig_stopped
from descent.figures.parts import style
from tests.fakes.results import fake_params, fake_results

PARAMS = fake_params({"video.datasets": ["ucsd"], "video.models": ["ut"], "studies": []})


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
