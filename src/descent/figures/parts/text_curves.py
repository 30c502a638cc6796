"""What figures and tables about text share: their setting, accuracy against test noise, chance, bands, notes."""

import pandas as pd
from matplotlib.axes import Axes

from descent.analysis.select import last_layer, measured, select
from descent.config import Params
from descent.figures.parts import curves, style

TASKS = ("text",)
CLASSES = {"imdb": 2, "mnli": 3}
LOW = 0.22  # the height of the name of the training level: accuracy falls from top left to bottom right
IDENTITY = ["dataset", "model", "method", "layers", "eps", "seed"]


def paper_choice(params: Params, dataset: str, model: str) -> tuple[str, str]:
    """The data set and model of one of the paper's figures; the first in use where one of them is not."""
    text = params.text
    return (
        dataset if dataset in text.datasets else text.datasets[0],
        model if model in text.models else text.models[0],
    )


def draw_accuracy(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, choice: tuple, **look: object) -> None:
    """Accuracy against gamma of a chosen cell (a row of `best_text`), over the band of all trials beside it."""
    cell = {name: getattr(choice, name) for name in IDENTITY}
    _draw_band(axes, rows, cells, cell, look.get("color", style.COLORS[choice.method]))
    points = curves.curve(last_layer(rows), "gamma", "accuracy", split="test", **cell)
    curves.draw(axes, points, choice.method, curves.state(cells, **cell), **look)


def draw_chance(axes: Axes, dataset: str) -> None:
    """The accuracy of a guess among equally frequent classes; to be drawn after the curves."""
    if dataset in CLASSES:
        line = {"color": style.COLORS["reference"], "linestyle": style.DASHES["reference"], "linewidth": 1.0}
        axes.axhline(1 / CLASSES[dataset], label="chance", zorder=1, **line)


def depths(best: pd.DataFrame) -> str:
    """The depth of the chosen cells of one data set, model and level; both where the arms differ."""
    by_arm = best.drop_duplicates("method").set_index("method")["layers"]
    if by_arm.nunique() < 2:
        return f"$L={by_arm.iloc[0]}$" if len(by_arm) else ""
    return f"$L={by_arm['constrained']}$ (unconstr. {by_arm['unconstrained']})"


def depth_notes(table: pd.DataFrame) -> list[str]:
    """For a table (columns model, layers, paper_layers): the encoders that are not as deep as the paper prints."""
    other = table[table["paper_layers"].notna() & (table["paper_layers"] != table["layers"])]
    other = other[other["model"] != "ut_text"].drop_duplicates("model")
    return [
        f"{style.name(row.model)}: the paper prints L = {row.paper_layers:g}, here it has {row.layers} layers."
        for row in other.itertuples()
    ]


def _draw_band(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, cell: dict, color: object) -> None:
    """The mean, plus and minus one standard deviation, of all trials of a setting that did not diverge."""
    setting = {name: value for name, value in cell.items() if name != "seed"}
    trials = select(cells[~cells["diverged"].fillna(False)], **setting)["seed"]
    points = measured(select(last_layer(rows), metric="accuracy", split="test", **setting))
    table = points[points["seed"].isin(trials)].pivot(index="gamma", columns="seed", values="value").dropna()
    if table.shape[1] > 1:
        middle, spread = table.mean(axis=1), table.std(axis=1)
        axes.fill_between(table.index, middle - spread, middle + spread, color=color, alpha=0.18, linewidth=0)
