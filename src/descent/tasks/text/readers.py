"""A local folder of a text data set, in any of the layouts in which it is handed out, as tables."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from descent.errors import UserError
from descent.io.failures import reason
from descent.tasks.text.tables import Layout, Part, check_classes, clean, columns

# The same part in several formats (MultiNLI comes as .jsonl and as .txt) is read once, from the first of these.
SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".txt")
UNREADABLE = (OSError, ValueError, pa.ArrowException)


def read(form: Layout, root: Path) -> dict[str, Part]:
    """The parts `train` and `test` of a data set.

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
    tables = {part: pd.concat([_frame(path, form) for path in paths]) for part, paths in found.items()}
    return tidy(form, tables, {part: str(paths[0]) for part, paths in found.items()})


def tidy(form: Layout, tables: dict[str, pd.DataFrame], where: dict[str, str]) -> dict[str, Part]:
    """Parts from the source's own tables; `where` is what messages call them.

    Raises:
        UserError: see tables.clean; or one class only.
    """
    parts = {part: clean(table.reset_index(drop=True), form, where[part]) for part, table in tables.items()}
    check_classes(parts["train"], form.name)
    if list(parts["train"].table.columns) != list(parts["test"].table.columns):
        raise UserError(
            f"{form.name}: one of {where['train']} and {where['test']} holds pairs, the other does not"
        )
    return parts


def locate(root: Path, form: Layout) -> dict[str, list[Path]]:
    """The files (or folders of .txt files) of each part, from the first folder that has both.

    Where no folder has both, what the first folder with either has.
    """
    best: dict[str, list[Path]] = {}
    for folder in sorted(_folders(root), key=lambda path: (len(path.parts), path)):
        found = {}
        for part, beginnings in (("train", form.train), ("test", form.test)):
            if form.folders and all((folder / part / label).is_dir() for label in form.folders):
                found[part] = [folder / part]
            elif files := _files(folder, beginnings):
                found[part] = files
        if len(found) == 2:
            return found
        best = best or found
    return best


def _folders(root: Path) -> Iterator[Path]:
    for folder, folders, _ in os.walk(root, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", "__MACOSX"))]
        yield Path(folder)


def _files(folder: Path, beginnings: tuple[str, ...]) -> list[Path]:
    """The files of one part in one format: all shards of it, or the one file."""
    for beginning in beginnings:
        for suffix in SUFFIXES:
            if files := sorted(path for path in folder.glob(f"{beginning}*{suffix}") if path.is_file()):
                return files
    return []


def _frame(path: Path, form: Layout) -> pd.DataFrame:
    """One file, or one folder with a folder of .txt files per class, as the source has it."""
    try:
        if path.is_dir():
            return _class_folders(path, form.folders)
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix in (".jsonl", ".json"):
            return _json_lines(path, form)
        quoting = csv.QUOTE_MINIMAL if path.suffix == ".csv" else csv.QUOTE_NONE  # MultiNLI's tabs quote nothing
        separator = "," if path.suffix == ".csv" else "\t"
        # Texts such as "NA" or "null" are texts.
        return pd.read_csv(path, sep=separator, quoting=quoting, dtype=str, keep_default_na=False)
    except UNREADABLE as error:
        raise UserError(
            f"{path} cannot be read ({reason(error)}); expected {path.suffix or 'UTF-8 texts'}: get it again"
        ) from None


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
    rows, names = [], None
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                row = None
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is not one JSON object")
            names = names or columns(list(row), form, str(path))
            rows.append([row.get(name) for name in names])
    return pd.DataFrame(rows, columns=names)
