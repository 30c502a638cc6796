"""Folders and small files that are there whole or not at all, and what is in a folder."""

import errno
import fcntl
import hashlib
import os
import platform
import re
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from descent.errors import full

PARTIAL = ".partial-"  # in the name of what is being written
HOUR = 3600  # seconds
# Of this host: between hosts that share a file system a lock may not be seen, so none sweeps what another left.
HERE = hashlib.sha256(platform.node().encode()).hexdigest()[:6]
EARLY = re.compile(rf"\.{HERE}([0-9a-f]{{8}})[0-9a-f]{{8}}$")  # the end of the name before PARTIAL is in it


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
def atomic_folder(folder: Path) -> Iterator[Path]:
    """A temporary sibling to write into; it takes the place of `folder` when the block ends well.

    When the block raises, the sibling is removed and `folder` stays as it was. Of two processes that write the
    same folder (a DVC that was killed leaves its stage running) the later one wins, and each folder is whole.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(folder.lstat().st_mode):  # asked once: another may replace the folder meanwhile
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    with _partial(folder, Path.mkdir) as partial:
        try:
            with naming(folder):
                yield partial
            _replace(folder, partial)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A temporary sibling to write; it takes the place of `path` when the block ends well, and is gone otherwise.

    Its name is its own: of two processes that write the same file the later one wins, and each file is whole.
    """
    with _partial(path, Path.touch) as partial:
        try:
            with naming(path):
                yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def _replace(folder: Path, partial: Path) -> None:
    """Rename onto a folder that holds files, which the system refuses, and that others may replace meanwhile."""
    while True:
        old = folder.with_name(f".{folder.name}{PARTIAL}{HERE}{uuid.uuid4().hex[:8]}")
        with suppress(FileNotFoundError):
            folder.rename(old)
        try:
            partial.rename(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                with suppress(OSError):  # nothing took its place: what was there comes back
                    old.rename(folder)
                raise
            shutil.rmtree(old, ignore_errors=True)  # another's newer folder stands there
        else:
            shutil.rmtree(old, ignore_errors=True)
            return


@contextmanager
def _partial(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A new sibling, locked as long as its process lives: by that `abandoned` knows what a killed one left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent.resolve())
    own = f"{HERE}{os.getpid():08x}{uuid.uuid4().hex[:8]}"
    early = path.with_name(f".{path.name}.{own}")
    partial = path.with_name(f".{path.name}{PARTIAL}{own}")
    make(early)
    handle = os.open(early, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks: from it nothing is ever swept
            fcntl.flock(handle, fcntl.LOCK_EX)
        early.rename(partial)  # under the name that others look for it is locked from the first
        yield partial
    finally:
        os.close(handle)


@cache  # once a process and folder: a store may hold many thousand files
def _sweep(folder: Path) -> None:
    """Remove what killed processes left of files and folders in a folder."""
    early = (path for path in folder.glob(f".*.{HERE}*") if EARLY.search(path.name))
    for left in (*folder.glob(f".*{PARTIAL}*"), *early):
        if abandoned(left):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


def abandoned(partial: Path) -> bool:
    """Whether nobody writes a partial file or folder any more; of another host's that is not known."""
    if early := EARLY.search(partial.name):  # between its first name and its lock lies a moment, and no lock tells
        with suppress(FileNotFoundError):  # a later process may have the writer's number
            return not _lives(int(early[1], 16)) or time.time() - partial.stat().st_mtime > HOUR
    if f"{PARTIAL}{HERE}" not in partial.name:
        return False
    try:
        handle = os.open(partial, os.O_RDONLY)
    except OSError:  # whole meanwhile, or removed by another
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _lives(process: int) -> bool:
    """Whether this host has a process of that number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def lasting(place: Path) -> None:
    """Let a file, or those of a folder, reach the disk before a rename: a power cut then leaves none empty."""
    for path in place.iterdir() if place.is_dir() else [place]:
        with path.open("rb") as file:
            os.fsync(file.fileno())


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all; its folder is made where there is none."""
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
        lasting(partial)


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


def digest_of(path: Path) -> str:
    """The digest of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
