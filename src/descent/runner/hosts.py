"""Whether the hosts of a cluster are alike: one project folder, one store, one code, one environment."""

import hashlib
import os
import platform
import uuid
from collections.abc import Mapping
from pathlib import Path

import torch

from descent.errors import UserError
from descent.runner import store
from descent.runner.fingerprint import SOURCE


def identity() -> dict[str, str]:
    """What must be alike on all hosts: the package, and what rounds its numbers."""
    code = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        code.update(path.read_bytes())
    versions = {"Python": platform.python_version(), "torch": torch.__version__}
    return {"the code of src/descent": code.hexdigest()[:12]} | versions


def enter(here: Mapping[str, str], mark: Path) -> None:
    """Work in the driver's folder; on a host that is not as the driver's nothing is trained.

    Raises:
        UserError: this host does not see the driver's folder or store, or has other code or versions.
    """
    host = platform.node()
    if not Path(here["folder"]).is_dir() or not mark.exists():
        raise UserError(
            f"host {host} does not see the store {mark.parent}: put the project on a file system that all hosts "
            "share, at the same path, and run again"
        )
    for name, own in identity().items():
        if own != here[name]:
            raise UserError(
                f"{name} on host {host} is {own}, and {here[name]} on the host that asked: make them alike (one "
                "project folder and one environment on a shared file system are), start Ray anew, and run again"
            )
    os.chdir(here["folder"])


def marked() -> Path:
    """A file in the store, by which a worker sees whether its store is the driver's."""
    mark = store.root().resolve() / f".seen-{uuid.uuid4().hex}"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    return mark
