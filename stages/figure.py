"""python -m stages.figure <name>: figures/<name>.pdf, .png and .json (what the report page says of it)."""

import json
import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.analysis import results
from descent.figures.parts import catalogue, style


def main(name: str) -> None:
    """Draw one figure of the catalogue from data/results.parquet."""
    values = params.load(params.OF_RESULTS)
    entry = catalogue.module(name, "figure")
    figure = entry.render(results.read(Path("data/results.parquet"), values.profile), values)
    folder = Path("figures")
    style.save(figure, folder / f"{name}.pdf")
    style.save(figure, folder / f"{name}.png")
    sidecar = catalogue.sidecar(entry, "figure", values)
    (folder / f"{name}.json").write_text(json.dumps(sidecar, indent=1) + "\n")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
