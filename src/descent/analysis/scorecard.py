"""The scorecard: what becomes of each claim of the paper here, by one rule.

A claim is turned into one number (claims.py) and a bound that the number must lie above or below. The number is
worked out again on resamples of the test items (texts; of video whole clips) and of the seeds, with the same
resamples for all models of a data set. The interval holds the middle 95 % of these. Then the claim is

    reproduced      where the interval lies wholly on the claimed side of the bound,
    not reproduced  where it lies wholly on the other side,
    cannot tell     where it holds the bound; where there are no rows; and where a data set has fewer than
                    MIN_ITEMS test items, so that resamples say nothing.

With one seed the interval holds the choice of test items alone, and not the luck of a training; the row says so,
and how many test items there are: of a handful of clips the interval is rough.
Bounds: "better" is 0, or half of the cells; "at every layer" is NEARLY_ALL of the cells, "does not" fewer than
MOST; what the paper calls small or little is LITTLE_RMSE, LITTLE_ACCURACY, and for alpha the number it gives.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from descent.analysis import claims
from descent.analysis.bootstrap import interval
from descent.analysis.evidence import Evidence
from descent.config import Params

PAPER = Path("data/paper/claims.csv")
NEARLY_ALL, MOST = 0.9, 0.5
LITTLE_RMSE, LITTLE_ACCURACY = 0.05, 0.01  # relative; one percentage point
MIN_ITEMS = 5
BOUNDS = {"NEARLY_ALL": NEARLY_ALL, "MOST": MOST, "MIN_ITEMS": MIN_ITEMS}
BOUNDS |= {"LITTLE_RMSE": LITTLE_RMSE, "LITTLE_ACCURACY": LITTLE_ACCURACY}
VERDICTS = REPRODUCED, NOT_REPRODUCED, CANNOT_TELL = "reproduced", "not reproduced", "cannot tell"


@dataclass(frozen=True)
class Claim:
    """A claim's number, the side of the bound that it claims, and how its number is written."""

    measure: claims.Measure
    side: Literal["above", "below"]
    bound: float
    unit: Literal["percent", "points", "plain"]


CLAIMS = {
    "descent_video": Claim(claims.descending("video", "ours"), "above", NEARLY_ALL, "percent"),
    "no_descent_video": Claim(claims.descending("video", "baseline"), "below", MOST, "percent"),
    "descent_text": Claim(claims.descending("text", "ours"), "above", NEARLY_ALL, "percent"),
    "no_descent_text": Claim(claims.descending("text", "baseline"), "below", MOST, "percent"),
    "video_wins": Claim(claims.video_wins, "above", 0.5, "percent"),
    "video_ood": Claim(claims.video_ood, "above", 0.5, "percent"),
    "video_cost": Claim(claims.video_cost, "below", LITTLE_RMSE, "percent"),
    "video_depth": Claim(claims.video_depth, "above", 0.0, "percent"),
    "text_wins": Claim(claims.text_wins, "above", 0.5, "percent"),
    "text_ood": Claim(claims.accuracy("text", "out_of", 1), "above", 0.0, "points"),
    "text_cost": Claim(claims.accuracy("text", "in", -1), "below", LITTLE_ACCURACY, "points"),
    "text_size": Claim(claims.text_size, "above", 0.0, "percent"),
    "alpha_ood": Claim(claims.alpha("out_of", 1), "above", 0.0, "points"),
    "alpha_cost": Claim(claims.alpha("in", -1), "below", 0.003, "points"),
    "dual_lr": Claim(claims.dual_lr, "below", LITTLE_ACCURACY, "points"),
    "sample_share": Claim(claims.sample("below_one"), "above", 0.5, "percent"),
    "sample_mean": Claim(claims.sample("mean"), "below", 1.0, "plain"),
    "sample_median": Claim(claims.sample("median"), "below", 1.0, "plain"),
    "lm_ood": Claim(claims.accuracy("lm", "out_of", 1), "above", 0.0, "points"),
    "lm_cost": Claim(claims.accuracy("lm", "in", -1), "below", LITTLE_ACCURACY, "points"),
}


def verdict(low: float, high: float, side: str, bound: float) -> str:
    """The rule: an interval without numbers, or that holds the bound, tells nothing."""
    if low > bound or high < bound:
        return REPRODUCED if (low > bound) == (side == "above") else NOT_REPRODUCED
    return CANNOT_TELL


def scorecard(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a claim, in the order of the paper's file: its words, the paper's figure, ours, and the verdict.

    Columns beside those of PAPER: `ours`, `low`, `high` (NaN where not measured), `words`, `side`, `bound`,
    `unit`, `seeds` (of text: trials), `items` (test items of each data set, as words), `verdict`.
    """
    paper, evidence = pd.read_csv(PAPER).set_index("claim"), Evidence(results, params)
    rows = {name: _row(claim, evidence) for name, claim in CLAIMS.items()}
    return paper.join(pd.DataFrame.from_dict(rows, orient="index"), how="outer").loc[paper.index].reset_index()


def written(value: float, unit: str) -> str:
    """A number of the scorecard for a reader."""
    if np.isnan(value):
        return "–"  # noqa: RUF001
    return {
        "percent": f"{100 * value:.3g} %",
        "points": f"{100 * value:.2g} points",
        "plain": f"{value:.3g}",
    }[unit]


def _row(claim: Claim, evidence: Evidence) -> dict[str, object]:
    found = claim.measure(evidence)
    row: dict[str, object] = {"side": claim.side, "bound": claim.bound, "unit": claim.unit}
    if found is None:
        missing = {
            "ours": np.nan,
            "low": np.nan,
            "high": np.nan,
            "words": "nothing to compare",
            "seeds": 0,
            "items": "",
        }
        return row | missing | {"verdict": CANNOT_TELL}
    items = evidence.items(found.experiment)
    low, high = interval(found.values[1:]) if min(items.values()) >= MIN_ITEMS else (np.nan, np.nan)
    return row | {
        "ours": float(found.values[0]),
        "low": low,
        "high": high,
        "words": found.words,
        "seeds": evidence.seeds(found.experiment),
        "items": ", ".join(f"{dataset} {count}" for dataset, count in items.items()),
        "verdict": verdict(low, high, claim.side, claim.bound),
    }
