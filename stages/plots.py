"""python -m stages.plots: data/plots/*.csv, the curves of the arm named by `method`."""

from pathlib import Path

from descent import config as params
from descent import errors
from descent.analysis import results
from descent.report import plots


def main() -> None:
    """Write what `dvc plots show` and `dvc plots diff` draw."""
    values = params.load(params.OF_RESULTS).model_copy(update={"method": params.load().method})
    curves = plots.curves(results.read(Path("data/results.parquet"), values.profile), values, values.method)
    folder = Path("data/plots")
    folder.mkdir(parents=True, exist_ok=True)
    for stem, table in curves.items():
        table.to_csv(folder / f"{stem}.csv", index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    errors.run(main)
