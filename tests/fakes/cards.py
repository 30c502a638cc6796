"""A scorecard of four claims, made by hand: one that holds, one undecided, one not tested, one exploratory."""

import numpy as np
import pandas as pd

ROWS = {
    "video_ood": {
        "estimate": 0.02,
        "low": 0.01,
        "high": 0.03,
        "verdict": "reproduced",
        "paper_value": 0.05,
        "paper_inside": False,
    },
    "video_cost": {"estimate": 0.001, "low": -0.002, "high": 0.004, "verdict": "cannot tell", "effect": 0.015},
    "text_ood": {
        "verdict": "not tested",
        "why": "nothing to compare",
        "unit": "points",
        "seeds": 0,
        "settings": 0,
    },
    "video_depth": {"estimate": -0.1, "low": -0.2, "high": -0.05, "verdict": "reversed", "group": "exploratory"},
}
COMMON = {
    "paper": "the paper's words",
    "source": "its place",
    "shown_in": "",
    "kind": "gain",
    "group": "primary",
    "estimate": np.nan,
    "low": np.nan,
    "high": np.nan,
    "p_holm": 0.046875,
    "effect": 0.01,
    "unit": "percent",
    "seeds": 8,
    "settings": 27,
    "why": "",
    "paper_value": np.nan,
    "paper_inside": pd.NA,
}


def card() -> pd.DataFrame:
    """The columns of the scorecard that words and figures read."""
    return pd.DataFrame(
        [COMMON | {"claim": claim, "statement": f"Statement of {claim}"} | row for claim, row in ROWS.items()]
    )
