"""Not in the paper: its primary claims as a forest plot, with our estimates, its own values and the verdicts."""

from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from descent import components
from descent.analysis import grounds, scorecard, wording
from descent.analysis.briefly import in_brief
from descent.analysis.claims import CLAIMS
from descent.analysis.verdicts import LESS, NOT_TESTED, matters_little
from descent.config import Params
from descent.figures.parts import curves, style

TITLE = "The primary claims, and what became of them"
CAPTION = """
Ours, not the paper's. Each primary claim of the scorecard: the estimate with its 95 % interval over seeds and
test items (percent of log-RMSE for video, points of accuracy for text and language models), the smallest effect
of interest or the margin (band), and the paper's own value where its tables give one (diamond); each claim has a
scale of its own. A price is good where it is small, all else where it is large. Below it each of its models by
itself (square) if they are several, first those that the claim is made of; where one fails a precondition on a
data set it is hollow, and no part of it. A claim that is not tested has no estimate of its own.
"""
PARAMETERS = ["eps", "text.eps", "lm.eps", "comparison", "profiles.${profile}.video.seeds"]
TASKS = components.TASKS
CLAIM, MODEL, MORE = 0.46, 0.22, 0.09  # inches a row, and each further line of a reason
SCALE = 0.3  # inches of a claim's scale
LINE, REASON = 42, 36  # characters of a line of a claim's words, and of why a model is left out
BAND = "#e8eef5"  # of what is too small to matter
OWN, LEFT_OUT = "a model of it", "left out"
UNITS = {"percent": "%", "points": "points", "plain": ""}


def render(results: pd.DataFrame, params: Params) -> Figure:
    """One panel a claim. Raises UserError without rows."""
    curves.required(results, "evaluate_video, evaluate_text or evaluate_lm", profile=params.profile)
    judged = grounds.of_results(results, params)
    return forest(scorecard.judged(*judged), scorecard.by_model(*judged), params)


