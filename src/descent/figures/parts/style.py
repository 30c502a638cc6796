"""One look for every figure: sizes for print, a colour and dashes for every arm, names, and bytes that repeat."""

from pathlib import Path
from textwrap import fill

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from descent.cells import REFERENCES
from descent.config import Params
from descent.io.folders import atomic_file

COLUMN, TEXT = 3.3, 6.9  # inches: the widths of a column and of the text of a two-column page
VIDEO = ("video",)  # the tasks of a figure or table that does not name its own as TASKS

# Okabe and Ito's palette, told apart with any colour vision and, by the dashes, in print without colour.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STROKES = ("-", (0, (4, 1.6)), (0, (5, 1.4, 1, 1.4)), (0, (2, 1)), (0, (7, 1.2)))  # one fewer: no pair comes twice
MARKERS = "osD^vP"  # of models, by their place
CROWDED = 50  # pictures on one sheet
GREY = "#666666"  # of everything that no arm has trained
DOTTED = (0, (1, 1.4))
THIN = (
    DOTTED,
    (0, (1, 3)),
    (0, (6, 2)),
    (0, (4, 1.5, 1, 1.5)),
    (0, (6, 1.4, 1, 1.4, 1, 1.4)),
)  # of the reference maps, in their order
ARMS: dict[str, int] = {}  # place of every arm, those in use first, then studies'; `use` fills these three
NAMES: dict[str, str] = {}
DASHES: dict[str, object] = {}
RMSE = "RMSE (0\u2013255) ↓"
GAMMA = r"test noise level $\gamma$"
LAYER = r"layer $l$"
LOSS = r"test loss $f_l$ ↓"
ACCURACY = "accuracy ↑"

# The figure modules are imported by the one process that draws them, so the look is set once, for all of it.
matplotlib.rcParams.update(
    {
        "font.size": 8,
        "axes.titlesize": 8,
        "axes.labelsize": 8,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7.5,
        "legend.frameon": False,
        "legend.handlelength": 2.4,
        "lines.linewidth": 1.4,
        "lines.markersize": 3.4,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.5,
        "axes.axisbelow": True,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "axes.formatter.use_mathtext": False,
        "pdf.fonttype": 42,  # text stays text
    }
)


def use(params: Params) -> None:
    """Take names from the components and looks from the order of `arms` and `studies`, for all that is drawn."""
    studied = [arm for study in params.in_use.values() for arm in (study.arm, *study.beside)]
    ordered = dict.fromkeys([*params.arms, *studied, *params.components["arms"]])
    ARMS.clear()
    ARMS.update({arm: place for place, arm in enumerate(ordered)})
    NAMES.clear()
    NAMES.update(REFERENCES)
    NAMES.update({word: said["LABEL"] for place in params.components.values() for word, said in place.items()})
    DASHES.clear()
    DASHES.update({name: THIN[place % len(THIN)] for place, name in enumerate(REFERENCES)})
    DASHES.update({arm: STROKES[place % len(STROKES)] for arm, place in ARMS.items()})


def name(word: str) -> str:
    """How a word of the results table is written for a reader."""
    return NAMES.get(word, word)


def color(word: str) -> str:
    """An arm's colour; grey for what is no arm. Past the palette its first two, of the compared, are left out."""
    place = ARMS.get(word, -1)
    if place < len(PALETTE):
        return PALETTE[place] if place >= 0 else GREY
    return PALETTE[2:][(place - len(PALETTE)) % len(PALETTE[2:])]


def dashes(word: str) -> object:
    """An arm's or a reference map's dashes; dots for what is neither."""
    return DASHES.get(word, DOTTED)


def synthetic(params: Params, tasks: tuple[str, ...]) -> bool:
    """Whether any data set in use by these tasks ("video", "text", "lm") is generated."""
    return any(params.source(task, name).generate for task in tasks for name in params.section(task).datasets)


