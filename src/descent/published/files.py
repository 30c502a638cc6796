"""The files of a published run, by its folder in data/evidence: each read once for as long as it stands there."""

from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import yaml

from descent import config
from descent.analysis import grounds
from descent.config import Params

Held = TypeVar("Held")


def _of(name: str) -> Callable[[Callable[[Path], Held]], Callable[[Path], Held]]:
    """What is read of a run's file of this name, asked for by its folder: some forty runs are asked again by every
    claim. A file that is written anew is read anew. What is returned is shared: nobody changes it in place."""

    def reader(read: Callable[[Path], Held]) -> Callable[[Path], Held]:
        known = cache(lambda file, changed: read(file))

        @wraps(read)
        def asked(folder: Path) -> Held:
            file = folder / name
            return known(file, file.stat().st_mtime_ns)

        return asked

    return reader


@_of("params.yaml")
def values(file: Path) -> dict[str, Any]:
    """Its parameters as they stand there, of which today's code may ask more."""
    return yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)


@_of("params.yaml")
def params(file: Path) -> Params:
    """The same as today's code has them.

    Raises:
        UserError: as config.load.
    """
    return config.load(file)


@_of("cells.csv")
def cells(file: Path) -> pd.DataFrame:
    """Its cells (summary.cells_table)."""
    return pd.read_csv(file, dtype={"varied": str}, low_memory=False).fillna({"varied": ""})


@_of("facts.csv")
def pairs_and_facts(file: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What its claims are judged from."""
    return grounds.load(file.parent)


@_of("data.sha256")
def digests(file: Path) -> list[str]:
    """What its data sets are told by: a digest and a name each."""
    return file.read_text(encoding="utf-8").splitlines()


def table(folder: Path, name: str) -> pd.DataFrame | None:
    """Another of its tables; None where it has none, as it was published before there was one."""
    file = folder / f"{name}.csv"
    return _table(file, file.stat().st_mtime_ns) if file.exists() else None


@cache
def _table(file: Path, changed: int) -> pd.DataFrame:
    words = {"varied": str, "why": str}
    return pd.read_csv(file, dtype=words).fillna(dict.fromkeys(words, ""))
