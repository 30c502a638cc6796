"""Not in the paper: models that were trained on one video data set, tested on the others."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis import transfer
from descent.analysis.select import TRANSFER, select
from descent.analysis.wording import signed
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, heat, remarks, style

TITLE = "Transfer: trained on one video data set, tested on another"
CAPTION = """
Ours, not the paper's. In each square the RMSE (0-255, lower is better) on test clips of the data set of its
column, of models that were trained on that of its row, at a test noise of gamma times the sigma of the training
set; on the diagonal stands the ordinary score. Cells of the headline training level, means over depths and seeds.
Below it, and as colour, 100 ln(RMSE of the baseline / RMSE of the arm) in the same square, a mean trimmed over
depths: about the percent by which the arm's error is smaller (blue) or larger (red); a star where Student's 95 %
interval over seeds leaves out zero; what other test items would change is not in it. IMDb, MNLI and Alpaca are
different tasks, so that their models have no other data set to be tested on.
"""
PARAMETERS = ["eps", "arms", "comparison", "video.datasets", "video.models", "video.evaluation.transfer"]
remarks_on = remarks.of_video
FAINTER, LEAST = 1.5, 5.0  # the full colours: so many times the largest gain, and no fewer percent than these
ROW, FOOT = 0.34, 0.5  # inches: of a data set, and of the rest of a panel


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A matrix, trained on x tested on, for each arm and level and each model.

    Raises UserError without rows of transfer.
    """
    models, names = params.video.models, params.video.datasets
    rows = curves.required(results, "evaluate_video", experiment="video")
    eps = headline(params, "video")
    curves.required(rows, "evaluate_transfer", shift=TRANSFER, eps=eps)
    table = transfer.matrix(rows, params)
    lines = [(arm, level) for level in sorted(table["gamma"].unique()) for arm in params.arms]
    reach = max(100 * FAINTER * float(table["effect"].abs().max()), LEAST)
    height = len(lines) * (FOOT + ROW * len(names))
    figure, grid = style.panels(len(lines), len(models), style.TEXT, height, sharex=True, sharey=True)
    for (arm, level), line in zip(lines, grid, strict=True):
        for model, axes in zip(models, line, strict=True):
            _draw(axes, select(table, arm=arm, model=model, gamma=level), names, reach)
            axes.set_title(rf"{style.name(model)}, {style.name(arm)}, $\gamma={level:g}$", fontsize=7)
        line[0].set_ylabel("trained on")
    for axes in grid[-1]:
        axes.set_xlabel("tested on")
    than = style.name(params.comparison.baseline)
    sure = "*: the 95 % interval leaves out zero" if table["low"].notna().any() else "one seed, so no intervals"
    told = f"RMSE; below it, above zero: better than {than}, in %; {sure}"
    figure.supxlabel(told, x=0.01, ha="left", fontsize=7)
    return figure


def left_out(params: Params) -> str:
    """Why there is nothing to show; empty where there is."""
    return "" if len(params.video.datasets) > 1 else "one video data set is in use, and no other to test on"


lacking = partial(curves.all_lost, task="video")


def _draw(axes: Axes, table: pd.DataFrame, names: list[str], reach: float) -> None:
    """A square with its numbers for every pair of data sets, coloured by the gain; none of what is not known."""
    by_pair = table.set_index(["dataset", "tested"])
    gains = (100 * by_pair["effect"]).unstack().reindex(index=names, columns=names).to_numpy(float)
    words = {
        (names.index(trained), names.index(tested)): _words(row["rmse"], 100 * row["effect"], row)
        for (trained, tested), row in by_pair.iterrows()
    }
    heat.squares(axes, gains, words, reach)
    axes.set_xticks(range(len(names)), map(style.name, names), fontsize=7)
    axes.set_yticks(range(len(names)), map(style.name, names), fontsize=7)


def _words(rmse: float, gain: float, row: pd.Series) -> str:
    if np.isnan(gain):
        return f"{rmse:.1f}"
    return f"{rmse:.1f}\n{signed(gain)}{style.star(row['low'], row['high'])} %"
