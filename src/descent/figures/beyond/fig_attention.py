"""Not in the paper: what the tokens of one sequence look at, layer by layer."""

from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, looks, style

SINGLE_INPUTS = True  # patches of frames
DATASET = "ucsd"
TITLE = "Attention along the layers"
CAPTION = """
Ours, not the paper's. The softmax weights of every layer for one test sequence, the one that changes most among
those of the middle of the test set, with test noise at the training level: row t is where token t takes its
value from, white 0, full colour 1; time runs downwards and to the right. Left: the clean patches of the
sequence, first on top. Above each map the mean over the tokens of the exponential of its row's entropy: how
many tokens one mixes (1: itself or one other alone; T: all alike). Models in use whose layers attend over the
patches of a sequence, both arms of `comparison`, at their largest depth and the headline training level, first
seed.
"""
PARAMETERS = ["eps", "video.models", "comparison", "models", "profiles.${profile}.video"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A row of maps a model and arm. Raises UserError without rows or arrays."""
    curves.required(results, "evaluate_video", experiment="video", eps=headline(params, "video"))
    dataset = curves.in_use(DATASET, params.video.datasets)
    settings = [(model, arm) for model in params.video.models for arm in params.comparison.arms]
    known = {setting: looks.arrays(dataset, *setting) for setting in settings}
    known = {setting: own for setting, own in known.items() if own and "attention" in own}
    if not known:
        return style.empty("no model in use attends over the patches of a sequence")
    columns = 1 + max(len(own["attention"]) for own in known.values())
    shape = (len(known), columns, style.TEXT, 0.2 + 1.2 * len(known))
    figure, grid = style.panels(*shape, width_ratios=[0.35, *[1.0] * (columns - 1)])
    for ((model, arm), own), line in zip(known.items(), grid, strict=True):
        tokens, rows, width = own["sequence"].shape
        style.picture(line[0], own["sequence"].reshape(tokens * rows, width), low=0.0, high=255.0)
        line[0].set_ylabel(f"{fill(style.name(model), 15)}\n{style.name(arm)}", color=style.color(arm), fontsize=7)
        colors = LinearSegmentedColormap.from_list(arm, ["white", style.color(arm)])
        for layer, (axes, weights) in enumerate(zip(line[1:], own["attention"], strict=False), 1):
            style.picture(axes, weights, cmap=colors, low=0.0, high=1.0, framed=True)
            axes.set_title(f"$l={layer}$: {mixed(weights):.1f} of {tokens}", fontsize=6.5, pad=2)
        for axes in line[1 + len(own["attention"]) :]:
            axes.set_axis_off()
    figure.suptitle(style.name(dataset))
    return figure


def mixed(weights: np.ndarray) -> float:
    """How many tokens one takes its value from: the mean over rows of exp of a row's entropy; `weights` (T, T)."""
    logs = np.log(weights, where=weights > 0, out=np.zeros(weights.shape))
    return float(np.exp(-(weights * logs).sum(axis=1)).mean())
