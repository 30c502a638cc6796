"""Figure 3: what more layers do to robustness, in either arm."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "Depth and robustness"
CAPTION = """
RMSE on test clips against the test noise level for every depth, at the headline training level (vertical
line); light to dark: few to many layers. The paper's claim: more layers lower the RMSE at high noise only
in the constrained arm. Dotted: the noisy input. Hollow markers: ended infeasible.
"""
PARAMETERS = ["eps", "video.tolerance", "profiles.${profile}.video.layers", "evaluation.gammas"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against gamma, a panel per arm. Raises UserError without rows of the setting."""
    dataset, model = curves.paper_choice(params)
    setting = {"experiment": "video", "dataset": dataset, "model": model, "eps": float(params.eps)}
    rows = curves.required(results, "evaluate_video", **setting)
    cells = cells_table(rows, params)
    methods, depths = params.video.methods, sorted(rows["layers"].unique().tolist())
    figure, grid = style.panels(params, 1, len(methods), style.COLUMN, 2.2 + 0.15 * len(depths), sharey=True)
    for method, axes in zip(methods, grid[0], strict=True):
        for step, layers in enumerate(depths):
            cell = {"method": method, "layers": layers}
            points = curves.curve(rows, "gamma", "rmse", split="test", **cell)
            mark = curves.state(cells, **cell)
            color = style.shade(method, step, len(depths))
            curves.draw(axes, points, method, mark, color=color, label=f"$L={layers}$")
        curves.mark_training_level(axes, params.eps)
        axes.set_title(method)
        axes.set_xlabel(style.GAMMA)
    for axes in grid[0]:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.27), labelspacing=0.2)
        curves.draw_reference(axes, results, dataset, "identity")
    grid[0][0].set_ylabel(style.RMSE)
    figure.suptitle(f"{style.name(model)}, {style.name(dataset)}", fontsize=8)
    return figure
