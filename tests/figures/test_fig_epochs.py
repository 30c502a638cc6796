"""The figure of gains by the number of epochs: what it draws, and when there is nothing to draw."""

import pandas as pd
import pytest

from descent.analysis import epochs
from descent.analysis.select import select
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import fig_epochs
from descent.figures.parts import style
from tests.fakes.results import fake_params, fake_results

STUDY = {"task": "video", "dataset": "ucsd", "model": "ut", "layers": 5, "eps": 0.13, "arm": "constrained"}
STUDY |= {"beside": ["unconstrained"], "times": 0.5, "vary": None, "overrides": {}}


@pytest.fixture(scope="module")
def params() -> Params:
    own = {"study.half_ut": STUDY, "profiles.demo.studies.half_ut": {"seeds": [0, 1]}, "studies": ["half_ut"]}
    return fake_params(own | {"profiles.demo.video.seeds": [0, 1], "video.models": ["ut"], "text.datasets": []})


@pytest.fixture(scope="module")
def results(params: Params) -> pd.DataFrame:
    return fake_results(params)


def test_the_gains_stand_beside_the_losses_of_both_arms(results: pd.DataFrame, params: Params) -> None:
    style.use(params)
    table = epochs.table(results, params)
    assert len(table) == 2 and set(table["layers"]) == {5}
    gains, losses = fig_epochs.render(results, params).axes
    for bars, column in zip(gains.containers, ("gain_out", "gain_in"), strict=True):
        own = 100 * table[[column, f"{column}_low", f"{column}_high"]].to_numpy()
        places, values = bars.lines[0].get_data()
        beside = 1.02 if column == "gain_out" else 0.98  # so that neither hides the other
        assert places.tolist() == (beside * table["epochs"]).tolist() and values == pytest.approx(own[:, 0])
        ends = [segment[:, 1].tolist() for segment in bars.lines[2][0].get_segments()]
        assert ends == [pytest.approx(list(row)) for row in own[:, 1:]]
        assert (bars.lines[0].get_markerfacecolor() == "white") == (column == "gain_in")
    assert "%" in gains.get_ylabel() and losses.get_title() == "last layer, 2 seeds"
    for line, ending in zip(losses.lines, ("ours", "baseline"), strict=True):
        assert line.get_ydata() == pytest.approx(table[f"validation_loss_{ending}"].to_numpy())


def test_seeds_that_have_nothing_in_common_leave_empty_panels(results: pd.DataFrame, params: Params) -> None:
    seed = (results["experiment"] == "half_ut").astype(int)
    gains, losses = fig_epochs.render(results[results["seed"] == seed], params).axes
    assert losses.get_title() == "last layer, 0 seeds" and not losses.lines
    assert not any(len(bars.lines[0].get_xdata()) for bars in gains.containers)


def test_without_such_a_study_it_is_left_out_and_without_its_rows_it_says_so(
    results: pd.DataFrame, params: Params
) -> None:
    assert not fig_epochs.left_out(params)
    assert "another number of epochs" in fig_epochs.left_out(fake_params())
    with pytest.raises(UserError, match="experiment half_ut"):
        fig_epochs.render(select(results, experiment="video"), params)
