"""The files of a folder that a library loads a model from: all of them in the folder, and all of them known."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from descent.errors import UserError
from descent.io.folders import digest_of

ADAPTERS = "adapter_config.json"


def content(folder: Path) -> dict[str, str]:
    """The sha256 of the files that a library loads a model from, by name; empty where there is no such folder.

    Raises:
        UserError: a file of the folder has the library load from elsewhere.
    """
    _check_inside(folder)
    loaded = [*folder.glob("config.json"), *folder.glob("*.safetensors*"), *folder.glob("*.bin*")]
    return {path.name: _digest(path, *_state(path)) for path in sorted(path for path in loaded if path.is_file())}


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@cache
def _digest(path: Path, *state: int) -> str:
    """Of a file in this state: every cell of a model asks for it, and it may be of gigabytes."""
    return digest_of(path)


def _check_inside(folder: Path) -> None:
    if (folder / ADAPTERS).exists():
        raise UserError(f"{folder / ADAPTERS} has another model loaded: put the whole model's files there")
    config = _values(folder / "config.json")
    for key, value in config.items():
        if key.endswith("heads") and isinstance(value, int) and value < 1:  # below zero the library takes it
            raise UserError(f"{folder / 'config.json'} cannot be loaded: {key} is {value}")
    named = []
    for index in sorted(folder.glob("*.safetensors.index.json")):
        files = _values(index).get("weight_map")
        if not isinstance(files, dict) or not files:
            raise UserError(f"{index} is no index of weights: get it again")
        named += [(index, name) for name in files.values()]
    if (own := config.get("transformers_weights")) is not None:
        named.append((folder / "config.json", own))
    for path, name in named:
        if not isinstance(name, str) or name != Path(name).name:
            raise UserError(f"{path} names a file outside its folder ({name!r}): its files belong beside it")
        if not name.endswith(".safetensors"):  # the library would unpickle it
            raise UserError(f"{path} names {name}, and weights are read from .safetensors alone: save them so")


def _values(path: Path) -> dict[str, Any]:
    """Those of a JSON file; none where it holds something else, which the library tells."""
    try:
        found = json.loads(path.read_text()) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
