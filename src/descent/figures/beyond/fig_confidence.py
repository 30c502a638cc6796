"""Not in the paper: how the answer for a few test texts settles from layer to layer."""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, looks, scales, style, text_curves

SINGLE_INPUTS = True  # it holds texts of the data set, which are no more ours to publish than its frames
TASKS = text_curves.TASKS
MODEL = "roberta"
SHOWN = 3  # texts of a data set
LETTERS, LINES = 88, 5  # of the words beside a panel
TITLE = "How the answer settles along the layers"
CAPTION = """
Ours, not the paper's. A few test texts of every data set, the first of each class, and the probability that the
shared readout gives to their true class at every layer, test noise at the training level. Filled: the layer
predicts the true class; hollow: another one. Dotted: a guess. Both arms of `comparison`, RoBERTa (of the models
in use the first where there is none) at the largest depth and the headline training level, first trial. Texts
are cut to a few lines.
"""
PARAMETERS = ["text.eps", "text.datasets", "text.models", "comparison", "profiles.${profile}.text"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A text and its panel a row. Raises UserError without rows or texts."""
    curves.required(results, "evaluate_text", experiment="text", eps=headline(params, "text"))
    model = curves.in_use(MODEL, params.text.models)
    rows = [(dataset, place) for dataset in params.text.datasets for place in range(SHOWN)]
    figure, grid = style.panels(
        len(rows), 2, style.TEXT, 0.45 + 0.95 * len(rows), width_ratios=[1.7, 1.0], sharex="col"
    )
    for (dataset, place), (words, panel) in zip(rows, grid, strict=True):
        known = {arm: looks.texts(dataset, model, arm) for arm in params.comparison.arms}
        text_curves.draw_chance(panel, params, dataset)
        for arm, own in known.items():
            if own and place < len(own):
                _draw(panel, own[place]["probabilities"], own[place]["label"], arm)
        told = next((own[place] for own in known.values() if own and place < len(own)), None)
        _write(words, told, params, dataset)
        panel.set_ylim(-0.04, 1.04)
        panel.set_yticks([0, 0.5, 1])
        scales.percent(panel)
    grid[0][0].set_title(f"{style.name(model)}, test texts", loc="left")
    grid[0][1].set_title("probability of the true class ↑")
    grid[-1][1].set_xlabel(style.LAYER)
    grid[-1][1].xaxis.get_major_locator().set_params(integer=True)
    style.legend(figure)
    return figure


def _draw(axes: Axes, probabilities: list[list[float]], label: int, arm: str) -> None:
    shares = [layer[label] for layer in probabilities]
    right = [max(layer) == layer[label] for layer in probabilities]
    curves.draw(axes, pd.Series(shares), arm)
    for layer, (share, hit) in enumerate(zip(shares, right, strict=True)):
        face = style.color(arm) if hit else "white"
        axes.plot([layer], [share], marker="o", color=style.color(arm), markerfacecolor=face, zorder=3)


def _write(axes: Axes, told: dict | None, params: Params, dataset: str) -> None:
    axes.set_axis_off()
    if told is None:
        axes.text(0, 0.5, "no such text, or the cells diverged", transform=axes.transAxes, color=style.GREY)
        return
    classes = params.components["tasks.text.datasets"][dataset]["CLASSES"]
    lines = textwrap.wrap(looks.printed(told["words"]), LETTERS)
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], f"{lines[LINES - 1][: LETTERS - 2]} …"]
    head = f"{style.name(dataset)}: {classes[told['label']]}"
    look = {"transform": axes.transAxes, "va": "top", "in_layout": False}
    axes.text(0, 1, head, weight="bold", fontsize=7, **look)
    axes.text(0, 0.83, "\n".join(lines), fontsize=6.5, **look)
