"""Not in the paper: one test frame of every data set as each layer gives it back."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, looks, style

SINGLE_INPUTS = True  # people can be recognised in them: never published
MODEL = "dust"
FILTERS = ("tv_chambolle", "nl_means")  # beside our arm and beside the baseline
GAP, ROW = 0.18, 1.17  # margins between the parts as a share of a picture; a row's height, with its words
LEFT, MARGIN, HEAD = 0.2, 0.4, 0.16  # inches: of the words at the left, above and below all, of a line on top
SMALL = 6.0  # points: of the words above a picture
TITLE = "What each layer makes of a noisy frame"
CAPTION = """
Ours, not the paper's. One frame of every data set, the middle one of its test set, with test noise at the
training level and at the highest level of the sweep: the clean frame and the noisy one, the outputs of all
layers of both arms of `comparison` from X_0 on, and at the right what two classical filters, which are told the
noise level and see the whole frame, make of it. Above each picture its PSNR in dB, of the output clipped to
black and white; higher is better. DUST of the largest depth at the headline training level (of the models in
use the first where there is no DUST), first seed; both arms see the same noise.
"""
PARAMETERS = [
    "eps",
    "video.datasets",
    "video.models",
    "video.evaluation.gammas",
    "comparison",
    "profiles.${profile}.video",
]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A block of two strips a data set and noise level. Raises UserError without rows or arrays."""
    curves.required(results, "evaluate_video", experiment="video", eps=headline(params, "video"))
    model = curves.in_use(MODEL, params.video.models)
    names = ("identity", *FILTERS, *params.comparison.arms)
    shown = {
        dataset: {name: looks.arrays(dataset, model, name) for name in names} for dataset in params.video.datasets
    }
    blocks = [
        (dataset, found, level)
        for dataset, found in shown.items()
        for level in range(len(found["identity"]["gammas"]))
    ]
    depth = max(own["pictures"].shape[1] for _, found, _ in blocks for own in found.values() if own)
    side = (style.TEXT - LEFT) / (depth + 2 + 2 * GAP)
    height = MARGIN + HEAD + len(blocks) * (2 + GAP) * ROW * side
    figure = style.sheet(style.TEXT, height)
    figure.set_layout_engine("none")
    grid = figure.add_gridspec(
        3 * len(blocks),
        depth + 4,  # a narrow one between the noisy frame, the layers and the filters
        width_ratios=[1, GAP, *[1] * depth, GAP, 1],
        height_ratios=[1, 1, GAP] * len(blocks),
        **{
            "left": LEFT / style.TEXT,
            "right": 0.999,
            "top": 1 - (HEAD + MARGIN / 2) / height,
            "bottom": MARGIN / 2 / height,
        },
        wspace=0.04,
        hspace=(ROW - 1) * 3 / (2 + GAP),  # a share of the mean height of a row
    )
    of = rf"{style.name(model)}, $L={depth - 1}$, first seed; above each picture its PSNR in dB"
    figure.text(LEFT / style.TEXT, 1 - 0.04 / height, of, va="top", fontsize=SMALL + 1)
    for place, (dataset, found, level) in enumerate(blocks):
        rows = [
            [figure.add_subplot(grid[3 * place + row, column]) for column in range(depth + 4)] for row in (0, 1)
        ]
        _draw_input(rows[0][0], rows[1][0], found["identity"], dataset, level)
        for line, arm, name in zip(rows, params.comparison.arms, FILTERS, strict=True):
            _draw_layers(line[2:-2], found[arm], arm, level)
            filtered = found[name]
            drawn = _draw(line[-1], filtered["pictures"][level, 0], f"{filtered['psnr'][level, 0]:.1f}")
            drawn.set_ylabel(style.name(name), color=style.GREY, fontsize=SMALL, labelpad=2)
            line[1].set_axis_off()
            line[-2].set_axis_off()
    return figure


def _draw_input(above: Axes, below: Axes, noisy: dict[str, np.ndarray], dataset: str, level: int) -> None:
    _draw(above, noisy["clean"], "clean").set_ylabel(style.name(dataset), fontsize=SMALL + 1)
    drawn = _draw(below, noisy["pictures"][level, 0], f"noisy {noisy['psnr'][level, 0]:.1f}")
    drawn.set_ylabel(rf"$\gamma={noisy['gammas'][level]:g}$", fontsize=SMALL + 1)


def _draw_layers(line: list[Axes], own: dict[str, np.ndarray] | None, arm: str, level: int) -> None:
    for axes in line:
        axes.set_axis_off()
    if own is None:
        line[0].text(0, 0.5, f"{style.name(arm)}: diverged", color=style.color(arm), fontsize=SMALL)
        return
    answers = zip(line, own["pictures"][level], own["psnr"][level], strict=False)
    for layer, (axes, picture, psnr) in enumerate(answers):
        axes.set_axis_on()
        _draw(axes, picture, f"$X_{{{layer}}}$ {psnr:.1f}")
    line[0].set_ylabel(style.name(arm), color=style.color(arm), fontsize=SMALL + 1, labelpad=2)


def _draw(axes: Axes, picture: np.ndarray, title: str) -> Axes:
    style.picture(axes, picture, low=0.0, high=255.0).set_title(title, fontsize=SMALL, pad=1.5)
    return axes