def sheet(width: float, height: float) -> Figure:
    """An empty figure of `width` x `height` inches."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine())


def panels(
    rows: int, columns: int, width: float, height: float, **shared: bool | str | list[float]
) -> tuple[Figure, list[list[Axes]]]:
    """A sheet with its grid of axes."""
    figure = sheet(width, height)
    return figure, figure.subplots(rows, columns, squeeze=False, **shared).tolist()


def in_rows(count: int, most: int, height: float, more: float) -> tuple[Figure, list[Axes]]:
    """A sheet with so many panels in rows of at most `most`; what is left of the last row is blank.

    Args:
        height: of a row, in inches; `more`: of the sheet beside them.
    """
    columns = min(most, max(1, count))
    rows = -(-max(1, count) // columns)
    figure, grid = panels(rows, columns, TEXT, height * rows + more)
    places = [axes for row in grid for axes in row]
    for axes in places[count:]:
        axes.set_axis_off()
    return figure, places


def empty(why: str) -> Figure:
    """In place of a figure of what nothing is known: a sheet that says so."""
    figure = sheet(TEXT, 0.6)
    figure.text(0.5, 0.5, why, ha="center", va="center", color=GREY)
    return figure


def stamp(figure: Figure, profile: str) -> Figure:
    """The figure, with synthetic data named at its foot."""
    height = figure.get_figheight()
    if isinstance(engine := figure.get_layout_engine(), ConstrainedLayoutEngine):  # else it is laid out by hand
        engine.set(rect=(0, 0.14 / height, 1, 1 - 0.14 / height))
    words = f"{profile}: synthetic data"
    figure.text(0.995, 0.03 / height, words, ha="right", va="bottom", fontsize=7, color="#8a2be2")
    return figure


def picture(
    axes: Axes,
    pixels: np.ndarray,
    cmap: Colormap | str = "gray",
    low: float | None = None,
    high: float | None = None,
    framed: bool = False,
) -> Axes:
    """Show a picture, pixel by pixel and without axes, its own extremes black and white where none are given."""
    axes.imshow(pixels, cmap=cmap, vmin=low, vmax=high, interpolation="none")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(framed)
    return axes


def star(low: float, high: float) -> str:
    """A star beside a number whose interval leaves out zero; none where it is not known (NaN)."""
    return "*" if low > 0 or high < 0 else ""


def wrapped(words: str) -> str:
    """A title in lines that fit a panel of a quarter of the text's width; a study's name breaks behind a `_`."""
    return fill(words.replace("_", "_ "), 24).replace("_ ", "_")


def shade(arm: str, step: int, steps: int) -> tuple[float, ...]:
    """The arm's colour for the step-th of several values: light for the first, full for the last."""
    strength = 1.0 if steps == 1 else 0.4 + 0.6 * step / (steps - 1)
    return tuple(1 - strength * (1 - channel) for channel in to_rgb(color(arm)))


def legend(figure: Figure, columns: int = 4) -> None:
    """One legend above all panels, each entry once: the arms first, else in the order of the panels."""
    entries = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries = dict(sorted(entries.items(), key=lambda entry: _rank(entry[0])))
    figure.legend(entries.values(), entries, loc="outside upper center", ncols=min(columns, max(1, len(entries))))


def _rank(label: str) -> int:
    """The place of the arm of which a label speaks, "(infeasible)" and the like aside; then everything else."""
    places = [place for arm, place in ARMS.items() if label == name(arm) or label.startswith(f"{name(arm)} (")]
    return min(places, default=len(ARMS))


def save(figure: Figure, path: Path) -> None:
    """Write PDF or PNG; the same figure gives the same bytes (no date, no program version, a settled layout).

    The page holds all PNGs: 256 colours make them a third as large, and a sheet full of pictures is drawn coarser.
    """
    dropped = {".pdf": {"CreationDate": None, "Creator": None, "Producer": None}, ".png": {"Software": None}}
    _settle(figure)
    crowded = sum(len(axes.images) for axes in figure.axes) > CROWDED
    with atomic_file(path) as partial:
        dpi = 110 if crowded else 180
        figure.savefig(partial, format=path.suffix[1:], dpi=dpi, metadata=dropped[path.suffix])
        if path.suffix == ".png":
            with Image.open(partial) as picture:
                fewer = picture.convert("RGB").quantize(256)
            fewer.save(partial, format="png", optimize=True)


def _settle(figure: Figure) -> None:
    """Lay the panels out once, and round: the solver's last digit differs from run to run, and so do pixels."""
    engine = figure.get_layout_engine()
    if not figure.axes or not isinstance(engine, ConstrainedLayoutEngine):  # settled before, or laid out by hand
        return
    places: list[list[float]] = []
    for _ in range(3):  # what stands at a share of a panel's height moves with it: the layout closes in
        before = places
        engine.execute(figure)
        places = [[round(edge, 6) for edge in axes.get_position().bounds] for axes in figure.axes]
        if places == before:
            break
    figure.set_layout_engine("none")
    for axes, place in zip(figure.axes, places, strict=True):
        axes.set_position(place)
