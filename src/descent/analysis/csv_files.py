"""Tables as CSV files: no index, and lines that end alike on every system."""

from pathlib import Path

import pandas as pd

from descent.io.folders import write_text

DIGITS = 6  # of the numbers of most tables


def text(table: pd.DataFrame, digits: int | None = DIGITS) -> str:
    """The table with numbers of so many significant digits; of None as they are."""
    form = f"%.{digits}g" if digits else None
    return table.to_csv(index=False, float_format=form, lineterminator="\n")


def write(path: Path, table: pd.DataFrame, digits: int | None = DIGITS) -> None:
    """The same as a file, which is there whole or not at all."""
    write_text(path, text(table, digits))
