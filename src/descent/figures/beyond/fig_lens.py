"""Not in the paper: the word that every layer of the language model would say next."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from descent.cells import headline
from descent.config import Params
from descent.figures.parts import curves, looks, style

SINGLE_INPUTS = True  # it holds a text of the data set, which is no more ours to publish than a frame
TASKS = ("lm",)
LETTERS = 9  # of a word in a cell
SPACE = "\u2423"
TITLE = "What each layer would say next"
CAPTION = """
Ours, not the paper's. One test instruction and the first words of its response: the likeliest next token that
the final norm and head read from every layer (the logit lens), the text before it being given, test noise at
the training level. Colour: its probability, white 0, full colour 1; bold: the token that the response has,
which stands below the columns. Layer 0 are the noisy word embeddings. Both arms of `comparison` at the headline
training level, first seed.
"""
PARAMETERS = ["lm.eps", "lm.models", "comparison", "profiles.${profile}.lm"]


def render(results: pd.DataFrame, params: Params) -> Figure:
    """A table of tokens, layers x places, an arm each. Raises UserError without rows or texts."""
    curves.required(results, "evaluate_lm", experiment="lm", eps=headline(params, "lm"))
    dataset = params.lm.datasets[0]
    model = params.lm.models[0]
    known = {arm: looks.texts(dataset, model, arm) for arm in params.comparison.arms}
    known = {arm: own for arm, own in known.items() if own}
    if not known:
        return style.empty("the cells of both arms diverged")
    depth = max(len(own["tokens"]) for own in known.values())
    prompt = textwrap.wrap(looks.printed(next(iter(known.values()))["prompt"]), 110)[:4]
    height = 0.5 + 0.14 * len(prompt) + len(known) * (0.65 + 0.2 * depth)
    figure, grid = style.panels(len(known), 1, style.TEXT, height)
    figure.suptitle("\n".join(prompt), fontsize=7.5, x=0.01, ha="left")
    for [axes], (arm, own) in zip(grid, known.items(), strict=True):
        _draw(axes, own, arm)
        axes.set_title(f"{style.name(model)}, {style.name(arm)}", color=style.color(arm))
    axes.set_xlabel("the response, token by token; bold: the layer has it; colour: its probability, from 0 to 1")
    return figure


def _draw(axes: Axes, own: dict, arm: str) -> None:
    colors = LinearSegmentedColormap.from_list(arm, ["white", style.color(arm)])
    axes.pcolormesh(own["probabilities"], cmap=colors, vmin=0, vmax=1, edgecolors="white", linewidth=1)
    for layer, (tokens, shares) in enumerate(zip(own["tokens"], own["probabilities"], strict=True)):
        for place, (token, share) in enumerate(zip(tokens, shares, strict=True)):
            right = token == own["targets"][place]
            look = {"color": "white" if share > 0.6 else "black", "weight": "bold" if right else "normal"}
            axes.text(place + 0.5, layer + 0.5, shown(token), ha="center", va="center", fontsize=6.5, **look)
    axes.set_xticks(np.arange(len(own["targets"])) + 0.5, [shown(word) for word in own["targets"]])
    axes.set_yticks(np.arange(len(own["tokens"])) + 0.5, range(len(own["tokens"])))
    axes.set_ylabel(style.LAYER)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def shown(token: str) -> str:
    """A token as a figure can show it: what is only space as an open box, what is long cut."""
    words = looks.printed(token)
    return (words if len(words) <= LETTERS else f"{words[: LETTERS - 1]}…") or SPACE
