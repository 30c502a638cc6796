"""Whether what lies in the store is what was put there; what is not is set aside, told, and made again."""

import errno
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from descent.io.failures import UNREAD
from descent.io.folders import abandoned, digest_of
from descent.runner.stored import RECORD

ASIDE = ".damaged"  # the ending of what was set aside, for whoever wants to look at it
SEAL = hashlib.sha256().digest_size
APART = {"locks", "scores", "stacks"}  # folders of the store that are no cells
# What is no damage: another user, or this one at another time or once the drive is back, reads the same file.
REFUSED = (errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
ELSEWHERE = (*REFUSED, errno.EIO, errno.ESTALE, errno.ETIMEDOUT)


def sealed(place: Path, record: dict[str, Any]) -> str:
    """The text of cell.json: the record, and the sha256 of itself and of every other file of the folder."""
    files = {path.name: digest_of(path) for path in sorted(place.iterdir()) if path.name != RECORD}
    files[RECORD] = _of_record(record)
    return json.dumps(record | {"files": files}, indent=1, sort_keys=True) + "\n"


def fault(place: Path, fingerprint: str) -> str:
    """What is wrong with a cell's folder, in words; empty where it is whole."""
    if not place.is_dir():
        return "it is no folder"
    try:
        record = json.loads((place / RECORD).read_text())
        if not isinstance(record, dict) or record.get("fingerprint") != fingerprint:
            return f"{RECORD} is of another cell"
        if why := fault_of_record(record):
            return why
        files = {name: digest for name, digest in record["files"].items() if name != RECORD}
        wrong = [name for name, digest in files.items() if digest_of(place / name) != digest]
    except (OSError, ValueError, RecursionError) as error:
        return damage(error)
    return f"{wrong[0]} is not what was written" if wrong else ""


def fault_of_record(record: Any) -> str:
    """What is wrong with what a cell.json holds, in words; empty where it is whole."""
    files = record.get("files") if isinstance(record, dict) else None
    if not isinstance(files, dict) or files.get(RECORD) != _of_record(record):
        return f"{RECORD} is not what was written"
    return ""


def damage(error: Exception) -> str:
    """What an error in reading says of a file, in words.

    Raises:
        OSError: the error, which says nothing of the file.
    """
    if isinstance(error, OSError) and error.errno in ELSEWHERE:
        raise error
    return f"{type(error).__name__} reading it"


def set_aside(place: Path, why: str) -> None:
    """Take something damaged out of the way under another name, and say so in one line."""
    aside = place.with_name(f"{place.name}{ASIDE}")
    number = 1
    while aside.exists():
        aside = place.with_name(f"{place.name}{ASIDE}{number}")
        number += 1
    with suppress(FileNotFoundError):  # another process met it too
        place.rename(aside)
        words = f"\n{place} is damaged ({why}): set aside as {aside.name}, and made again"
        print(words, file=sys.stderr, flush=True)


def scores(file: Path, columns: Iterable[str]) -> pd.DataFrame | None:
    """A file of scores with these columns; None where there is none, or a damaged one, which is set aside."""
    if not file.exists():
        return None
    try:
        return _scores(file, columns)
    except UNREAD as error:
        set_aside(file, damage(error))
        return None


def _scores(file: Path, columns: Iterable[str]) -> pd.DataFrame:
    """The rows of a file of scores.

    Raises:
        ValueError: columns of other names. Pages have checksums, and their names have none.
    """
    table = pd.read_parquet(file, page_checksum_verification=True)
    if list(table) != list(columns):
        raise ValueError("columns that were not written")
    return table


def survey(root: Path, columns: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Everything in a store, each with what is wrong with it, in words; empty where it is whole.

    Args:
        columns: of a file of scores.
    """
    for place in sorted(root.iterdir()) if root.is_dir() else []:
        if place.name in APART or ASIDE in place.name:
            continue
        if not place.name.startswith("."):
            yield place, fault(place, place.name)
        elif abandoned(place):
            yield place, "a killed run left it"
    for file in sorted((root / "scores").glob("*.parquet")):
        try:
            _scores(file, columns)
            yield file, ""
        except UNREAD as error:
            yield file, damage(error)
    for file in sorted((root / "stacks").iterdir()) if (root / "stacks").is_dir() else []:
        if file.suffix == ".json":
            with suppress(FileNotFoundError):  # its stack is finished meanwhile
                yield file, "" if stacked(file) else "it names no cells"
        elif file.suffix == ".pt":
            yield file, _seal_broken(file)


def _seal_broken(file: Path) -> str:
    try:
        unsealed(file)
    except FileNotFoundError:  # its stack is finished meanwhile
        return ""
    except (OSError, ValueError) as error:
        return damage(error)
    return ""


def seal(file: Path) -> None:
    """Add the sha256 of what a file holds to its end."""
    digest = bytes.fromhex(digest_of(file))
    with file.open("ab") as end:
        end.write(digest)
        end.flush()
        os.fsync(end.fileno())


def unsealed(file: Path) -> bytes:
    """What a file held that `seal` sealed; in memory once, and no more of it in an io.BytesIO of it.

    Raises:
        ValueError: it is not what was written.
    """
    with file.open("rb") as content:
        inner = content.read(max(file.stat().st_size - SEAL, 0))
        digest = content.read()
    if hashlib.sha256(inner).digest() != digest:
        raise ValueError("it is not what was written")
    return inner


def stacked(file: Path) -> list[str]:
    """The fingerprints in the file of an unfinished stack; none where it is garbage."""
    try:
        found = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) and all(isinstance(name, str) for name in found) else []


def _of_record(record: dict[str, Any]) -> str:
    """The sha256 of a record as it will be read, but for its digests."""
    read = json.loads(json.dumps({key: value for key, value in record.items() if key != "files"}))
    return hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()
