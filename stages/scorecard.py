"""python -m stages.scorecard: data/scorecard.csv, what becomes of each claim of the paper here."""

from pathlib import Path

from descent import config as params
from descent import errors
from descent.analysis import results
from descent.analysis.scorecard import scorecard


def main() -> None:
    """Measure every claim on the results table, with intervals over test items and seeds."""
    values = params.load(params.OF_RESULTS)
    card = scorecard(results.read(Path("data/results.parquet"), values.profile), values)
    card.to_csv("data/scorecard.csv", index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    errors.run(main)
