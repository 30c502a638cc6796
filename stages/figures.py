"""python -m stages.figures <part> [name ...]: the figures and tables of a part, or these of it."""

import sys
from pathlib import Path

from descent import config, errors
from descent.analysis import results
from descent.figures.parts import catalogue, drawing, style


def main(part: str, *names: str) -> None:
    """Write figures/<part>/ and data/shown/<part>/ from data/results.parquet."""
    params = config.load(config.OF_RESULTS)
    style.use(params)
    entries = [catalogue.module(name) for name in names or catalogue.names(part)]
    table = results.read(Path("data/results.parquet"), params.profile)
    for entry in entries:
        drawing.draw(entry, table, params)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
