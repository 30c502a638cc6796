"""Not in the paper: how the constrained arm trains, layer by layer and epoch by epoch."""

import math
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from descent import components
from descent.analysis.select import CELL, TRAINED, average, measured, select
from descent.analysis.summary import cells_table
from descent.analysis.tails import tail
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, scales, style

TASKS = components.TASKS
LAYERS = ListedColormap(colormaps["viridis_r"](np.linspace(0.12, 1, 256)))
HEADS = {
    "loss": r"validation loss $f_l$ ↓",
    "multiplier": r"multipliers $\lambda_l$",
    "violation": r"largest violation ↓",
    "weight": r"effective weights $w_l$",
}
BASELINE = {"linestyle": (0, (4, 1.5)), "linewidth": 1.0, "zorder": 4}
REFERENCE = {"color": "black", "linestyle": (0, (3, 2)), "linewidth": 0.7, "zorder": 1}
left_out = curves.without_constraints
TITLE = "Training under constraints"
CAPTION = """
Ours, not the paper's. The constrained arm over the epochs of training, one seed: a row for every model at its
largest depth and the headline training level. From the left: validation loss at the output of every layer
(logarithmic), and of the last one of the baseline's cell of the same seed (dashed, in its colour); the multipliers
of the constraints; the largest relative violation on validation data, with the tolerance below which a cell is
feasible (dashed); the weights w_l that the multipliers give the layer losses in the Lagrangian, with those of ERM
(dashed: 1 of the last layer, 0 of the others). Light to dark: first to last layer. Grey band: the last quarter,
over which oscillation is measured: the standard deviation over the mean, of the training loss f_0 and, the largest
of all layers, of the multipliers. Active: in the band the multiplier of some constraint on descent, so not of the
cap, is above zero. Feasible: of the epochs after the warm-up (which ends at the dotted line).
"""
PARAMETERS = [
    "eps",
    "text.eps",
    "lm.eps",
    "comparison",
    "objectives.${ours}",
    "video.tolerance",
    "text.tolerance",
    "lm.tolerance",
    "profiles.${profile}.video",
    "profiles.${profile}.text",
    "profiles.${profile}.lm",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Four quantities against the epoch, a row per model. Raises UserError without rows of a task in use."""
    cells = {}
    for task in params.tasks:
        rows = curves.required(results, f"evaluate_{task}", experiment=task)
        cells |= {(task, model): _of_model(rows, params, task, model) for model in params.section(task).models}
    shown = {place: cell for place, cell in cells.items() if (cell["metric"] == "loss_epoch").any()}
    told = ", ".join(f"{style.name(model)} ({task})" for task, model in cells if (task, model) not in shown)
    told = f"without epochs: {told}" if told else ""
    if not shown:
        return style.empty(told)
    shape = (len(shown), len(HEADS), style.TEXT, 0.8 + 1.35 * len(shown))
    figure, grid = style.panels(*shape, sharex="row")
    trained = cells_table(pd.concat(shown.values()), params)
    for line, ((_, model), cell) in zip(grid, shown.items(), strict=True):
        panels = dict(zip(HEADS, line, strict=True))
        _draw_baseline(panels["loss"], _twin(results, cell, params), style.color(params.comparison.baseline))
        _draw_model(panels, cell, trained.merge(cell[CELL].drop_duplicates()).iloc[0], params)
        line[0].set_ylabel(_title(model, cell, params))
    for axes, head in zip(grid[0], HEADS.values(), strict=True):
        axes.set_title(head, pad=13)
    for axes in grid[-1]:
        axes.set_xlabel("epoch")
    figure.supxlabel(told, x=0.01, ha="left", fontsize=7)
    every = [axes for line in grid for axes in line]
    pad = 0.08 / len(shown)  # a share of the height of all rows
    bar = figure.colorbar(ScalarMappable(cmap=LAYERS), ax=every, location="top", shrink=0.25, aspect=30, pad=pad)
    bar.set_ticks([0, 1], labels=["$l=0$", "$l=L$"])
    bar.ax.tick_params(length=0)
    return figure


def _title(model: str, cell: pd.DataFrame, params: Params) -> str:
    """A model, its data set and depth, and how many epochs a pass is cut in, in lines that fit a panel."""
    where = [
        f"{style.name(dataset)}, $L={layers}$" for dataset, layers in cell.groupby(["dataset", "layers"]).groups
    ]
    parts = params.model_budget(model).get("parts", 1)
    cut = [f"{parts} epochs a pass"] if parts > 1 else []
    return "\n".join([fill(style.name(model), 18), *where, *cut])


def _of_model(results: pd.DataFrame, params: Params, task: str, model: str) -> pd.DataFrame:
    """The rows of the one cell that is shown; none where no such cell has been trained."""
    dataset = curves.in_use(curves.DATASETS[task], params.section(task).datasets)
    setting = {"dataset": dataset, "model": model, "arm": params.enforcing[0], "eps": headline(params, task)}
    rows = select(results, **setting, shift=TRAINED, varied="")
    rows = select(rows, layers=rows["layers"].max())
    return select(rows, seed=rows["seed"].min())


def _twin(results: pd.DataFrame, cell: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The rows of the baseline's cell of the same setting and seed; none where it has not been trained."""
    keys = ["experiment", "dataset", "model", "layers", "eps", "seed", "varied"]
    return select(results, **cell.iloc[0][keys].to_dict(), arm=params.comparison.baseline, shift=TRAINED)


def _draw_baseline(axes: Axes, rows: pd.DataFrame, color: str) -> None:
    """The loss of its last layer."""
    losses = select(measured(rows), metric="loss_epoch")
    last = select(losses, layer=losses["layer"].max()).groupby("bin")["value"].mean()
    axes.plot(last.index, last, color=color, marker="o" if len(last) == 1 else None, **BASELINE)


def _draw_model(panels: dict[str, Axes], rows: pd.DataFrame, cell: pd.Series, params: Params) -> None:
    known = measured(rows)
    tables = {name: average(select(known, metric=f"{name}_epoch"), ["bin", "layer"]).unstack() for name in HEADS}
    last = int(tables["loss"].index.max())
    objective = params.objective(cell["arm"], cell["dataset"], cell["model"])
    asked = tables["violation"].columns >= objective.get("cap_layer", 0)  # below the cap nothing is: zeros
    tables["violation"] = tables["violation"].loc[:, asked]
    for name, axes in panels.items():
        _draw_layers(axes, tables[name], int(cell["layers"]), largest=name == "violation")
        axes.axvspan(last - tail(last) + 0.5, last + 0.5, color="#f0f0f0", linewidth=0, zorder=0)
        axes.axvline(
            objective.get("warmup_epochs", 0) + 0.5, color=style.GREY, linestyle=style.DOTTED, linewidth=0.8
        )
        axes.set_xlim(0.5, last + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True, min_n_ticks=1))
    _scale(panels, tables, params.tolerance_of(cell["model"]))
    _write(panels, cell)


