"""python -m stages.scorecard: data/scorecard.csv, what becomes of each claim, and the tables behind it."""

from pathlib import Path

from descent import config, errors
from descent.analysis import grounds, results, scorecard
from descent.io.folders import write_text
from descent.paths import RESULTS


def main() -> None:
    """Pair the arms of the results table, check what must hold, and judge every claim."""
    params = config.load(config.OF_RESULTS)
    data = Path("data")
    table = results.read(RESULTS, params.profile)
    grounds.save(*grounds.of_results(table, params), data)
    card = scorecard.judged(*grounds.load(data))
    text = card.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(data / "scorecard.csv", text)


if __name__ == "__main__":
    errors.run(main)
