"""Not in the paper: atoms of the first and the last dictionary, before training and after it."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, looks, style

SINGLE_INPUTS = True  # learnt from frames, patches of which they may resemble
DATASET, MODEL = "ucsd", "dust"
ROWS = ("before", "after", "change")
TITLE = "Dictionaries before and after training"
CAPTION = """
Ours, not the paper's. For both arms of `comparison` the atoms of D_1 and of D_L that training moved most, from
left to right; one dictionary stands for all where the layers of an arm share it. Each as a patch: at the start
(the discrete cosine transform), after training, and the difference of the two, on a scale of its own, black the
lowest and white the highest value of each patch. In brackets: the norm of the change of the whole dictionary
over its norm at the start. DUST on UCSD (of the models and data sets in use the first where there is none), at
the largest depth and the headline training level, first seed.
"""
PARAMETERS = ["eps", "comparison", "models", "video.frame.patch", "profiles.${profile}.video"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A block of three rows of patches a dictionary. Raises UserError without rows or arrays."""
    curves.required(results, "evaluate_video", experiment="video", eps=headline(params, "video"))
    dataset, model = curves.choice(params.video, DATASET, MODEL)
    known = {arm: looks.arrays(dataset, model, arm) for arm in params.comparison.arms}
    blocks = [block for arm, own in known.items() if own and "atoms" in own for block in _blocks(arm, own)]
    if not blocks:
        return style.empty(f"{style.name(model)} on {style.name(dataset)} has no dictionaries")
    columns = blocks[0][2].shape[1]
    figure = style.sheet(style.TEXT, 0.3 + len(blocks) * (0.28 + len(ROWS) * style.TEXT / (columns + 1.6)))
    parts = figure.subfigures(len(blocks), 1, squeeze=False)[:, 0]
    for part, (title, arm, atoms) in zip(parts, blocks, strict=True):
        part.suptitle(f"{title}, {style.name(model)}, {style.name(dataset)}", color=style.color(arm), fontsize=8)
        grid = part.subplots(len(ROWS), columns, squeeze=False)
        for word, patches, line in zip(ROWS, (*atoms, atoms[1] - atoms[0]), grid, strict=True):
            for patch, axes in zip(patches, line, strict=True):
                style.picture(axes, patch)
            line[0].set_ylabel(word, fontsize=7)
    return figure


def _blocks(arm: str, own: dict[str, np.ndarray]) -> list[tuple[str, str, np.ndarray]]:
    names = ("$D_1$", "$D_L$") if len(own["atoms"]) > 1 else ("$D$, of all layers",)
    told = zip(names, own["moved"], own["atoms"], strict=True)
    return [
        (f"{style.name(arm)}: {name} (moved by {100 * moved:.{0 if moved >= 0.1 else 1}f} %)", arm, atoms)
        for name, moved, atoms in told
    ]
