"""Archives that are damaged, unsafe, or hold what no file system takes."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from descent.io import archives
from descent.tasks.video import manifest
from tests.fakes.archives import ARCHIVES, MEMBERS, tarred, zipped
from tests.faults.case import Case

DAMAGED, UNSAFE = "is damaged or incomplete", "is not safe to unpack"
ZIP, TAR, TGZ = (ARCHIVES[suffix] for suffix in (".zip", ".tar", ".tar.gz"))
LONG = "n" * 300
FRAME = "train/a/1.png"


def flipped(content: bytes, place: int) -> bytes:
    """The bytes with one other bit."""
    other = bytearray(content)
    other[place] ^= 1
    return bytes(other)


def special(kind: bytes) -> bytes:
    """A tar with a member that is no file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        info = tarfile.TarInfo("set/it")
        info.type, info.linkname = kind, "/etc/passwd"
        file.addfile(info)
    return buffer.getvalue()


def beginning_with_a_dot() -> bytes:
    """What `tar -c .` makes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        info = tarfile.TarInfo("./")
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        file.addfile(info)
        file.addfile(tarfile.TarInfo(f"./{FRAME}"))
    return buffer.getvalue()


def encrypted() -> bytes:
    """A zip whose members say that they are encrypted."""
    content = bytearray(zipped({"a/train/1.png": b"x"}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def swollen() -> bytes:
    """Little that unpacks to more than the limit of a case's files."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file,
        file.open(FRAME, "w", force_zip64=True) as member,
    ):
        for _ in range(300):
            member.write(bytes(1 << 20))
    return buffer.getvalue()


def unpacked(name: str, content: bytes | Callable[[], bytes]) -> Callable[[], object]:
    """Unpack an archive; nothing may land outside the folder."""

    def act() -> None:
        Path("in").mkdir()
        Path("in", name).write_bytes(content if isinstance(content, bytes) else content())
        folder = Path("deep/out")
        folder.mkdir(parents=True)
        try:
            archives.unpack(Path("in", name), folder)
        finally:
            outside = [path for path in Path().iterdir() if path.name not in ("in", "deep")]
            assert not outside and [path.name for path in Path("deep").iterdir()] == ["out"], (
                "something landed outside"
            )

    return act


REFUSED: list[tuple[str, str, bytes | Callable[[], bytes], str]] = [
    *(
        (f"{what} {suffix}", f"a{suffix}", content, DAMAGED)
        for suffix, whole in ARCHIVES.items()
        for what, content in {
            "an empty": b"",
            "a garbage": b"garbage" * 99,
            "a half": whole[: len(whole) // 2],
            "a tenth of a": whole[: len(whole) // 10],
        }.items()
    ),
    ("a .tgz 0.1 % short", "a.tgz", TGZ[: -max(1, len(TGZ) // 1000)], DAMAGED),
    ("a .tgz without its last 8 bytes", "a.tgz", TGZ[:-8], DAMAGED),
    ("a .tgz with another CRC", "a.tgz", flipped(TGZ, -8), DAMAGED),
    ("a .tgz with another length", "a.tgz", flipped(TGZ, -1), DAMAGED),
    ("a .tgz with a flipped bit in the middle", "a.tgz", flipped(TGZ, len(TGZ) // 2), DAMAGED),
    ("a .tgz with a flipped bit in its last member", "a.tgz", flipped(TGZ, -200), DAMAGED),
    ("a .tar with a flipped bit in a header", "a.tar", flipped(TAR, 3), DAMAGED),
    ("a .zip with a flipped bit in a member", "a.zip", flipped(ZIP, 300), DAMAGED),
    ("a .zip with a flipped bit in its directory", "a.zip", flipped(ZIP, ZIP.index(b"PK\x01\x02") + 1), DAMAGED),
    ("a .zip that is a .tar", "a.zip", TAR, DAMAGED),
    ("a .tar that is a .zip", "a.tar", ZIP, DAMAGED),
    ("a .tar.gz that is a gzip of a text", "a.tar.gz", gzip.compress(b"text " * 500), DAMAGED),
    ("a .zip with a password", "a.zip", encrypted, DAMAGED),
    *(
        (f"a member {what} in a {suffix}", f"a{suffix}", pack({member: b"x"}), UNSAFE)
        for suffix, pack in ((".zip", zipped), (".tar", tarred))
        for what, member in {
            "above the folder": "../x/1.png",
            "at the root": "/x/1.png",
            "above, half way": "a/../../x/1.png",
            "above, in the words of Windows": "..\\x\\1.png",
        }.items()
    ),
    ("a link in a .zip", "a.zip", zipped({}, link="/etc/passwd"), UNSAFE),
    ("a link in a .tar", "a.tar", tarred({}, link="/etc/passwd", mode="w"), UNSAFE),
    ("a hard link in a .tar", "a.tar", special(tarfile.LNKTYPE), UNSAFE),
    ("a device in a .tar", "a.tar", special(tarfile.CHRTYPE), UNSAFE),
    ("a pipe in a .tar", "a.tar", special(tarfile.FIFOTYPE), UNSAFE),
    *(
        (f"{what} in a {suffix}", f"a{suffix}", pack(members), "cannot be unpacked here")
        for suffix, pack in ((".zip", zipped), (".tar", tarred))
        for what, members in {
            "a file and files below it": {"a": b"x", "a/b": b"y"},
            "a file and a file below it, the other way round": {"a/b": b"y", "a": b"x"},
            "a name of 300 characters": {f"{LONG}.png": b"x"},
            "a folder of 300 characters": {f"{LONG}/1.png": b"x"},
        }.items()
    ),
    ("a .zip whose member is named with a dot alone", "a.zip", zipped({".": b"x"}), UNSAFE),
    ("a .tar whose file is named with a dot alone", "a.tar", tarred({".": b"x"}), UNSAFE),
    ("a kind that nobody reads", "a.rar", b"Rar!", "nor a file of a known kind"),
    ("a file without an ending", "a", b"x", "nor a file of a known kind"),
]


def whole(name: str, content: bytes, count: int) -> Callable[[], object]:
    """Unpack an archive that is strange and right."""

    def act() -> None:
        unpacked(name, content)()
        found = len(manifest.media_files(Path("deep/out")))
        assert found == count, f"{found} files"

    return act


HANDLED: list[tuple[str, str, bytes, int]] = [
    ("a .ZIP in capitals", "A.ZIP", ZIP, len(MEMBERS)),
    ("a .tar with a member twice", "a.tar", tarred({"./train/1.png": b"x", "train/1.png": b"y"}, mode="w"), 1),
    ("a .tar with ./ before its names", "a.tar", tarred({f"./{FRAME}": b"x"}, mode="w"), 1),
    ("a .tar of the folder itself", "a.tar", beginning_with_a_dot(), 1),
    ("a .tgz of two gzip members", "a.tgz", gzip.compress(TAR[:5120]) + gzip.compress(TAR[5120:]), len(MEMBERS)),
    ("a .zip with something before it", "a.zip", b"#!/bin/sh\n" + ZIP, len(MEMBERS)),
    ("a .zip with names of other scripts", "a.zip", zipped({"train/ä/фильм.png": b"x"}), 1),
    ("a .zip of nothing", "a.zip", zipped({}), 0),
]
CASES = [
    *(Case("archive", name, unpacked(file, content), told) for name, file, content, told in REFUSED),
    *(Case("archive", name, whole(file, content, count)) for name, file, content, count in HANDLED),
    Case(
        "archive",
        "little that unpacks to more than a file may hold",
        unpacked("a.zip", swollen),
        "the disk is full",
        alone=True,
    ),
]
