"""Small archives of made-up frames, and how to look at what came of them."""

import io
import stat
import tarfile
import zipfile
from pathlib import Path
from random import Random

from descent.tasks.video import manifest

MEMBERS = {f"set/train/a/{number:03d}.png": Random(number).randbytes(997) for number in range(1, 12)}


def zipped(members: dict[str, bytes], link: str | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
        if link is not None:
            info = zipfile.ZipInfo("set/link")
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            file.writestr(info, link)
    return buffer.getvalue()


def tarred(members: dict[str, bytes], link: str | None = None, mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
        if link is not None:
            info = tarfile.TarInfo("set/link")
            info.type, info.linkname = tarfile.SYMTYPE, link
            file.addfile(info)
    return buffer.getvalue()


ARCHIVES = {
    ".zip": zipped(MEMBERS),
    ".tar": tarred(MEMBERS, mode="w"),
    ".tar.gz": tarred(MEMBERS),
    ".tgz": tarred(MEMBERS),
}


def media(folder: Path) -> dict[str, bytes]:
    root, paths = manifest.read(folder)
    return {path: (root / path).read_bytes() for path in paths}


def nothing_half_written() -> bool:
    return not Path("out").exists() and not list(Path().glob(".out*"))
