"""source.json: which media files a raw data set has, and where they lie."""

import json
import os
from pathlib import Path

from descent.errors import UserError

FRAMES = {".tif", ".tiff", ".jpg", ".jpeg", ".png", ".bmp"}
VIDEOS = {".avi", ".mp4"}
NAME = "source.json"


def media_files(root: Path) -> list[str]:
    """Paths of all frames and videos under a folder, relative to it, sorted; hidden files are left out."""
    found = []
    for folder, folders, names in os.walk(root, followlinks=True):  # pathlib does not follow linked folders
        folders[:] = [name for name in folders if not name.startswith((".", "__MACOSX"))]
        for name in names:
            if not name.startswith(".") and Path(name).suffix.lower() in FRAMES | VIDEOS:
                found.append((Path(folder) / name).relative_to(root).as_posix())
    return sorted(found)


def write(folder: Path, root: Path) -> int:
    """Write `folder`/source.json for the media files under `root`; returns how many there are.

    Files inside `folder` are listed as [path, size]. Files elsewhere carry their time of change too, so that
    the manifest, all that DVC sees of them, changes when one of them does.
    """
    inside = root == folder
    files = []
    for path in media_files(root):
        status = (root / path).stat()
        files.append([path, status.st_size] if inside else [path, status.st_size, status.st_mtime_ns])
    content = {"root": "." if inside else str(root.resolve()), "files": files}
    (folder / NAME).write_text(json.dumps(content, indent=0) + "\n")
    return len(files)


def read(folder: Path) -> tuple[Path, list[str]]:
    """The root of the media files that `folder`/source.json lists, and their paths relative to it.

    Raises:
        UserError: there is no manifest in `folder`.
    """
    try:
        content = json.loads((folder / NAME).read_text())
    except FileNotFoundError:
        raise UserError(f"{folder / NAME} is missing: run `dvc repro download_video@{folder.name}`") from None
    return folder / content["root"], [path for path, *_ in content["files"]]
