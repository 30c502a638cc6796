"""python -m stages.scorecard: data/scorecard.csv, what becomes of each claim, and the tables behind it."""

from pathlib import Path

from descent import config as params
from descent import errors
from descent.analysis import effects, grounds, results, scorecard
from descent.io.folders import write_text


def main() -> None:
    """Pair the arms of the results table, check what must hold, and judge every claim."""
    values = params.load(params.OF_RESULTS)
    data = Path("data")
    table = results.read(data / "results.parquet", values.profile)
    pairs = effects.pairs(table, values)
    grounds.save(pairs, grounds.facts(pairs, table, values), data)
    card = scorecard.judged(*grounds.load(data))
    text = card.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(data / "scorecard.csv", text)


if __name__ == "__main__":
    errors.run(main)
