"""Not in the paper: one test frame of every data set as each layer gives it back."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, looks, style

FRAMES = True  # people can be recognised in them: never published
MODEL = "dust"
FILTERS = ("tv_chambolle", "nl_means")  # beside our arm and beside the baseline
GAP, ROW = 0.12, 1.17  # a block's margin as a share of a row; a row's height over its pictures'
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
    """A block of two strips a data set and noise level. Raises UserError without frames."""
    curves.required(results, "evaluate_video", experiment="video", eps=headline(params, "video"))
    _, model = curves.choice(params.video, params.video.datasets[0], MODEL)
    shown = {dataset: _of_dataset(dataset, model, params) for dataset in params.video.datasets}
    columns = 3 + max(own["pictures"].shape[1] - 1 for found in shown.values() for own in found.values() if own)
    levels = len(shown[params.video.datasets[0]]["identity"]["gammas"])
    blocks = [(dataset, level) for dataset in shown for level in range(levels)]
    left, side = 0.24, (style.TEXT - 0.3) / columns
    height = 0.3 + len(blocks) * (2 + GAP) * ROW * side
    figure = style.sheet(params, style.TEXT, height)
    figure.set_layout_engine("none")
    top = height - 0.05
    for place, (dataset, level) in enumerate(blocks):
        corner = (left, top - place * (2 + GAP) * ROW * side)
        _draw_block(figure, params, shown[dataset], dataset, level, corner, side, columns)
    return figure


def _of_dataset(dataset: str, model: str, params: Params) -> dict[str, dict[str, np.ndarray] | None]:
    names = ("identity", *FILTERS, *curves.pair(params))
    return {name: looks.arrays(dataset, model, name) for name in names}


def _draw_block(
    figure: Figure,
    params: Params,
    found: dict[str, dict[str, np.ndarray] | None],
    dataset: str,
    level: int,
    corner: tuple[float, float],
    side: float,
    columns: int,
) -> None:
    """Two rows of pictures whose upper left corner stands at `corner`, in inches from the sheet's lower left."""

    def axes(row: int, column: float) -> Axes:
        place = (corner[0] + column * side, corner[1] - (row + 1) * ROW * side)
        size = figure.get_size_inches()
        return figure.add_axes(
            (place[0] / size[0], place[1] / size[1], 0.96 * side / size[0], 0.96 * side / size[1])
        )

    noisy = found["identity"]
    gamma = noisy["gammas"][level]
    _draw(axes(0, 0), noisy["clean"], "clean").set_ylabel(style.name(dataset), fontsize=SMALL + 1)
    _draw(axes(1, 0), noisy["pictures"][level, 0], _decibel("noisy", noisy["psnr"][level, 0])).set_ylabel(
        rf"$\gamma={gamma:g}$", fontsize=SMALL + 1
    )
    for row, (arm, name) in enumerate(zip(curves.pair(params), FILTERS, strict=True)):
        own, filtered = found[arm], found[name]
        if own is None:
            axes(row, 1.15).set_axis_off()
            figure.axes[-1].text(0, 0.5, f"{style.name(arm)}: diverged", color=style.color(arm), fontsize=SMALL)
        for layer, picture in enumerate(own["pictures"][level] if own else ()):
            drawn = _draw(
                axes(row, 1.15 + layer * (columns - 2.3) / (columns - 2)), picture, _layer(own, level, layer)
            )
            if layer == 0:
                drawn.set_ylabel(style.name(arm), color=style.color(arm), fontsize=SMALL + 1, labelpad=2)
        _draw(
            axes(row, columns - 1),
            filtered["pictures"][level, 0],
            _decibel(style.name(name), filtered["psnr"][level, 0]),
        )


def _draw(axes: Axes, picture: np.ndarray, title: str) -> Axes:
    style.picture(axes, picture, low=0, high=255).set_title(title, fontsize=SMALL, pad=1.5)
    return axes


def _layer(own: dict[str, np.ndarray], level: int, layer: int) -> str:
    return _decibel(f"$X_{{{layer}}}$", own["psnr"][level, layer])


def _decibel(words: str, psnr: float) -> str:
    return f"{words} {psnr:.1f}"
