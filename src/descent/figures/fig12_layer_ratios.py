"""Figure 12: by how much single texts descend from layer to layer, with and without relaxation."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.select import mean, measured, select
from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, style, text_curves
from descent.figures.parts.ablations import title

PAPER = Path("data/paper/fig12_ratios.csv")
TASKS = text_curves.TASKS
TITLE = "Descent of single texts, with and without relaxation"
CAPTION = """
Ratio of a test text's loss at a layer to its loss at the layer before, over all texts and layers, test noise
equal to the training level; share of the ratios per bin of width 0.02, all above 2 in the last bin. Filled:
constrained, with (left) and without (right) relaxation of the constraints; outline: unconstrained. Lines: 1, left
of which a text descends, and 1 - alpha, what is required of the mean losses. Means over seeds; beside them what
the paper gives of its constrained runs, without saying of which.
"""
PARAMETERS = [
    "ablation",
    "text.evaluation",
    "text.per_dataset",
    "primal_dual.ut_text",
    "primal_dual.distilbert",
    "primal_dual.roberta",
    "profiles.${profile}.ablation.seeds",
]
WORDS = {  # the numbers written below a panel, by the metric's name without `ratio_`
    "mean": "mean {:.3g}",
    "median": "median {:.3g}",
    "below_one": "{:.1%} below 1",
    "below_target": r"{:.1%} below $1-\alpha$",
}


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Histograms of per-text ratios, a panel per relaxation. Raises UserError without rows of them."""
    results = curves.required(results, "evaluate_ablation", experiment="resilience")
    cells, rows = cells_table(results, params), measured(select(results, split="test"))
    values = sorted(select(rows, method="constrained")["varied"].unique(), key=lambda value: value == "none")
    asked = params.text_constraints(params.ablation.model, params.ablation.dataset)
    figure, (grid,) = style.panels(params, 1, len(values), style.TEXT, 3.1, TASKS, sharey=True)
    for varied, axes in zip(values, grid, strict=True):
        for method, value in (("constrained", varied), ("unconstrained", "")):
            _draw_histogram(axes, select(rows, method=method, varied=value), method)
        _mark(axes, 1.0, "1", "left")
        _mark(axes, 1 - asked.alpha, r"$1-\alpha$", "right")
        relaxed = "without relaxation" if varied == "none" else f"with relaxation ({varied})"
        axes.set_title(f"{title(params)}, {relaxed}", pad=13)  # the lines' names stand below it
        axes.set(xlabel=r"ratio $f(X_l)\,/\,f(X_{l-1})$ of one text")
        axes.set_xticks([0, 0.5, 1, 1.5, 2], ["0", "0.5", "1", "1.5", "≥2"])
        _write(axes, rows, cells, varied)
    grid[0].set_ylabel("share of ratios")
    style.percent(grid[0])
    style.legend(figure)
    return figure


def _draw_histogram(axes: Axes, rows: pd.DataFrame, method: str) -> None:
    shares = curves.curve(rows, "bin", "ratio_share")
    if shares.empty:
        return
    edges = [*shares.index, 2 * shares.index[-1] - shares.index[-2]]
    look = {"color": style.COLORS[method], "label": method}
    look |= {"fill": True, "alpha": 0.45} if method == "constrained" else {"linewidth": 1.0}
    axes.stairs(shares.to_numpy(), edges, **look)


def _mark(axes: Axes, place: float, name: str, side: str) -> None:
    axes.axvline(place, color="#444444", linewidth=0.8)
    look = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": side}
    axes.annotate(name, (place, 1), xytext=(0, 2), **look)


def _write(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, varied: str) -> None:
    """The numbers of both arms and the paper's, below the panel in three columns."""
    for place, method, value in ((0.0, "constrained", varied), (0.42, "unconstrained", "")):
        arm, mark = select(rows, method=method, varied=value), curves.state(cells, method=method, varied=value)
        numbers = {name: mean(select(arm, metric=f"ratio_{name}")).mean() for name in WORDS}
        _list(axes, place, f"{method} ({mark})" if mark else method, pd.Series(numbers), style.COLORS[method])
    _list(axes, 0.78, "paper", pd.read_csv(PAPER).set_index("quantity")["value"], style.COLORS["reference"])


def _list(axes: Axes, place: float, head: str, numbers: pd.Series, color: str) -> None:
    lines = [head, *(WORDS[name].format(value) for name, value in numbers.dropna().items())]
    look = {"xycoords": "axes fraction", "textcoords": "offset points", "color": color, "fontsize": 7, "va": "top"}
    axes.annotate("\n".join(lines), (place, 0), xytext=(0, -34), **look)
