"""A local folder of a text data set, in any of the layouts in which it is handed out, as tables."""

import csv
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa

from descent.errors import UserError
from descent.io import sources
from descent.io.failures import reason
from descent.io.folders import walk
from descent.tasks.text.tables import Layout, Part, check_classes, clean, columns

# The same part in several formats (MultiNLI comes as .jsonl and as .txt) is read once, from the first of these.
SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".txt")
UNREADABLE = (OSError, ValueError, pa.ArrowException)


def read(form: Layout, root: Path) -> dict[str, Part]:
    """The parts `train` and `test` of a data set, and `elsewhere` where it is there.

    Raises:
        UserError: no training or no test part, or one that cannot be read or is not what it should be.
    """
    found = locate(root, form)
    missing = [part for part in ("train", "test") if part not in found]
    if missing:
        begin = " or ".join(f"{word}*" for word in (form.train if missing[0] == "train" else form.test))
        raise UserError(
            f"{form.name}: there is no {missing[0]} part ({begin}) in {root}.\nIt should hold {form.tree}"
        )
    tables = {part: pd.concat([_known(path, form) for path in paths]) for part, paths in found.items()}
    return tidy(form, tables, {part: str(paths[0]) for part, paths in found.items()})


def tidy(form: Layout, tables: dict[str, pd.DataFrame], where: dict[str, str]) -> dict[str, Part]:
    """Parts from the source's own tables; `where` is what messages call them.

    Raises:
        UserError: see tables.clean; or one class only.
    """
    parts = {part: clean(table.reset_index(drop=True), form, where[part]) for part, table in tables.items()}
    check_classes(parts["train"], form.name)
    for part, own in parts.items():
        if ("pair" in own.table) != ("pair" in parts["train"].table):
            raise UserError(
                f"{form.name}: one of {where['train']} and {where[part]} holds pairs, the other does not"
            )
    plain = parts["train"].table.drop(columns="group", errors="ignore")  # training is told nothing of kinds
    return parts | {"train": Part(plain, parts["train"].dropped)}


def locate(root: Path, form: Layout) -> dict[str, list[Path]]:
    """The files (or folders of .txt files) of each part, from the first folder that has both.

    Where no folder has both, what the first folder with either has.
    """
    best: dict[str, list[Path]] = {}
    for folder in sorted((folder for folder, _ in walk(root)), key=lambda path: (len(path.parts), path)):
        found = {}
        for part, beginnings in (("train", form.train), ("test", form.test)):
            if form.folders and all((folder / part / label).is_dir() for label in form.folders):
                found[part] = [folder / part]
            elif files := sources.part(folder, beginnings, SUFFIXES):
                found[part] = files
        if len(found) == 2:
            files = sources.part(folder, form.elsewhere, SUFFIXES)
            return found | ({"elsewhere": files} if files else {})
        best = best or found
    return best


def _known(path: Path, form: Layout) -> pd.DataFrame:
    """A file that has all columns that matter; beside one without them they would be empty."""
    table = _frame(path, form)
    columns(list(table.columns), form, str(path))
    return table


def _frame(path: Path, form: Layout) -> pd.DataFrame:
    """One file, or one folder with a folder of .txt files per class, as the source has it."""
    try:
        if path.is_dir():
            return _class_folders(path, form.folders)
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix in (".jsonl", ".json"):
            return _json_lines(path, form)
        return _separated(path)
    except UNREADABLE as error:
        raise UserError(
            f"{path} cannot be read ({reason(error)}); expected {path.suffix or 'UTF-8 texts'}: get it again"
        ) from None


def _separated(path: Path) -> pd.DataFrame:
    """A file of commas or tabs. Texts such as "NA" or "null" are texts."""
    commas = path.suffix == ".csv"
    quoting = csv.QUOTE_MINIMAL if commas else csv.QUOTE_NONE  # MultiNLI's tabs quote nothing
    form = {"sep": "," if commas else "\t", "quoting": quoting, "dtype": str, "keep_default_na": False}
    # Not with the first line as the header: lines with one field too many would make an index of their first.
    whole = pd.read_csv(path, header=None, **form)
    header = list(whole.iloc[0].fillna(""))
    table = whole.iloc[1:]
    if twice := [name for name in header if header.count(name) > 1 and name]:
        raise ValueError(f"the column {twice[0]!r} stands there twice")
    if commas and (short := table.isna().any(axis=1)).any():
        raise ValueError(
            f"row {short.idxmax()} has fewer fields than the header, or others too many: quote commas"
        )
    return table.fillna("").set_axis(header, axis=1).reset_index(drop=True)


def _class_folders(folder: Path, labels: tuple[str, ...]) -> pd.DataFrame:
    texts, numbers = [], []
    for number, label in enumerate(labels):
        for path in sorted((folder / label).glob("*.txt")):
            try:
                texts.append(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                raise ValueError(f"{label}/{path.name} is not UTF-8") from None
            numbers.append(number)
    return pd.DataFrame({"text": pd.Series(texts, dtype=str), "label": pd.Series(numbers, dtype="int64")})


def _json_lines(path: Path, form: Layout) -> pd.DataFrame:
    """One object a line; of its keys only those that matter, as MultiNLI's parses are ten times as long."""
    rows: list[list[object]] = []
    names: dict[str, str] | None = None
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is not one JSON object")
            names = names or columns(list(row), form, str(path))
            rows.append([row.get(name) for name in names])
    return pd.DataFrame(rows, columns=list(names or {}))
