"""Figure 7: the loss at the output of every layer, one panel per depth."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.summary import cells_table
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, scales, style

TITLE = "Loss along the layers"
CAPTION = """
Test loss at the output of each layer, at the headline training level, test noise equal to it; one panel
per depth, logarithmic scale. Grey: the bound that the constraints imply, R0 (1 - alpha)^l counted from
the capped layer; a constrained run that satisfies them exactly lies on or below it. Runs without constraints
see no bound and need not descend. Hollow markers: a run with constraints ended infeasible.
"""
DATASET, MODEL = "ucsd", "dust"  # the paper's
PARAMETERS = [
    "eps",
    "comparison",
    "objectives.${ours}",
    "video.patch_loss",
    "video.tolerance",
    "profiles.${profile}.video",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """f_l against l for DUST on UCSD (or the first ones in use). Raises UserError without rows of them."""
    dataset, model = curves.choice(params.video, DATASET, MODEL)
    eps = headline(params, "video")
    rows = curves.required(results, "evaluate_video", experiment="video", dataset=dataset, model=model, eps=eps)
    cells = cells_table(rows, params)
    depths = sorted(rows["layers"].unique().tolist())
    figure, grid = style.panels(1, len(depths), style.TEXT, 2.3, sharey=True)
    for layers, axes in zip(depths, grid[0], strict=True):
        for arm in params.arms:
            cell = {"arm": arm, "layers": layers}
            points = curves.curve(rows, "layer", "loss", split="test", gamma=eps, **cell)
            curves.draw(axes, points, arm, curves.state(cells, **cell), marker="o")
        curves.draw_bound(axes, params.problem(dataset, model), layers)
        axes.set(title=curves.of_setting(model, dataset, layers), xlabel=style.LAYER)
        scales.logarithmic(axes)
        axes.set_xticks(range(layers + 1))
    grid[0][0].set_ylabel(style.LOSS)
    style.legend(figure)
    return figure
