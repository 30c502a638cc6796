"""What each arm of a study of controls gains over its baseline: a row an arm, a panel a study."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from descent.analysis import controls
from descent.analysis.wording import known
from descent.cells import study_depth
from descent.config import Params
from descent.figures.parts import ablations, curves, style

WHERE = {"out": r"out of distribution ($\gamma>\epsilon$)", "in": r"in distribution ($\gamma\leq\epsilon$)"}
# of words at the right; their places as shares of the panel's width
COLUMNS = {"inflation": 1.09, "feasible": 1.22}


def render(results: pd.DataFrame, params: Params, task: str, label: str) -> Figure:
    """The gains of `controls.trained_cells` in percent or points; each study of controls in use has a panel.

    Args:
        label: of the axis.

    Raises UserError without rows of a study, or of its task.
    """
    curves.required(results, f"evaluate_{task}", experiment=task)
    if why := left_out(params, task):
        return style.empty(why)
    names = params.controls(task)
    for name in names:
        curves.required(results, "evaluate_studies", experiment=name)
    columns = ["gain_in", "gain_out", "inflation", "feasible"]
    tables = [_shown(controls.of_study(results, params, name, columns), params) for name in names]
    rows = [len(table) for table in tables]
    figure = style.sheet(style.TEXT, 0.8 + sum(0.45 + 0.27 * count for count in rows))
    grid = figure.add_gridspec(len(rows), 1, height_ratios=[1.6 + count for count in rows])
    for place, (name, table) in enumerate(zip(names, tables, strict=True)):
        axes = figure.add_subplot(grid[place], sharex=figure.axes[0] if figure.axes else None)
        _draw(axes, table, params.comparison.baseline, params.studied(name).vary)
        axes.set_title(_title(params, name, table), loc="left")
    axes.set_xlabel(label)
    dots = [Line2D([], [], label=word, **_look(where, style.GREY)) for where, word in WHERE.items()]
    figure.legend(handles=dots, loc="outside upper center", ncols=2)
    return figure


def parameters(task: str) -> list[str]:
    """What of params.yaml stands beside the panels."""
    studies = ["study.${controls}", "profiles.${profile}.studies.${controls}"]
    return ["comparison", f"{task}.evaluation.gammas", f"{task}.tolerance", *studies]


def left_out(params: Params, task: str) -> str:
    """Why there is nothing to show; empty where there is."""
    return "" if params.controls(task) else f"no study of controls of {task} is in use"


def _shown(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Without the baselines where each value has its own: all are zero, but for what is lost."""
    baseline = table["arm"] == params.comparison.baseline
    return table[~baseline | (table["lost"] > 0)] if baseline.sum() > 1 else table


def _title(params: Params, name: str, table: pd.DataFrame) -> str:
    study = params.studied(name)
    seeds = int(table["trained"].max())
    told = f"{seeds} seeds" if seeds > 1 else "one seed: no intervals"
    return f"{ablations.title(study)}, $L={study_depth(params, study)}$, {told}"


def _draw(axes: Axes, table: pd.DataFrame, baseline: str, vary: str | None) -> None:
    axes.axvline(0, color="black", linewidth=0.6, zorder=1)
    for word, place in COLUMNS.items():
        look = {"ha": "center", "va": "bottom", "color": style.GREY, "fontsize": 7}
        axes.text(place, 1.03, word, transform=axes.transAxes, **look)
    for place, row in enumerate(table.to_dict("records")):
        if row["arm"] != baseline and row["trained"] and not row["lost"]:  # the zero map would set the scale
            _draw_gains(axes, row, place)
        _write(axes, row, place, row["arm"] == baseline)
    words = [" ".join(filter(None, [vary, row.varied])) if row.varied else "" for row in table.itertuples()]
    labels = [
        style.name(arm) + (f" ({word})" if word else "") for arm, word in zip(table["arm"], words, strict=True)
    ]
    axes.set_yticks(range(len(table)), labels)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))


def _draw_gains(axes: Axes, row: dict, place: int) -> None:
    for where, up in zip(WHERE, (-0.14, 0.14), strict=True):
        middle, low, high = (100 * row[f"gain_{where}{ending}"] for ending in ("", "_low", "_high"))
        color = style.color(row["arm"])
        if pd.notna(low):
            axes.plot([low, high], [place + up] * 2, color=color, linewidth=1.2, label=f"{row['arm']} {where}")
        axes.plot([middle], [place + up], **_look(where, color))


def _look(where: str, color: object) -> dict[str, object]:
    face = color if where == "out" else "white"
    return {"marker": "o", "linestyle": "none", "color": color, "markerfacecolor": face, "markersize": 4.4}


def _write(axes: Axes, row: dict, place: int, reference: bool) -> None:
    """At the right an arm's inflation share and feasible cells; words where it has no point."""
    cells = row["trained"]
    feasible = row["feasible"] * row["feasible_seeds"] if pd.notna(row["feasible"]) else 0
    words = {
        "inflation": known(row["inflation"], ".0%"),
        "feasible": f"{feasible:.0f} of {cells}",
    }
    for word, text in words.items() if cells else ():
        axes.text(
            COLUMNS[word], place, text, transform=axes.get_yaxis_transform(), ha="center", va="center", fontsize=7
        )
    told = "" if cells else "no cells"
    told = "the baseline: zero" if cells and reference else told
    if cells and row["lost"]:
        told = f"{row['lost']} of {cells} diverged, scored as if nothing was learned"
    if told:
        look = {"ha": "center", "va": "center", "color": style.GREY, "fontsize": 7, "backgroundcolor": "white"}
        axes.text(0.5, place, told, transform=axes.get_yaxis_transform(), **look)
