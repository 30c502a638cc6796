"""Where the project and its user's copies of data are."""

import os
from pathlib import Path


def project_root() -> Path:
    """The user's project folder, also where `dvc exp run --temp` runs a stage in a folder of its own."""
    return Path(os.environ.get("DVC_ROOT", "."))


def local(local_data: str, path: str) -> Path:
    """Where a `path` of params.yaml points: relative to the folder `local_data`, and that to the project."""
    return project_root() / Path(local_data).expanduser() / Path(path).expanduser()
