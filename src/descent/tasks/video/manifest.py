"""source.json: which media files a raw data set has, and where they lie."""

import json
import os
import stat
from pathlib import Path

from descent.errors import UserError
from descent.io.folders import walk

FRAMES = {".tif", ".tiff", ".jpg", ".jpeg", ".png", ".bmp"}
VIDEOS = {".avi", ".mp4"}
NAME = "source.json"


def media_files(root: Path) -> list[str]:
    """Paths of all frames and videos under a folder, relative to it, sorted; hidden files are left out."""
    found = []
    for folder, names in walk(root):
        for name in names:
            if not name.startswith(".") and Path(name).suffix.lower() in FRAMES | VIDEOS:
                found.append((Path(folder) / name).relative_to(root).as_posix())
    return sorted(found)


def write(folder: Path, root: Path) -> int:
    """Write `folder`/source.json for the media files under `root`; returns how many there are.

    Files inside `folder` are listed as [path, size]. Files elsewhere carry their time of change too, so that
    the manifest, all that DVC sees of them, changes when one of them does.

    Raises:
        UserError: a link that leads nowhere, or a pipe or device, by the name of a frame.
    """
    inside = root == folder
    files = []
    for path in media_files(root):
        status = _status(root / path)
        files.append([path, status.st_size] if inside else [path, status.st_size, status.st_mtime_ns])
    content = {"root": "." if inside else str(root.resolve()), "files": files}
    (folder / NAME).write_text(json.dumps(content, indent=0) + "\n")
    return len(files)


def read(folder: Path) -> tuple[Path, list[str]]:
    """The root of the media files that `folder`/source.json lists, and their paths relative to it.

    Raises:
        UserError: there is no manifest in `folder`, or something else.
    """
    try:
        content = json.loads((folder / NAME).read_text())
        paths = [path for path, _size, *_changed in content["files"]]
        if not all(isinstance(path, str) for path in paths):
            raise ValueError("files are paths")
        return folder / content["root"], paths
    except FileNotFoundError:
        raise UserError(f"{folder / NAME} is missing: run `dvc repro download_video@{folder.name}`") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        again = f"run `dvc repro --force download_video@{folder.name}`"
        raise UserError(f"{folder / NAME} lists no files: {again}") from None


def check_name(path: Path) -> None:
    """Raises UserError where a video's name is not UTF-8, at which OpenCV's reader ends the process."""
    try:
        str(path if path.suffix.lower() in VIDEOS else "").encode()
    except UnicodeEncodeError:
        raise UserError(f"{str(path)!a}: its name is not UTF-8, so no video is read from it: rename it") from None


def _status(path: Path) -> os.stat_result:
    """What the file system says of a media file."""
    check_name(path)
    try:
        status = path.stat()
    except OSError as error:
        raise UserError(f"{path} is a link that leads nowhere ({error.strerror}): take it out") from None
    if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for, a device has no end
        raise UserError(f"{path} is no plain file: take it out")
    return status