def _draw_layers(axes: Axes, table: pd.DataFrame, layers: int, largest: bool) -> None:
    """A line a layer, or the largest of all alone; `table`: by epoch and layer."""
    point = "o" if len(table) == 1 else None  # a line through one epoch would show nothing
    if largest:
        axes.plot(table.index, table.max(axis=1), color="black", linewidth=1.2, marker=point)
        return
    for layer in table.columns:
        axes.plot(table.index, table[layer], color=LAYERS(layer / layers), linewidth=1.0, marker=point)


def _scale(panels: dict[str, Axes], tables: dict[str, pd.DataFrame], tolerance: float) -> None:
    """Vertical scales, and what is to be compared with: the tolerance, the weights of ERM."""
    scales.logarithmic(panels["loss"])
    low, high = panels["loss"].get_ylim()
    if high > 50 * low:
        panels["loss"].yaxis.set_major_locator(LogLocator())
    panels["violation"].axhline(tolerance, **REFERENCE)
    for weight in (0, 1):
        panels["weight"].axhline(weight, **REFERENCE)
    panels["multiplier"].set_ylim(bottom=0)
    below = tables["weight"].iloc[:, :-1].abs().max().max()  # of the layers to which ERM gives no weight
    _decades(panels["weight"], 10.0 ** np.clip(np.floor(np.log10(below)), -3, 0) if below > 0 else 1.0)
    for name in ("multiplier", "violation"):
        if max(map(abs, panels[name].get_ylim())) > 3:
            _decades(panels[name], 1.0)
        else:
            panels[name].yaxis.set_major_locator(MaxNLocator(4))
    for name in ("multiplier", "violation", "weight"):
        panels[name].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))


def _decades(axes: Axes, linear: float) -> None:
    """A scale that is linear up to `linear` and logarithmic from there, with few ticks."""
    axes.set_yscale("symlog", linthresh=linear, linscale=0.6)
    low, high = axes.get_ylim()
    sizes = [size for power in range(10) if (size := linear * 10.0**power) <= max(-low, high)]
    shown = sizes[:: -max(1, math.ceil(len(sizes) / 3))]  # from the largest: the weight 1 is among them
    ticks = sorted({0.0, *shown, *(-size for size in shown)})
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.yaxis.set_minor_locator(NullLocator())


def _write(panels: dict[str, Axes], cell: pd.Series) -> None:
    """Above the panels the numbers about the tail, where they are known."""
    words = {"loss": "$f_0$ swings by {}", "multiplier": "swing by {}", "violation": "feasible {}"}
    columns = {"loss": "oscillation", "multiplier": "multiplier_oscillation", "violation": "feasible_epochs"}
    told = {
        name: words[name].format(f"{100 * cell[column]:.3g}%")
        for name, column in columns.items()
        if pd.notna(cell[column])
    }
    if pd.notna(cell["descent_active"]):
        acts = "active" if cell["descent_active"] else "not active"
        told["multiplier"] = ", ".join([acts, *filter(None, [told.get("multiplier")])])
    if pd.notna(cell["diverged"]) and cell["diverged"]:
        told["loss"] = "diverged"
    for name, text in told.items():
        panels[name].text(1, 1.03, text, transform=panels[name].transAxes, ha="right", va="bottom", fontsize=7)
