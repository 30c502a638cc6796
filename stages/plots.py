"""python -m stages.plots: the curves and the metrics of the arm named by `method`."""

import json
from pathlib import Path

from descent import config, errors, kept
from descent.analysis import csv_files, results
from descent.analysis.metrics import followed
from descent.analysis.summary import cells_table
from descent.io.folders import write_text
from descent.paths import RESULTS
from descent.report import plots


def main() -> None:
    """Write data/plots/*.csv, which `dvc plots` draws, and data/metrics.json, which `dvc metrics` compares."""
    params = config.load(kept.OF_RESULTS).model_copy(update={"method": config.load().method})
    rows = results.read(RESULTS, params.profile)
    cells = cells_table(rows, params)
    for stem, table in plots.curves(rows, cells, params, params.method).items():
        csv_files.write(Path("data/plots") / f"{stem}.csv", table)
    numbers = followed(cells, params)
    write_text(Path("data/metrics.json"), json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    errors.run(main)
