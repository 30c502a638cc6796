"""Figure 3: what more layers do to robustness, in every arm."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.summary import cells_table
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "Depth and robustness"
CAPTION = """
RMSE on test clips against the test noise level for every depth, at the headline training level (vertical
line); light to dark: few to many layers. The paper's claim: more layers lower the RMSE at high noise only
in the constrained arm. Grey dots: the noisy input. Hollow markers: a run with constraints ended infeasible.
"""
PARAMETERS = ["eps", "video.tolerance", "profiles.${profile}.video", "video.evaluation.gammas"]
DATASET, MODEL = "ucsd", "dust"  # the paper's


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against gamma, a panel per arm. Raises UserError without rows of the setting."""
    dataset, model = curves.choice(params.video, DATASET, MODEL)
    eps = headline(params, "video")
    setting = {"experiment": "video", "dataset": dataset, "model": model, "eps": eps}
    rows = curves.required(results, "evaluate_video", **setting)
    cells = cells_table(rows, params)
    depths = sorted(rows["layers"].unique().tolist())
    width = style.COLUMN if len(params.arms) < 3 else style.TEXT
    figure, grid = style.panels(1, len(params.arms), width, 2.7 + 0.15 * len(depths), sharey=True)
    for arm, axes in zip(params.arms, grid[0], strict=True):
        for step, layers in enumerate(depths):
            cell = {"arm": arm, "layers": layers}
            points = curves.curve(rows, "gamma", "rmse", split="test", **cell)
            mark = curves.state(cells, **cell)
            color = style.shade(arm, step, len(depths))
            width = 2.6 - 1.6 * step / len(depths)  # a curve below another still shows at its edges
            curves.draw(axes, points, arm, mark, color=color, label=f"$L={layers}$", linewidth=width)
        curves.mark_training_level(axes, eps)
        axes.set_title(style.name(arm))
        axes.set_xlabel(style.GAMMA)
    for axes in grid[0]:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), labelspacing=0.2)
        curves.draw_references(axes, results, dataset, model, ("identity",), experiment="video")
    grid[0][0].set_ylabel(style.RMSE)
    figure.suptitle(f"{style.name(model)}, {style.name(dataset)}", fontsize=8)
    return figure
