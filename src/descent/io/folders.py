"""Folders and small files that are there whole or not at all, and what is in a folder."""

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from descent.errors import full


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """A full disk is told with the path that was written, by whatever library."""
    try:
        yield
    except Exception as error:
        if full(error):
            raise OSError(errno.ENOSPC, "no room", str(path)) from None
        raise


@contextmanager
def atomic_folder(folder: Path, shared: bool = False) -> Iterator[Path]:
    """A temporary sibling to write into; it takes the place of `folder` when the block ends well.

    When the block raises, the sibling is removed and `folder` stays as it was.

    Args:
        shared: several processes may write the same folder at once; else what a killed one left is removed first.
    """
    own = f"-{uuid.uuid4().hex[:8]}" if shared else ""
    partial = folder.with_name(f".{folder.name}.partial{own}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        with naming(folder):
            yield partial
        if folder.exists():  # a folder cannot be renamed onto one that holds files
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A temporary sibling to write; it takes the place of `path` when the block ends well, and is gone otherwise.

    Its name is its own: of two processes that write the same file the later one wins, and each file is whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with naming(path):
            yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def lasting(folder: Path) -> None:
    """Let the files of a folder reach the disk before it is renamed: a power cut then leaves no empty ones."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all; its folder is made where there is none."""
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def walk(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """A folder and all below it, through links too, with the files of each; hidden folders are left out.

    A link to a folder above it leads round, and is left out.
    """
    for folder, names in _walk(str(root), ()):
        yield Path(folder), names


def _walk(folder: str, above: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    real = os.path.realpath(folder)
    if any(Path(own).is_relative_to(real) for own in above):
        return
    for place, folders, names in os.walk(folder):
        yield place, names
        folders[:] = [name for name in folders if not name.startswith((".", "__MACOSX"))]
        for link in [Path(place) / name for name in folders]:
            if link.is_symlink():
                yield from _walk(str(link), (*above, os.path.realpath(place)))
