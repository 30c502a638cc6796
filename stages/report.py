"""python -m stages.report: figures/index.html, the scorecard, and every figure and table made so far."""

import json
from pathlib import Path

import pandas as pd

from descent import errors
from descent.report import page as report


def main() -> None:
    """Put what stands in figures/ together with the scorecard and the cells' summary."""
    cells = pd.read_csv("data/summary.csv")
    metrics = json.loads(Path("data/metrics.json").read_text())
    card = pd.read_csv("data/scorecard.csv")
    Path("figures/index.html").write_text(report.page(Path("figures"), cells, metrics, card))


if __name__ == "__main__":
    errors.run(main)
