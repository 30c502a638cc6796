"""python -m stages.table <name>: figures/<name>.tex, .md and .csv; in data/shown what the report page shows."""

import sys
from pathlib import Path

from descent import config, errors
from descent.analysis import results
from descent.figures.parts import catalogue, style, tables
from descent.io.folders import write_text


def main(name: str) -> None:
    """Make one table of the catalogue from data/results.parquet; the CSV holds the numbers without markup."""
    params = config.load(config.OF_RESULTS)
    style.use(params)
    entry = catalogue.module(name, "table")
    why = catalogue.left_out(entry, params)
    table = results.read(Path("data/results.parquet"), params.profile)
    numbers, shown, notes = tables.left_out(why) if why else tables.made(entry, table, params)
    csv = numbers.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    texts = {"csv": csv, "md": tables.to_markdown(shown, notes), "tex": tables.to_latex(shown, notes)}
    files = [Path("figures") / f"{name}.{ending}" for ending in texts]
    for file, text in zip(files, texts.values(), strict=True):
        write_text(file, text)
    told = {"header": tables.header(shown), "rows": shown.to_numpy().tolist(), "notes": notes}
    catalogue.write_sidecar(catalogue.sidecar(entry, "table", params) | told, files)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
