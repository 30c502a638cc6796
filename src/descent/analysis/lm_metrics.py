"""The language model in the summary."""

from typing import Any

import pandas as pd

from descent.analysis.select import select

MEASURES = ["area", "accuracy_out_of_distribution"]


def lm_metrics(cells: pd.DataFrame) -> dict[str, Any]:
    """The language model's part of `metrics`: MEASURES by method, means over seeds; empty without its cells.

    They are of response tokens. Also the shares of cells that descend at every layer and, of the constrained ones,
    that ended feasible.
    """
    rows = select(cells, experiment="lm")
    if rows.empty:
        return {}
    by_method = {name: rows.groupby("method")[name].mean() for name in MEASURES}
    by_method["descending_share"] = rows.groupby("method")["descending"].mean()
    constrained = select(rows, method="constrained").groupby("method")
    by_method["feasible_share"] = constrained["feasible"].mean()
    numbers = {name: {m: float(f"{v:.5g}") for m, v in by.dropna().items()} for name, by in by_method.items()}
    return {name: value for name, value in numbers.items() if value}
