"""The curves that a reader can explore on the page: their numbers, their axes, and what draws them."""

from typing import Any

import pandas as pd

from descent.analysis.summary import cells_table
from descent.config import Params
from descent.figures.parts import style
from descent.report import plots

QUANTITIES = {
    "rmse": "RMSE (0 to 255; lower is better)",
    "loss": "loss (lower is better)",
    "accuracy": "accuracy (higher is better)",
    "gamma": "test noise level γ",  # noqa: RUF001
    "layer": "layer l",
    "epoch": "epoch",
}
NAMES = {"video": "Video", "text": "Texts", "lm": "Language model"}
ROWS = ["arm", "dataset", "model", "layers"]  # of a curve's rows, before x and the value


def curves(results: pd.DataFrame, params: Params) -> dict[str, Any]:
    """What the page draws, as plain data: the curves of `dvc plots`, of every arm in use.

    `curves`: for each that has rows its title, the words of its axes and its rows, ROWS and then x and the value.
    `arms`, `datasets`: those in them with a colour or a dash each.
    """
    cells = cells_table(results, params)
    by_arm = [plots.curves(results, cells, params, arm) for arm in params.arms]
    found = []
    for stem, (task, metric, x) in plots.CURVES.items():
        table = pd.concat([own[stem] for own in by_arm], ignore_index=True)
        words = {"x": QUANTITIES[x], "y": QUANTITIES[metric]}
        title = f"{NAMES[task]}: {words['y'].split(' (')[0]} against {words['x']}"
        rows = table[[*ROWS, x, metric]].to_numpy().tolist()
        found += [{"title": title, **words, "rows": rows}] if rows else []
    arms = [{"name": params.label(arm), "color": style.color(arm)} for arm in params.arms]
    used = [name for task in params.tasks for name in params.section(task).datasets]
    datasets = [{"name": params.label(name), "dash": dash(place)} for place, name in enumerate(used)]
    return {"curves": found, "arms": arms, "datasets": datasets}


def dash(place: int) -> list[float]:
    """The dashes of the data set at a place in params.yaml: none for the first."""
    strokes = style.STROKES[place % len(style.STROKES)]
    return [] if isinstance(strokes, str) else [float(length) for length in strokes[1]]


def specification(data: dict[str, Any]) -> dict[str, Any]:
    """The Vega-Lite specification of one plot; the page adds `data.values`, the titles and the vertical scale.

    Colour: the arm; dashes: the data set. The signal `at` is the x of the readout.
    """
    arms = data["arms"]
    datasets = data["datasets"]
    colors = {"domain": [arm["name"] for arm in arms], "range": [arm["color"] for arm in arms]}
    dashes = {
        "domain": [each["name"] for each in datasets],
        "range": [each["dash"] or [1, 0] for each in datasets],
    }
    encoding = {
        "x": {"field": "x", "type": "quantitative", "axis": {"grid": False, "title": ""}},
        "y": {
            "field": "value",
            "type": "quantitative",
            "axis": {"title": ""},
            "scale": {},
        },
        "color": {"field": "arm", "type": "nominal", "scale": colors, "legend": None},
        "strokeDash": {"field": "dataset", "type": "nominal", "scale": dashes, "legend": None},
    }
    at = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "at", "as": "x"}],
        "mark": {"type": "rule", "color": "#777"},
        "encoding": {"x": encoding["x"]},
    }
    marked = {
        "transform": [{"filter": "abs(datum.x - at) < 1e-9"}],
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": encoding | {"strokeDash": {"value": [1, 0]}},
    }
    return {
        "width": "container",
        "height": 340,
        "autosize": {"type": "fit", "contains": "padding"},
        "config": {
            "font": "system-ui, sans-serif",
            "axis": {"labelFontSize": 12, "titleFontSize": 13},
            "view": {"stroke": None},
        },
        "params": [{"name": "at", "value": 0}],
        "data": {"values": []},
        "layer": [{"mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding}, at, marked],
    }
