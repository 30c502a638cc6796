"""python -m stages.figures <part> [name ...]: the figures and tables of a part, or these of it."""

import sys

from descent import config, errors, kept
from descent.figures.parts import catalogue, side_by_side, style


def main(part: str, *names: str) -> None:
    """Write figures/<part>/ and data/shown/<part>/ from data/results.parquet."""
    params = config.load(kept.OF_RESULTS)
    style.use(params)
    side_by_side.draw(catalogue.chosen(part, names), params)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
