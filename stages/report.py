"""python -m stages.report: figures/index.html, the scorecard, and every figure and table made so far."""

import json
from pathlib import Path

import pandas as pd

from descent import config, errors, kept
from descent.analysis import results
from descent.figures.parts import style
from descent.io.folders import write_text
from descent.paths import RESULTS
from descent.report import explore, plots_page
from descent.report.page import page


def main() -> None:
    """Put what stands in figures/ together with the scorecard, the cells' summary and the curves of all arms."""
    params = config.load(kept.OF_RESULTS)
    style.use(params)
    cells = pd.read_csv("data/summary.csv")
    card = pd.read_csv("data/scorecard.csv")
    metrics = json.loads(Path("data/arms.json").read_text())
    curves = explore.curves(results.read(RESULTS, params.profile), params)
    figures = Path("figures")
    shown = Path("data/shown")
    html = page(figures, shown, cells, metrics, card, params, curves, plots_page.library())
    write_text(figures / "index.html", html)


if __name__ == "__main__":
    errors.run(main)
