"""Numbers as a reader has them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np
import pandas as pd

UNKNOWN = "–"  # noqa: RUF001
UNIT = {"percent": "%", "points": "points"}  # what a hundred times a number of the scorecard is in


def written(value: float, unit: str) -> str:
    """A number of the scorecard for a reader."""
    if np.isnan(value):
        return UNKNOWN
    number = f"{value if unit == 'plain' else 100 * value:.{2 if unit == 'points' else 3}g}"
    return number + _after(number, unit)


def _after(number: str, unit: str) -> str:
    """What follows a number of the scorecard: `1 point`, `0.5 points`."""
    return {"percent": " %", "points": " point" if number == "1" else " points", "plain": ""}[unit]


def unit_of(task: str) -> str:
    """What a hundred times a gain is in: percent of log-RMSE of video, points of accuracy else."""
    return UNIT["percent" if task == "video" else "points"]


def digits_of(task: str) -> int:
    """How many digits a hundred times a gain has behind the point: what matters is a percent of error, but half a
    point of accuracy."""
    return 1 if task == "video" else 2


def known(value: SupportsFloat | None, form: str) -> str:
    """A number in this format, or that it is not known."""
    return UNKNOWN if pd.isna(value) else format(float(value), form)


def with_interval(row: Mapping[str, Any]) -> str:
    """A number of the scorecard with its interval, to the place at which half of the interval's width has two
    digits: `1.3 points (0.3 to 2.2)`."""
    scale = 1 if row["unit"] == "plain" else 100
    value, low, high = (scale * float(row[key]) for key in ("estimate", "low", "high"))
    half = (high - low) / 2
    if not 0 < half < math.inf:
        told, *ends = (written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high"))
        return f"{told} ({' to '.join(end.split(' ')[0] for end in ends)})"
    places = max(0, 1 - math.floor(math.log10(half)))
    told, *ends = (f"{round(number, places) + 0:.{places}f}" for number in (value, low, high))
    return f"{told}{_after(told, row['unit'])} ({' to '.join(ends)})"


def number_of(count: float | int, word: str) -> str:
    """`1 seed`, `8 seeds`."""
    return f"{count:.0f} {word}" + ("" if count == 1 else "s")


def signed(value: float, digits: int = 1) -> str:
    """A gain or loss to so many digits: `+1.2`, and never `-0.0`."""
    return UNKNOWN if np.isnan(value) else f"{round(value, digits) + 0:+.{digits}f}"


def gain(value: SupportsFloat, ends: Sequence[SupportsFloat], seeds: float | int, digits: int = 1) -> str:
    """A share in percent, with its interval where it is of three seeds or more: of two that is as wide as can be.
    One seed tells nothing: `+1.2 (+0.3 to +2.1)`."""
    if not seeds > 1:
        return UNKNOWN
    told, low, high = (signed(100 * float(number), digits) for number in (value, *ends))
    return f"{told} ({low} to {high})" if seeds > 2 else told


def bracketed(value: SupportsFloat, ends: Sequence[SupportsFloat], unit: str = "") -> str:
    """A share times a hundred to two digits, with its interval where that is known: `+1.23 [+0.30, +2.15]`."""
    if pd.isna(value):
        return UNKNOWN
    told, low, high = (f"{100 * float(number):+.2f} {unit}".rstrip() for number in (value, *ends))
    return told if any(map(pd.isna, ends)) else f"{told} [{low}, {high}]"
