"""Figure 8: three further settings where the arms trade low noise against high noise."""

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis.keys import SETTING
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.analysis.summary import best_depth, cells_table, pairs
from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, style

PANELS = 3
TITLE = "Further trade-offs between low and high noise"
CAPTION = """
RMSE on test clips against the test noise level for three further settings, chosen by rule: among all
(data set, model, depth, training level) where both arms of `comparison` ran, of the seeds of which neither
diverged, less the pairs of one depth that Figure 2 shows, those where the difference between the arms
changes most between in-distribution (mean over gamma <= eps) and out-of-distribution noise (mean over
gamma > eps); the largest of each model first, then the largest of what is left. Vertical line: training
level; dotted: the noisy input. Hollow markers: runs with constraints ended infeasible, some or all.
"""
PARAMETERS = [
    "eps",
    "comparison",
    "video.models",
    "video.datasets",
    "profiles.${profile}.video",
    "video.evaluation.gammas",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """RMSE (0-255) against gamma, a panel per chosen setting. Raises UserError without rows of both arms."""
    rows = curves.required(results, "evaluate_video", experiment="video")
    cells = cells_table(rows, params)
    settings = chosen(cells, params)
    if not settings:
        return style.empty("no setting in this grid beside those of Figure 2")
    figure, grid = style.panels(1, PANELS, style.TEXT, 2.2)
    for axes, setting in zip(grid[0], settings, strict=False):
        for arm in params.comparison.arms:
            points = curves.curve(rows, "gamma", "rmse", split="test", arm=arm, **setting)
            curves.draw(axes, points, arm, curves.state(cells, experiment="video", arm=arm, **setting))
        curves.draw_references(axes, rows, setting["dataset"], setting["model"], ("identity",))
        curves.mark_training_level(axes, setting["eps"])
        of = curves.of_setting(setting["model"], setting["dataset"], setting["layers"])
        axes.set_title(rf"{of}, $\epsilon={setting['eps']:g}$")
        axes.set_xlabel(style.GAMMA)
    for axes in grid[0][len(settings) :]:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no further setting\nin this grid", ha="center", va="center", color=style.GREY)
    grid[0][0].set_ylabel(style.RMSE)
    style.legend(figure)
    return figure


def chosen(cells: pd.DataFrame, params: Params) -> list[dict]:
    """The settings that the caption's rule picks, at most three, the most turning first."""
    sound = select(cells, experiment="video", trained=True)
    sound = sound[~truth(sound["diverged"])]
    measures = ("rmse_out_of_distribution", "rmse_in_distribution")
    both = [pairs(sound, measure, params.comparison) for measure in measures]
    beyond, within = (wide["ours"] - wide["baseline"] for wide in both)
    turn = (beyond - within).abs().dropna().rename("turn").reset_index()
    turn = turn.groupby(SETTING, as_index=False)["turn"].mean()
    arms = params.comparison.arms
    best = select(best_depth(cells), eps=headline(params, "video"))
    best = best[best["arm"].isin(arms)][SETTING]
    shown = best[best.duplicated()]  # by both arms
    turn = turn.merge(shown, how="left", indicator=True).query("_merge == 'left_only'")
    turn = turn.sort_values(["turn", *SETTING], ascending=[False] + [True] * len(SETTING))
    first = turn.drop_duplicates("model")
    picked = pd.concat([first, turn.drop(first.index)]).head(PANELS)
    return picked[SETTING].to_dict("records")
