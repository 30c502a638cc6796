"""Where the project and its user's copies of data are."""

import os
from pathlib import Path

from descent.errors import UserError


def project_root() -> Path:
    """The user's project folder, also where `dvc exp run --temp` runs a stage in a folder of its own."""
    return Path(os.environ.get("DVC_ROOT", "."))


def local(local_data: str, path: str) -> Path:
    """Where a `path` of params.yaml points: relative to the folder `local_data`, and that to the project.

    Raises:
        UserError: no file system has such a path.
    """
    try:
        found = project_root() / Path(local_data).expanduser() / Path(path).expanduser()
        found.exists()
    except RuntimeError:  # of ~name
        raise UserError(
            f"{local_data or path}: there is no user {_user(local_data, path)!r}; mend the path"
        ) from None
    except OSError as error:
        raise UserError(f"{path[:100]}: {error.strerror}; mend the path in params.yaml") from None
    return found


def _user(*paths: str) -> str:
    return next((path[1:].partition("/")[0] for path in paths if path.startswith("~")), "")
