"""The forest plot draws what the scorecard says, and no estimate of what was not tested."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Text

from descent.analysis import scorecard
from descent.analysis.claims import CLAIMS
from descent.config import Params
from descent.errors import UserError
from descent.figures.beyond import fig_forest
from descent.figures.parts import style
from tests.fakes.cards import card
from tests.fakes.results import fake_params, fake_results

REAL = {"profile": "small"}


NONE = pd.DataFrame(columns=scorecard.BY_MODEL)


def drawn(params: Params, rows: pd.DataFrame, models: pd.DataFrame = NONE) -> tuple[list[Axes], list[str]]:
    """The panels of the claims, and all words."""
    figure = fig_forest.forest(rows, models, params)
    return figure.axes[::2], [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def segments(axes: Axes) -> list[np.ndarray]:
    found = (lines for lines in axes.collections if isinstance(lines, LineCollection))
    return [segment for lines in found for segment in lines.get_segments()]


def markers(axes: Axes, sign: str) -> list[tuple[float, float]]:
    lines = [line for line in axes.lines if line.get_marker() == sign]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


def test_estimates_intervals_and_the_papers_values_stand_at_their_claims() -> None:
    panels, words = drawn(fake_params(REAL), card())
    middle = 0.5 * fig_forest.CLAIM
    ours = [markers(axes, "o") for axes in panels]
    assert ours == [[pytest.approx((2.0, middle))], [pytest.approx((0.1, middle))], []], "the last was not tested"
    assert [markers(axes, "D") for axes in panels] == [[pytest.approx((5.0, middle))], [], []]
    bars = [[list(bar[:, 0]) for bar in segments(axes)] for axes in panels]
    assert bars == [[pytest.approx([1.0, 3.0])], [pytest.approx([-0.2, 0.4])], []]
    labels = [" ".join(label.get_text().split()) for axes in panels for label in axes.get_yticklabels()]
    named = {"video_ood": "% better →", "video_cost": "% ← better", "text_ood": "points better →"}
    assert labels == [f"Statement of {claim} ({unit})" for claim, unit in named.items()]
    assert "reproduced\n8 seeds, 27 settings" in words and "not tested" in words
    assert not [word for word in words if "synthetic" in word]


def test_the_exploratory_claims_are_left_out() -> None:
    _, words = drawn(fake_params(REAL), card())
    assert not [word for word in words if "depth" in word]


def test_synthetic_data_are_named_at_every_claim() -> None:
    rows = card().assign(verdict="not tested")
    panels, words = drawn(fake_params(), rows)
    assert words.count("not tested (synthetic)") == 3 and not [axes for axes in panels if markers(axes, "o")]


def test_a_missing_interval_is_no_bar() -> None:
    panels, _ = drawn(fake_params(REAL), card().assign(low=np.nan, high=np.nan))
    assert [len(markers(axes, "o")) for axes in panels] == [1, 1, 0]
    assert not [segment for axes in panels for segment in segments(axes)]


def test_the_real_scorecard_draws_too() -> None:
    params = fake_params()
    figure = fig_forest.render(fake_results(params), params)
    assert figure.get_figwidth() == style.TEXT and len(figure.axes[::2]) == 6


def test_no_rows_no_figure() -> None:
    with pytest.raises(UserError, match="stage evaluate_"):
        fig_forest.render(fake_results(fake_params()).iloc[:0], fake_params())


def test_each_model_stands_below_its_claim_and_is_hollow_where_it_is_left_out() -> None:
    both = {"claim": "video_ood", "low": 0.0, "high": 0.02, "unit": "percent", "datasets": "avenue, ucsd"}
    rows = [
        both | {"model": "ut", "estimate": 0.01, "why": ""},
        both | {"model": "dust", "estimate": 0.015, "why": "P4"},
    ]
    made = pd.DataFrame(rows, columns=scorecard.BY_MODEL)
    (axes, *others), words = drawn(fake_params(REAL), card(), made)
    assert not [panel for panel in others if markers(panel, "s")], "below its own claim"
    first, second = fig_forest.CLAIM + fig_forest.MODEL * np.array([0.5, 1.5])
    assert np.array(markers(axes, "s")) == pytest.approx(np.array([(1.0, first), (1.5, second)]))
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "s"]
    assert faces[0] != "none" == faces[1]
    assert "left out: P4" in words and "part of the claim" in words
    assert {"UT (Avenue, UCSD)", "DUST (Avenue, UCSD)"} <= set(words)


def test_a_claim_of_one_model_names_it_and_has_no_row_for_it() -> None:
    row = {"claim": "video_ood", "low": 0.0, "high": 0.02, "unit": "percent", "model": "ut", "estimate": 0.01}
    row |= {"datasets": "ucsd"}
    models = pd.DataFrame([row | {"why": ""}], columns=scorecard.BY_MODEL)
    (axes, *_), words = drawn(fake_params(REAL), card(), models)
    assert not markers(axes, "s") and any(text.endswith(",\nUT") for text in words)
    (axes, *_), words = drawn(fake_params(REAL), card(), models.assign(why="P4"))
    assert len(markers(axes, "s")) == 1 and "UT (UCSD)" in words, "what is left out keeps its reason"


def test_in_brief_effects_are_multiples_of_what_matters_and_prices_are_turned() -> None:
    rows = card()
    figure = fig_forest.brief(rows, fake_params(REAL))
    (axes,) = figure.axes
    ours = {place: value for value, place in markers(axes, "o")}
    assert ours == {0: pytest.approx(0.02 / 0.01), 1: pytest.approx(-0.001 / 0.015)}, "the third was not tested"
    bars = {bar[0, 1]: sorted(bar[:, 0]) for bar in segments(axes)}
    assert bars == {0: pytest.approx([1.0, 3.0]), 1: pytest.approx([-0.004 / 0.015, 0.002 / 0.015])}
    assert [value for value in markers(axes, "D") if np.isfinite(value[0])] == [(pytest.approx(5.0), 0)]
    labels = [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]
    assert labels == [CLAIMS[claim].short for claim in ("video_ood", "video_cost", "text_ood")]
    words = [text.get_text() for text in axes.texts]
    assert words == ["reproduced\n8 seeds, 27 settings", "cannot tell\n8 seeds, 27 settings", "not tested"]
    assert axes.yaxis_inverted()
    (axes,) = fig_forest.brief(rows.assign(low=np.nan, high=np.nan), fake_params(REAL)).axes
    assert len(markers(axes, "o")) == 2 and not segments(axes), "an interval that is not known is no bar"
