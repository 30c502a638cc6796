"""What figures and tables about text share: their setting, accuracy against test noise, chance, bands, notes."""

import pandas as pd
from matplotlib.axes import Axes

from descent.analysis.lost import chance, truth
from descent.analysis.select import TRAINED, average, last_layer, measured, select
from descent.analysis.trials import seeds_are_trials
from descent.config import Params
from descent.figures.parts import curves, style

TASKS = ("text",)
LOW = 0.22  # the height of the name of the training level: accuracy falls from top left to bottom right
OF_LINE = ["dataset", "model", "arm", "layers", "eps", "seed"]


def shown(choice: tuple, params: Params) -> dict[str, object]:
    """The cells that a line is of: the chosen trial (a row of `best_text`), as the paper shows it (5.2).

    Where seeds are no trials, all of its setting.
    """
    trials = seeds_are_trials(params)
    return {name: getattr(choice, name) for name in OF_LINE if trials or name != "seed"}


def draw_accuracy(
    axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, choice: tuple, params: Params, **look: object
) -> None:
    """Accuracy against gamma of what is `shown`, over the band of all trials beside it."""
    cell = shown(choice, params)
    _draw_band(axes, rows, cells, cell, look.get("color", style.color(choice.arm)))
    points = curves.curve(last_layer(rows), "gamma", "accuracy", split="test", **cell)
    curves.draw(axes, points, choice.arm, curves.state(cells, **cell), **look)


def draw_chance(axes: Axes, params: Params, dataset: str) -> None:
    """A line at the accuracy of a guess; to be drawn after the curves."""
    line = {"color": style.GREY, "linestyle": style.DOTTED, "linewidth": 1.0}
    axes.axhline(chance(params, dataset), label="chance", zorder=1, **line)


def depth_notes(table: pd.DataFrame, params: Params) -> list[str]:
    """For a table (columns model, layers, paper_layers): the models of one depth which is not the paper's."""
    other = table[table["paper_layers"].notna() & (table["paper_layers"] != table["layers"])]
    other = other.drop_duplicates("model")
    return [
        f"{style.name(row.model)}: the paper prints L = {row.paper_layers:g}, here it has {row.layers} layers."
        for row in other.itertuples()
        if len(set(params.model_budget(row.model)["layers"])) == 1
    ]


def _draw_band(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, cell: dict, color: object) -> None:
    """The mean, plus and minus one standard deviation, of all trials of a setting that did not diverge."""
    setting = {name: value for name, value in cell.items() if name != "seed"}
    trials = select(cells[~truth(cells["diverged"])], **setting)["seed"]
    points = measured(select(last_layer(rows), shift=TRAINED, metric="accuracy", split="test", **setting))
    table = average(points[points["seed"].isin(trials)], ["gamma", "seed"]).unstack("seed").dropna()
    if table.shape[1] > 1:
        middle = table.mean(axis=1)
        spread = table.std(axis=1)
        axes.fill_between(table.index, middle - spread, middle + spread, color=color, alpha=0.18, linewidth=0)
