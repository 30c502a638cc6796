"""python -m stages.scorecard: data/scorecard.csv, what becomes of each claim, and the tables behind it."""

from pathlib import Path

from descent import config, errors, kept
from descent.analysis import csv_files, grounds, results, scorecard
from descent.paths import RESULTS


def main() -> None:
    """Pair the arms of the results table, check what must hold, and judge every claim."""
    params = config.load(kept.OF_RESULTS)
    data = Path("data")
    table = results.read(RESULTS, params.profile)
    grounds.save(*grounds.of_results(table, params), data)
    csv_files.write(data / "scorecard.csv", scorecard.judged(*grounds.load(data)))


if __name__ == "__main__":
    errors.run(main)
