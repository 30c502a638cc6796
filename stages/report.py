"""python -m stages.report: figures/index.html, the scorecard, and every figure and table made so far."""

import json
from pathlib import Path

import pandas as pd

from descent import config, errors
from descent.io.folders import write_text
from descent.report.page import page


def main() -> None:
    """Put what stands in figures/ together with the scorecard and the cells' summary."""
    cells, card = pd.read_csv("data/summary.csv"), pd.read_csv("data/scorecard.csv")
    metrics = json.loads(Path("data/arms.json").read_text())
    figures = Path("figures")
    html = page(figures, Path("data/shown"), cells, metrics, card, config.load(config.OF_RESULTS))
    write_text(figures / "index.html", html)


if __name__ == "__main__":
    errors.run(main)
