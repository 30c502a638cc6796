"""Figure 16: what both arms write, with little and with much noise on every token."""

import json
import textwrap
from itertools import zip_longest

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from descent.config import Params
from descent.errors import UserError
from descent.figures.parts import curves, style
from descent.paths import TEXTS, completions_name

TASKS = ("lm",)
SINGLE_INPUTS = True  # it holds prompts of the data set, which are no more ours to publish than a frame
SHOWN, LINES = 4, 4  # prompts, and lines of a text
WIDTHS = (0.2, 0.4, 0.4)  # of the columns, as shares of the sheet's
LETTER = 0.0615  # inches: the width of one at the size used
TITLE = "Completions under noise"
CAPTION = """
Greedy completions of the first prompts by both arms of `comparison`, with noise of level gamma on the embedding of
every token, those of the completion too; the two arms get the same noise. Top: the lowest of the levels, bottom:
the highest. Texts are cut to a few lines. Where the data are synthetic, prompts are made from templates, and a
model of this size learns their form better than their facts.
"""
PARAMETERS = ["lm.eps", "lm.completions", "comparison", "profiles.${profile}.lm"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A table of texts. Raises UserError where rows or completions are missing."""
    curves.required(results, "evaluate_lm", experiment="lm")
    texts = read()
    levels = sorted(map(float, params.lm.completions.gammas))
    levels = list(dict.fromkeys([levels[0], levels[-1]]))
    blocks = {gamma: {arm: texts[key(params, arm, gamma)] for arm in params.comparison.arms} for gamma in levels}
    figure = style.sheet(style.TEXT, 0.35 + len(levels) * (0.3 + 0.58 * SHOWN))
    figure.set_layout_engine("none")
    height = figure.get_figheight()
    edges = [sum(WIDTHS[:place]) for place in range(3)]
    top = height - 0.18
    for gamma, found in blocks.items():
        heads = {rf"prompt, $\gamma={gamma:g}$": "black"} | {style.name(arm): style.color(arm) for arm in found}
        for edge, (head, color) in zip(edges, heads.items(), strict=True):
            figure.text(edge + 0.01, top / height, head, color=color, weight="bold", va="top")
        top -= 0.22
        for rows in list(zip_longest(*found.values()))[:SHOWN]:
            figure.add_artist(Line2D([0.01, 0.99], [top / height] * 2, color="#cccccc", linewidth=0.5))
            asked = next(row["instruction"] for row in rows if row)
            texts = [asked, *map(_told, rows)]
            for edge, width, text in zip(edges, WIDTHS, texts, strict=False):
                figure.text(edge + 0.01, (top - 0.05) / height, _wrapped(text, width), va="top", fontsize=7)
            top -= 0.58
        top -= 0.08
    return figure


def key(params: Params, arm: str, gamma: float) -> str:
    """What `collect` calls the completions of an arm at a level."""
    return f"{params.lm.datasets[0]} {arm} {completions_name(gamma)}"


def read() -> dict[str, list[dict[str, str]]]:
    """All completions. Raises UserError where they are missing."""
    try:
        return json.loads(TEXTS.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{TEXTS} is missing: run `dvc repro` (stage collect makes it)") from None


def _told(row: dict[str, str] | None) -> str:
    """What an arm makes of a prompt; all cells of one that has no completions diverged."""
    return (row["output"] or "(nothing)") if row else "(no model: training diverged)"


def _wrapped(text: str, width: float) -> str:
    """The text in lines of a column, no longer than LINES; dollar signs are no mathematics here."""
    letters = int((width * style.TEXT - 0.1) / LETTER)
    lines = textwrap.wrap(" ".join(text.split()).replace("$", r"\$"), letters)
    return "\n".join(
        [*lines[: LINES - 1], textwrap.shorten(" ".join(lines[LINES - 1 :]), letters, placeholder=" …")]
    ).rstrip()
