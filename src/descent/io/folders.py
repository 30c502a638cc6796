"""Folders that are there whole or not at all, and what is in them."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """A temporary sibling to write into; it takes the place of `folder` when the block ends well.

    When the block raises, the sibling is removed and `folder` stays as it was.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        if folder.exists():  # a folder cannot be renamed onto one that holds files
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def content(folder: Path) -> dict[str, str]:
    """The sha256 of the files that a library loads a model from, by name; empty where there is no such folder."""
    loaded = [*folder.glob("config.json"), *folder.glob("*.safetensors*"), *folder.glob("*.bin*")]
    found = {}
    for path in sorted(loaded):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found
