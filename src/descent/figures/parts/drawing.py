"""A figure or table of the catalogue as files, with its sidecar; one that is left out is a sheet that says so."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from descent.analysis import csv_files
from descent.config import Params
from descent.figures.parts import catalogue, style, tables
from descent.io.folders import write_text

FOLDER = Path("figures")


def draw(entry: ModuleType, results: pd.DataFrame, params: Params) -> None:
    """Write figures/<part>/<name> as PDF and PNG (a table: LaTeX, Markdown and CSV) and its sidecar.

    Raises:
        UserError: the results hold no rows of it, or a file cannot be written.
    """
    make = {"figure": _figure, "table": _table}[catalogue.kind(entry)]
    stem = FOLDER / catalogue.part(entry) / catalogue.name(entry)
    why = catalogue.left_out(entry, params, results)
    files, told = make(entry, results, params, stem, why)
    catalogue.write_sidecar(catalogue.sidecar(entry, params, why) | told, files)


def shown(entry: ModuleType, results: pd.DataFrame, params: Params) -> Figure:
    """The figure, with synthetic data of its tasks named at its foot."""
    figure = entry.render(results, params)
    return style.stamp(figure, params.profile) if style.synthetic(params, catalogue.tasks(entry)) else figure


def _figure(
    entry: ModuleType, results: pd.DataFrame, params: Params, stem: Path, why: str
) -> tuple[list[Path], dict[str, Any]]:
    figure = style.empty(f"left out: {why}") if why else shown(entry, results, params)
    files = [stem.with_name(f"{stem.name}.{ending}") for ending in ("pdf", "png")]
    for file in files:
        style.save(figure, file)
    return files, {"shows": any(axes.has_data() for axes in figure.axes)}


def _table(
    entry: ModuleType, results: pd.DataFrame, params: Params, stem: Path, why: str
) -> tuple[list[Path], dict[str, Any]]:
    """The CSV holds the numbers without markup."""
    numbers, display, notes = tables.left_out(why) if why else tables.made(entry, results, params)
    csv = csv_files.text(numbers)
    texts = {"csv": csv, "md": tables.to_markdown(display, notes), "tex": tables.to_latex(display, notes)}
    files = [stem.with_name(f"{stem.name}.{ending}") for ending in texts]
    for file, text in zip(files, texts.values(), strict=True):
        write_text(file, text)
    return files, {"header": tables.header(display), "rows": display.to_numpy().tolist(), "notes": notes}
