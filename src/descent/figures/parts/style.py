"""One look for every figure: sizes for print, one colour per method, names, and bytes that repeat."""

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from descent.config import Params

COLUMN, TEXT = 3.3, 6.9  # inches: the widths of a column and of the text of a two-column page
VIDEO = ("video",)  # the tasks of a figure or table that does not name its own as TASKS

# Okabe and Ito's palette, told apart with any colour vision and, by the dashes, in print without colour.
COLORS = {"constrained": "#0072B2", "unconstrained": "#D55E00", "reference": "#666666"}
DASHES = {"constrained": "-", "unconstrained": (0, (4, 1.6)), "reference": (0, (1, 1.4))}
NAMES = {
    "ut": "UT",
    "dust": "DUST",
    "vit": "ViT",
    "avenue": "Avenue",
    "ucsd": "UCSD",
    "shanghaitech": "ShanghaiTech",
    "identity": "noisy input",
    "zero": "zero output",
    "ut_text": "UT",
    "distilbert": "DistilBERT",
    "roberta": "RoBERTa",
    "imdb": "IMDb",
    "mnli": "MNLI",
    "alpaca": "Alpaca",
    "causal_lm": "Causal LM",
}
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
        "axes.formatter.use_mathtext": True,
        "pdf.fonttype": 42,  # text stays text
    }
)


def name(word: str) -> str:
    """How a word of the results table is written for a reader."""
    return NAMES.get(word, word)


def synthetic(params: Params, tasks: tuple[str, ...] = VIDEO) -> bool:
    """Whether any data set in use by these tasks ("video", "text", "lm") is generated."""
    sources = {
        "video": [params.budget.data[dataset] for dataset in params.video.datasets],
        "text": [params.budget.texts[dataset] for dataset in params.text.datasets],
        "lm": [params.budget.lm.data],
    }
    return any(source.generate for task in tasks for source in sources[task])


def sheet(params: Params, width: float, height: float, tasks: tuple[str, ...] = VIDEO) -> Figure:
    """An empty figure of `width` x `height` inches; synthetic data of its tasks are named at its foot."""
    figure = Figure(figsize=(width, height), layout="constrained")
    if synthetic(params, tasks):
        foot = 0.14 / height
        figure.get_layout_engine().set(rect=(0, foot, 1, 1 - foot))
        stamp = f"{params.profile}: synthetic data"
        figure.text(0.995, 0.03 / height, stamp, ha="right", va="bottom", fontsize=7, color="#8a2be2")
    return figure


def panels(
    params: Params,
    rows: int,
    columns: int,
    width: float,
    height: float,
    tasks: tuple[str, ...] = VIDEO,
    **shared: bool | str,
) -> tuple[Figure, list[list[Axes]]]:
    """A sheet with its grid of axes."""
    figure = sheet(params, width, height, tasks)
    return figure, figure.subplots(rows, columns, squeeze=False, **shared).tolist()


def shade(method: str, step: int, steps: int) -> tuple[float, ...]:
    """The method's colour for the step-th of several values: light for the first, full for the last."""
    strength = 1.0 if steps == 1 else 0.4 + 0.6 * step / (steps - 1)
    return tuple(1 - strength * (1 - channel) for channel in to_rgb(COLORS[method]))


def logarithmic(axes: Axes) -> None:
    """A logarithmic vertical scale labelled in plain numbers, also where it spans less than a decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=7))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def percent(axes: Axes) -> None:
    """Shares on the vertical scale written as percentages."""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.5g}%"))


def legend(figure: Figure, columns: int = 4) -> None:
    """One legend above all panels, each entry once: the arms first, else in the order of the panels."""
    entries = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries = dict(sorted(entries.items(), key=lambda entry: not entry[0].removeprefix("un").startswith("constr")))
    figure.legend(entries.values(), entries, loc="outside upper center", ncols=min(columns, max(1, len(entries))))


def save(figure: Figure, path: Path) -> None:
    """Write PDF or PNG; the same figure gives the same bytes (no date, no program version, a settled layout)."""
    dropped = {".pdf": {"CreationDate": None, "Creator": None, "Producer": None}, ".png": {"Software": None}}
    path.parent.mkdir(parents=True, exist_ok=True)
    _settle(figure)
    figure.savefig(path, dpi=180, metadata=dropped[path.suffix])


def _settle(figure: Figure) -> None:
    """Lay the panels out once, and round: the solver's last digit differs from run to run, and so do pixels."""
    if figure.get_layout_engine() is None:  # settled before
        return
    for _ in range(4):  # what stands at a share of a panel's height moves with it: the layout closes in
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_position([round(edge, 6) for edge in axes.get_position().bounds])
