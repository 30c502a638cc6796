"""Whether what lies in the store is what was put there; what is not is set aside, told, and made again."""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

RECORD = "cell.json"
ASIDE = ".damaged"  # the ending of what was set aside, for whoever wants to look at it
APART = {"locks", "scores", "stacks"}  # folders of the store that are no cells


def sealed(place: Path, record: dict[str, Any]) -> str:
    """The text of cell.json: the record, and the sha256 of every other file of the folder."""
    files = {path.name: _digest(path) for path in sorted(place.iterdir()) if path.name != RECORD}
    return json.dumps(record | {"files": files}, indent=1, sort_keys=True) + "\n"


def fault(place: Path, fingerprint: str) -> str:
    """What is wrong with a cell's folder, in words; empty where it is whole."""
    if not place.is_dir():
        return "it is no folder"
    try:
        record = json.loads((place / RECORD).read_text())
        if not isinstance(record, dict) or record.get("fingerprint") != fingerprint:
            return f"{RECORD} is of another cell"
        if not isinstance(files := record.get("files"), dict) or not files:
            return f"{RECORD} holds no digests of its files"
        wrong = [name for name, digest in files.items() if _digest(place / name) != digest]
    except (OSError, ValueError) as error:
        return f"{type(error).__name__} reading it"
    return f"{wrong[0]} is not what was written" if wrong else ""


def set_aside(place: Path, why: str) -> None:
    """Take something damaged out of the way under another name, and say so in one line."""
    aside, number = place.with_name(f"{place.name}{ASIDE}"), 1
    while aside.exists():
        aside, number = place.with_name(f"{place.name}{ASIDE}{number}"), number + 1
    place.rename(aside)
    print(f"\n{place} is damaged ({why}): set aside as {aside.name}, and made again", file=sys.stderr, flush=True)


def scores(file: Path) -> pd.DataFrame | None:
    """A file of scores; None where there is none, or a damaged one, which is set aside."""
    if not file.exists():
        return None
    try:
        return pd.read_parquet(file, page_checksum_verification=True)
    except (OSError, ValueError, KeyError) as error:
        set_aside(file, type(error).__name__)
        return None


def survey(root: Path) -> Iterator[tuple[Path, str]]:
    """Everything in a store, each with what is wrong with it, in words; empty where it is whole."""
    for place in sorted(root.iterdir()) if root.is_dir() else []:
        if place.name in APART or ASIDE in place.name:
            continue
        yield place, "a killed run left it" if place.name.startswith(".") else fault(place, place.name)
    for file in sorted((root / "scores").glob("*.parquet")):
        try:
            pd.read_parquet(file, page_checksum_verification=True)
            yield file, ""
        except (OSError, ValueError, KeyError) as error:
            yield file, type(error).__name__


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
