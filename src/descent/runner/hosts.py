"""Whether the hosts of a cluster are alike: one project folder, one store, one code, one environment."""

import hashlib
import os
import platform
import uuid
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import torch

from descent.errors import UserError
from descent.runner import store
from descent.runner.fingerprint import SOURCE

LIBRARIES = ("transformers", "peft", "numpy")  # beside torch, what computes in a cell


def identity() -> dict[str, str]:
    """What must be alike on all hosts: the package, and what rounds its numbers."""
    code = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        code.update(path.read_bytes())
    versions = {"Python": platform.python_version(), "torch": torch.__version__}
    versions |= {name: version(name) for name in LIBRARIES}
    return {"the code of src/descent": code.hexdigest()[:12]} | versions


def enter(here: Mapping[str, str], marks: Sequence[Path]) -> None:
    """Work in the driver's folder; on a host that is not as the driver's nothing is trained.

    Raises:
        UserError: this host does not see the driver's data or store, or has other code or versions.
    """
    host = platform.node()
    for mark in marks:
        if not mark.exists():
            raise UserError(
                f"host {host} does not see {mark.parent} as the host that asked does: put the project and its "
                "store on a file system that all hosts share, at the same path, and run again"
            )
    for name, own in identity().items():
        if own != here[name]:
            raise UserError(
                f"{name} on host {host} is {own}, and {here[name]} on the host that asked: make them alike (one "
                "project folder and one environment on a shared file system are), start Ray anew, and run again"
            )
    os.chdir(here["folder"])


def marked() -> list[Path]:
    """A file in the store and one beside the data, by which a worker sees whether it has both.

    Either may be a link to what is shared, in a folder that is not.
    """
    places = (store.root().resolve(), Path("data").resolve())
    marks = [place / f".seen-{uuid.uuid4().hex}" for place in places]
    for mark in marks:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return marks
