"""Figure 12: by how much single texts descend from layer to layer, with and without relaxation."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.analysis.select import TRAINED, average, measured, select
from descent.config import Params
from descent.figures.parts import ablations, curves, scales, style, text_curves
from descent.study import Study

PAPER = Path("data/paper/fig12_ratios.csv")
TASKS = text_curves.TASKS
STUDY = "resilience"
TITLE = "Descent of single texts, with and without relaxation"
CAPTION = """
Ratio of a test text's loss at a layer to its loss at the layer before, over all texts and layers, test noise equal
to the training level; share of the ratios per bin of width 0.02, all above 2 in the last bin. Filled: constrained,
with (left) and without (right) relaxation of the constraints; outline: the arms beside it. Lines: 1, left of which
a text descends, and 1 - alpha, what is required of the mean losses. Means over seeds; beside them what the paper
gives of its constrained runs, without saying of which.
"""
PARAMETERS = [
    "study.resilience",
    "text.evaluation",
    "objectives.${ours}",
    "profiles.${profile}.studies.resilience",
]
WORDS = {  # the numbers written below a panel, by the metric's name without `ratio_`
    "mean": "mean {:.3g}",
    "median": "median {:.3g}",
    "below_one": "{:.1%} below 1",
    "below_target": r"{:.1%} below $1-\alpha$",
}


def render(results: pd.DataFrame, params: Params) -> Figure:
    """Histograms of per-text ratios, a panel per relaxation. Raises UserError without rows of them."""
    study = params.studied(STUDY)
    results, cells = ablations.cells_of(results, params, STUDY)
    rows = measured(select(results, split="test", shift=TRAINED))
    values = sorted(study.variants(), key=lambda value: value == "none")  # as in the paper: relaxed on the left
    figure, (grid,) = style.panels(1, len(values), style.TEXT, 3.1, sharey=True)
    for varied, axes in zip(values, grid, strict=True):
        shown = [(study.arm, varied), *((arm, "") for arm in study.beside)]
        for arm, value in shown:
            _draw_histogram(axes, select(rows, arm=arm, varied=value), arm, filled=arm == study.arm)
        _mark(axes, 1.0, "1", "left")
        alpha = params.objective(study.arm, study.dataset, study.model, study.variants()[varied]).get("alpha")
        if alpha is not None:
            _mark(axes, 1 - alpha, r"$1-\alpha$", "right")
        axes.set_title(f"{ablations.title(study)}, {_words(study, varied)}", pad=13)  # above the lines' names
        axes.set(xlabel=r"ratio $f(X_l)\,/\,f(X_{l-1})$ of one text")
        axes.set_xticks([0, 0.5, 1, 1.5, 2], ["0", "0.5", "1", "1.5", "≥2"])
        _write(axes, rows, cells, shown)
    grid[0].set_ylabel("share of ratios")
    scales.percent(grid[0])
    style.legend(figure)
    return figure


def _words(study: Study, varied: str) -> str:
    if study.vary != STUDY:
        return f"{study.vary} {varied}"
    return "without relaxation" if varied == "none" else f"with relaxation ({varied})"


def _draw_histogram(axes: Axes, rows: pd.DataFrame, arm: str, filled: bool) -> None:
    shares = curves.curve(rows, "bin", "ratio_share")
    if shares.empty:
        return
    edges = [*shares.index, 2 * shares.index[-1] - shares.index[-2]]
    look = {"color": style.color(arm), "label": style.name(arm)}
    look |= {"fill": True, "alpha": 0.45} if filled else {"linewidth": 1.0}
    axes.stairs(shares.to_numpy(), edges, **look)


def _mark(axes: Axes, place: float, name: str, side: str) -> None:
    axes.axvline(place, color="#444444", linewidth=0.8)
    look = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": side}
    axes.annotate(name, (place, 1), xytext=(0, 2), **look)


def _write(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, shown: list[tuple[str, str]]) -> None:
    """The numbers of the arms and the paper's, below the panel in columns."""
    width = 0.78 / len(shown)
    for place, (arm, value) in enumerate(shown):
        own = select(rows, arm=arm, varied=value)
        mark = curves.state(cells, arm=arm, varied=value)
        numbers = average(own[own["metric"].isin([f"ratio_{name}" for name in WORDS])], ["metric"], over=("seed",))
        head = style.name(arm) + (f" ({mark})" if mark else "")
        _list(axes, width * place, head, numbers.rename(lambda m: m.removeprefix("ratio_")), style.color(arm))
    _list(axes, 0.78, "paper", pd.read_csv(PAPER).set_index("quantity")["value"], style.GREY)


def _list(axes: Axes, place: float, head: str, numbers: pd.Series, color: str) -> None:
    lines = [head, *(WORDS[name].format(numbers[name]) for name in WORDS if name in numbers)]
    look = {"xycoords": "axes fraction", "textcoords": "offset points", "color": color, "fontsize": 7, "va": "top"}
    axes.annotate("\n".join(lines), (place, 0), xytext=(0, -34), **look)
