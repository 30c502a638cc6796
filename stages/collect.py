"""python -m stages.collect: data/results.parquet and params.json, summary.csv (one row per cell), metrics.json."""

import json
from pathlib import Path

from descent import config as params
from descent import errors
from descent.analysis import results, summary


def main() -> None:
    """Join the score files that params.yaml asks for, and keep the parameters that made them beside them."""
    values = params.load()
    table = results.collect(summary.declared(values), values.profile)
    summary.check_declared(table, values)
    results.write(table, Path("data/results.parquet"))
    params.OF_RESULTS.write_text(params.of_results(values))
    cells = summary.cells_table(table, values)
    cells.to_csv("data/summary.csv", index=False, float_format="%.5g", lineterminator="\n")
    metrics = json.dumps(summary.metrics(cells, values), indent=1, sort_keys=True)
    Path("data/metrics.json").write_text(metrics + "\n")


if __name__ == "__main__":
    errors.run(main)
