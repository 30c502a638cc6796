"""Not in the paper: accuracy by kind of test text, those that training has not seen among them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from descent.analysis import kinds
from descent.analysis.select import TRANSFER, UNSEEN, select
from descent.analysis.wording import signed
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "Kinds of text: MNLI by genre"
CAPTION = """
Ours, not the paper's. Accuracy on the test texts of each genre, at the noise of training; headline cells, means
over depths and seeds. Genres of MNLI's mismatched part, none of which is in the training texts, are marked as
unseen. At the right the difference of our arm to the baseline in points, a mean trimmed over depths; a star where
Student's 95 % interval over seeds leaves out zero; what other test items would change is not in it. IMDb is of
one kind, and so are texts of one's own without a genre.
"""
PARAMETERS = ["text.eps", "arms", "comparison", "text.datasets", "text.models"]
TASKS = ("text",)
SPREAD = 0.25  # of a line, so that arms of equal accuracy are both seen
ROW, FOOT = 0.19, 0.75  # inches: of a kind, and of the rest of a panel


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A panel for each data set and model, a line for each kind. Raises UserError without rows of kinds."""
    curves.required(results, "evaluate_transfer", experiment="text", shift=TRANSFER, eps=headline(params, "text"))
    table = kinds.table(results, params)
    lines = sorted(table["dataset"].unique())
    models = params.text.models
    deepest = table.groupby("dataset")["tested"].nunique().max()
    height = len(lines) * (FOOT + ROW * deepest)
    figure, grid = style.panels(len(lines), len(models), style.TEXT, height, sharey="row")
    for dataset, line in zip(lines, grid, strict=True):
        own = select(table, dataset=dataset)
        names = sorted(own["tested"].unique(), key=lambda name: (name.endswith(UNSEEN), name))
        for model, axes in zip(models, line, strict=True):
            _draw(axes, select(own, model=model), names, params)
            axes.set_title(f"{style.name(model)}, {style.name(dataset)}", fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel(style.ACCURACY)
    for arm in params.arms:
        grid[0][0].add_line(
            Line2D([], [], color=style.color(arm), marker="o", linestyle="", label=style.name(arm))
        )
    style.legend(figure, columns=len(params.arms))
    return figure


def _draw(axes: Axes, own: pd.DataFrame, names: Sequence[str], params: Params) -> None:
    """A model's accuracy on the kinds of these names, from above; a model that diverged everywhere has none."""
    for arm, apart in zip(params.arms, np.linspace(-SPREAD, SPREAD, len(params.arms)), strict=True):
        rows = select(own, arm=arm).set_index("tested").reindex(names)
        axes.plot(rows["accuracy"], np.arange(len(names)) + apart, "o", color=style.color(arm), markersize=3)
    ours = select(own, arm=params.comparison.ours).set_index("tested").reindex(names)
    for place, row in enumerate(ours.to_dict("records")):
        if pd.isna(row["effect"]):  # one of the two arms has no such row
            continue
        words = f"{signed(100 * row['effect'])}{style.star(row['low'], row['high'])}"
        axes.text(1.01, place, words, transform=axes.get_yaxis_transform(), fontsize=7, va="center")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_ylim(len(names) - 0.5, -0.5)


def left_out(params: Params) -> str:
    """Why there is nothing to show; empty where there is."""
    return "" if _several(params) and params.text.models else "no data set in use tells kinds of text apart"


def lacking(results: pd.DataFrame, params: Params) -> str:
    """Why evaluation has made no rows of kinds; empty where it has."""
    if not select(results, experiment="text", shift=TRANSFER, eps=headline(params, "text")).empty:
        return ""
    fields = (f"the test texts of {said['LABEL']} have no {said['GROUP']}" for said in _several(params))
    return curves.all_lost(results, params, "text") or ", and ".join(fields)


def _several(params: Params) -> list[dict[str, Any]]:
    """What the data sets in use say of themselves whose test texts may be of several kinds."""
    known = params.components["tasks.text.datasets"]
    return [known[name] for name in params.text.datasets if known[name].get("GROUP")]