def forest(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> Figure:
    """The same of a scorecard and its claims on each model alone."""
    shown = models.iloc[:0] if style.synthetic(params, TASKS) else models
    claims = _claims(card[card["group"] == "primary"], shown)
    heights = [sum(map(_height, rows)) for rows in claims]
    figure = style.sheet(style.TEXT, 0.9 + sum(heights) + SCALE * len(claims))
    panels = figure.subplots(
        len(claims), 2, squeeze=False, sharey="row", width_ratios=[2, 1], height_ratios=heights
    )
    for (axes, words), rows in zip(panels, claims, strict=True):
        _panel(axes, words, rows, params)
    panels[-1, 0].set_xlabel("effect in % or points; each claim has a scale of its own")
    handles = _handles()
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def brief(card: pd.DataFrame, params: Params) -> Figure:
    """The primary claims alone, on one axis: each effect as a multiple of what matters, prices turned, so that to
    the right constrained training is better; the verdict beside it."""
    rows = card[card["group"] == "primary"].to_dict("records")
    figure = style.sheet(style.TEXT, 0.9 + CLAIM * len(rows))
    axes = figure.subplots()
    axes.axvspan(-1, 1, color=BAND, zorder=0)
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    for place, row in enumerate(rows):
        unit = row["effect"] * (-1 if CLAIMS[row["claim"]].kind == "cost" else 1)
        value, *ends, paper = (float(row[key]) / unit for key in ("estimate", "low", "high", "paper_value"))
        if row["verdict"] != NOT_TESTED:
            reach = _reach(value, min(ends), max(ends))
            axes.errorbar(value, place, xerr=reach, fmt="o", color=style.PALETTE[0], capsize=2.5)
        axes.plot(paper, place, "D", color=style.PALETTE[1], markerfacecolor="none")
        verdict = _verdict(row, style.synthetic(params, TASKS))
        axes.text(
            1.02, place, verdict, va="center", fontsize=7, weight="bold", transform=axes.get_yaxis_transform()
        )
    axes.set_yticks(range(len(rows)), [fill(CLAIMS[row["claim"]].short, LINE) for row in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("effect, in multiples of the smallest that matters; better →")
    handles = [handle for handle in _handles() if handle.get_label() not in (OWN, LEFT_OUT)]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _panel(axes: Axes, words: Axes, rows: list[dict[str, Any]], params: Params) -> None:
    """A claim and its models from top to bottom, and beside each what is said of it."""
    synthetic = style.synthetic(params, TASKS)
    heights = np.array([_height(row) for row in rows])
    places = np.cumsum(heights) - heights / 2
    for place, row in zip(places, rows, strict=True):
        if "model" in row:
            _draw_model(axes, place, row)
            words.text(0.0, place, _left_out(row), va="center", fontsize=6, color=style.GREY)
        else:
            _draw(axes, place, row)
            words.text(0.0, place, _verdict(row, synthetic), va="center", fontsize=7, weight="bold")
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    axes.set_yticks(places, [_named(row, params) for row in rows])
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set(**({"fontsize": 6, "color": style.GREY} if "model" in row else {"fontsize": 7}))
    axes.set_ylim(heights.sum(), 0)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="x", labelsize=6)
    words.set_axis_off()


def _claims(card: pd.DataFrame, models: pd.DataFrame) -> list[list[dict[str, Any]]]:
    """Each claim, followed by its models that have a number behind it; one that has a single model is `of` it."""
    found = []
    for claim in card.to_dict("records"):
        own = models[(models["claim"] == claim["claim"]) & models["estimate"].notna()]
        own = own.assign(out=own["why"] != "").sort_values(["out", "model"], kind="stable")
        if len(own) == 1 and not own["why"].item() and claim["verdict"] != NOT_TESTED:
            found.append([claim | {"of": own["model"].item()}])
        else:
            found.append([claim, *own.to_dict("records")])
    return found


def _draw_model(axes: Axes, place: float, row: dict[str, Any]) -> None:
    """The estimate and the interval of one model by itself; hollow where it is left out of the claim."""
    value, low, high = (100 * float(row[key]) for key in ("estimate", "low", "high"))
    reach = _reach(value, low, high)
    face = "none" if row["why"] else style.PALETTE[0]
    axes.errorbar(
        value, place, xerr=reach, fmt="s", color=style.PALETTE[0], mfc=face, capsize=2, markersize=3, linewidth=1
    )


def _draw(axes: Axes, place: float, row: dict[str, Any]) -> None:
    """The band (of the whole panel), the estimate and the paper's value of one claim, in percent or points."""
    axes.axvspan(-100 * row["effect"], 100 * row["effect"], color=BAND, zorder=0)
    value, low, high = (100 * float(row[key]) for key in ("estimate", "low", "high"))
    if row["verdict"] != NOT_TESTED and np.isfinite(value):
        reach = _reach(value, low, high)
        axes.errorbar(value, place, xerr=reach, fmt="o", color=style.PALETTE[0], capsize=2.5)
    if pd.notna(row["paper_value"]):
        axes.plot(100 * float(row["paper_value"]), place, "D", color=style.PALETTE[1], markerfacecolor="none")


def _reach(value: float, low: float, high: float) -> list[list[float]] | None:
    """How far an interval goes to either side; None where it is not known."""
    return [[value - low], [high - value]] if np.isfinite(low + high) else None


def _height(row: dict[str, Any]) -> float:
    """Inches."""
    return MODEL + MORE * _left_out(row).count("\n") if "model" in row else CLAIM


def _left_out(row: dict[str, Any]) -> str:
    """Why a model is no part of the claim, or that it is one."""
    return fill(f"left out: {in_brief(row['why'])}", REASON) if row["why"] else "part of the claim"


def _verdict(row: dict[str, Any], synthetic: bool) -> str:
    if row["verdict"] == NOT_TESTED:
        return f"{NOT_TESTED} (synthetic)" if synthetic else NOT_TESTED
    seeds, settings = (wording.number_of(row[f"{word}s"], word) for word in ("seed", "setting"))
    less = f",\n{LESS}" if matters_little(row) else ""
    return f"{row['verdict']}{less}\n{seeds}, {settings}" + (f",\n{style.name(row['of'])}" if "of" in row else "")


def _named(row: dict[str, Any], params: Params) -> str:
    if "model" in row:
        sets = params.in_words(str(row["datasets"]))
        return fill(f"{style.name(row['model'])} ({sets})", LINE)
    better = "← better" if CLAIMS[row["claim"]].kind == "cost" else "better →"
    return fill(f"{row['statement']} ({UNITS[row['unit']]} {better})", LINE)


def _handles() -> list[Line2D | Patch]:
    """What a legend says of each sign."""
    return [
        Line2D([], [], marker="o", color=style.PALETTE[0], label="ours, 95 %"),
        Line2D([], [], marker="s", markersize=3, color=style.PALETTE[0], label=OWN),
        Line2D([], [], marker="s", markersize=3, color=style.PALETTE[0], mfc="none", label=LEFT_OUT),
        Line2D([], [], marker="D", color=style.PALETTE[1], mfc="none", linestyle="", label="the paper's tables"),
        Patch(color=BAND, label="too small to matter"),
    ]
