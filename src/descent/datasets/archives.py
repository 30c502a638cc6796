"""Unpacking archives: nothing lands outside the folder, nothing is half unpacked without a word."""

import gzip
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tqdm import tqdm

from descent.errors import UserError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # zipfile: a compression it does not know
    RuntimeError,  # zipfile: a password
)


def check_suffix(name: str) -> None:
    """Raises UserError unless the name is that of an archive that `unpack` can read."""
    if not name.lower().endswith(SUFFIXES):
        raise UserError(f"{name}: not a folder, nor an archive of a known kind ({', '.join(SUFFIXES)})")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a .zip, .tar, .tar.gz or .tgz into a folder.

    Raises:
        UserError: unknown suffix, damaged or truncated archive, or a member that points outside the folder.
    """
    check_suffix(archive.name)
    unpack_one = _unpack_zip if archive.name.lower().endswith(".zip") else _unpack_tar
    try:
        unpack_one(archive, folder)
    except tarfile.FilterError as error:
        raise UserError(f"{archive.name} is not safe to unpack: {error}") from None
    except DAMAGE as error:
        raise UserError(f"{archive.name} is damaged or incomplete ({error}); get it again") from None


def _unpack_tar(archive: Path, folder: Path) -> None:
    size = archive.stat().st_size
    bar = {"desc": f"unpacking {archive.name}", "unit": "B", "unit_scale": True}
    with (
        archive.open("rb") as file,
        tqdm.wrapattr(file, "read", total=size, **bar) as counted,
        tarfile.open(fileobj=counted, tarinfo=_Strict) as tar,
    ):
        tar.extractall(folder, filter=_inside)


class _Strict(tarfile.TarInfo):
    """tarfile takes a header that is cut off, broken or not there for the end of the archive; this does not."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # the mark at the end
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from None


def _inside(member: tarfile.TarInfo, folder: str | Path) -> tarfile.TarInfo:
    # The standard filter takes the leading slash off without a word.
    if PurePosixPath(member.name).is_absolute():
        raise tarfile.AbsolutePathError(member)
    return tarfile.data_filter(member, folder)


def _unpack_zip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        for member in tqdm(file.infolist(), desc=f"unpacking {archive.name}", unit="file"):
            path = PurePosixPath(member.filename.replace("\\", "/"))
            link = stat.S_ISLNK(member.external_attr >> 16)
            if path.is_absolute() or ".." in path.parts or link:
                what = "is a link" if link else "points outside the folder"
                raise UserError(f"{archive.name} is not safe to unpack: {member.filename!r} {what}")
            file.extract(member, folder)
