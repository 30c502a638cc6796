"""What the file of a data set says of where it comes from: its tree, its official address, its generator."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

from descent.errors import UserError
from descent.io import archives, places


def name(dataset: ModuleType) -> str:
    """The name of a data set: that of its file."""
    return dataset.__name__.rpartition(".")[2]


def local(
    dataset: ModuleType,
    path: str,
    local_data: str,
    suffixes: tuple[str, ...] = archives.SUFFIXES,
    otherwise: str = "",
) -> Path:
    """The folder or file that a `path` source names.

    Args:
        local_data: what a relative path is relative to.
        suffixes: of the files that can be read in place of a folder.
        otherwise: what a copy may hold in place of the data set's official tree.

    Raises:
        UserError: there is none, or a file of another kind.
    """
    found = places.local(local_data, path)
    if found.is_file():
        archives.check_suffix(found.name, suffixes)
    elif not found.is_dir():
        raise UserError(
            f"{name(dataset)}: there is no folder or file {found}.\n"
            f"Put a copy of the data set there, holding {dataset.TREE}{otherwise}\n"
            f"(a folder, or one file of {', '.join(suffixes)}), or say where your copies are: "
            f"`dvc exp run -S local_data=<folder>`.\n"
            f"Official source: {dataset.ADDRESS}"
        )
    return found


def part(folder: Path, beginnings: tuple[str, ...], suffixes: tuple[str, ...]) -> list[Path]:
    """The files of one part in the first format that is there: that which is named as it, else all shards.

    Raises:
        UserError: several that begin so and are no shards of one, as their names differ in more than numbers.
    """
    for beginning in beginnings:
        for suffix in suffixes:
            if (whole := folder / f"{beginning}{suffix}").is_file():
                return [whole]
        for suffix in suffixes:  # a pipe would have its reader wait for ever
            if files := sorted(path for path in folder.glob(f"{beginning}*{suffix}") if path.is_file()):
                if len({re.sub(r"\d+", "0", path.name) for path in files}) > 1:
                    names = ", ".join(path.name for path in files)
                    raise UserError(
                        f"{folder}: which of {names} is meant? Leave one there, or call it {beginning}{suffix}"
                    )
                return files
    return []


def generator(dataset: ModuleType, *words: str) -> tuple[Any, ...]:
    """What a data set's file has to make data up with, by these names.

    Raises:
        UserError: it lacks some; a data set need not be one that can be generated.
    """
    missing = [word for word in words if not hasattr(dataset, word)]
    if missing:
        raise UserError(
            f"{name(dataset)} cannot be generated, as {dataset.__file__} has no {' and no '.join(missing)}: "
            f"name a source in place of `generate` under profiles.<profile>.data.{name(dataset)} in params.yaml"
        )
    return tuple(getattr(dataset, word) for word in words)


def without_hub(dataset: ModuleType) -> str:
    """What a user can do when the hub does not answer."""
    return (
        "Run again with a connection, or put a copy into a folder under local_data and name it with `path` in "
        f"place of `hub` under profiles.<profile>.data.{name(dataset)} in params.yaml; "
        f"it should hold {dataset.TREE}\n"
        f"Official source: {dataset.ADDRESS}"
    )
