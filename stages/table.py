"""python -m stages.table <name>: figures/<name>.tex, .md, .csv and .json (what the report page shows)."""

import json
import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.analysis import results
from descent.figures.parts import catalogue, tables


def main(name: str) -> None:
    """Make one table of the catalogue from data/results.parquet; the CSV holds the numbers without markup."""
    values = params.load(params.OF_RESULTS)
    entry = catalogue.module(name, "table")
    numbers = entry.build(results.read(Path("data/results.parquet"), values.profile), values)
    shown, notes = entry.display(numbers, values), entry.notes(numbers, values)
    text = {"header": tables.header(shown), "rows": shown.to_numpy().tolist(), "notes": notes}
    sidecar = catalogue.sidecar(entry, "table", values) | text
    folder = Path("figures")
    folder.mkdir(exist_ok=True)
    numbers.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
    (folder / f"{name}.md").write_text(tables.to_markdown(shown, notes))
    (folder / f"{name}.tex").write_text(tables.to_latex(shown, notes))
    (folder / f"{name}.json").write_text(json.dumps(sidecar, indent=1) + "\n")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
