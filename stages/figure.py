"""python -m stages.figure <name>: figures/<name>.pdf and .png; in data/shown what the report page says of it."""

import sys
from pathlib import Path

from descent import config, errors
from descent.analysis import results
from descent.figures.parts import catalogue, style


def main(name: str) -> None:
    """Draw one figure of the catalogue from data/results.parquet; one that is left out is a sheet that says so."""
    params = config.load(config.OF_RESULTS)
    style.use(params)
    entry = catalogue.module(name, "figure")
    why = catalogue.left_out(entry, params)
    table = results.read(Path("data/results.parquet"), params.profile)
    figure = style.left_out(params, why) if why else entry.render(table, params)
    files = [Path("figures") / f"{name}.{ending}" for ending in ("pdf", "png")]
    for file in files:
        style.save(figure, file)
    catalogue.write_sidecar(catalogue.sidecar(entry, "figure", params), files)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
