"""Unpacking archives: nothing lands outside the folder, nothing is half unpacked without a word."""

import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from descent.errors import UserError, full
from descent.io.progress import Bar

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
READ = 1 << 20
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    lzma.LZMAError,
    RuntimeError,  # zipfile: a password, or a compression it does not know
    UnicodeDecodeError,  # zipfile: a member's name
)


def check_suffix(name: str, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raises UserError unless a file's name ends as one that can be read, by default with `unpack`."""
    if not name.lower().endswith(suffixes):
        raise UserError(f"{name}: not a folder, nor a file of a known kind ({', '.join(suffixes)})")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a .zip, .tar, .tar.gz or .tgz into a folder.

    Raises:
        UserError: unknown suffix, damaged or truncated archive, a member that points outside the folder, or names
            that the file system does not take.
    """
    check_suffix(archive.name)
    unpack_one = _unpack_zip if archive.name.lower().endswith(".zip") else _unpack_tar
    try:
        unpack_one(archive, folder)
    except DAMAGE as error:
        raise UserError(f"{archive.name} is damaged or incomplete ({error}); get it again") from None
    except OSError as error:  # a file and a folder of one name, or a name that is too long
        if full(error) or error.errno is None:
            raise
        member = str(error.filename or "")[-80:]
        raise UserError(f"{archive.name} cannot be unpacked here ({error.strerror}: ...{member})") from None


def _unpack_tar(archive: Path, folder: Path) -> None:
    size = archive.stat().st_size
    bar = {"desc": f"unpacking {archive.name}", "unit": "B", "unit_scale": True}
    with (
        archive.open("rb") as file,
        Bar.wrapattr(file, "read", total=size, **bar) as counted,
        tarfile.open(fileobj=counted, tarinfo=_Strict) as tar,
    ):
        # Python before 3.11.4 has no filters, and needs none after the check; later ones ask for a choice.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in tar:
            _check_inside(archive, member.name, plain=member.isfile() or member.isdir(), is_folder=member.isdir())
            tar.extract(member, folder)
        while tar.fileobj.read(READ):  # a gzip's checksum stands at its end, behind what a tar has use for
            pass


class _Strict(tarfile.TarInfo):
    """tarfile takes a header that is cut off, broken or not there for the end of the archive; this does not."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:
        try:
            found = super().fromtarfile(archive)
            if found.size < 0 or "\0" in found.name:  # the first of which some Pythons read for ever
                raise tarfile.ReadError(f"a header of {found.size} bytes named {found.name!r}")
            return found
        except tarfile.EOFHeaderError:  # the mark at the end
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from None


def _check_inside(archive: Path, member: str, plain: bool, is_folder: bool) -> None:
    path = PurePosixPath(member.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or not plain or not (path.parts or is_folder):
        what = "points outside the folder, or nowhere" if plain else "is a link or a device"
        raise UserError(f"{archive.name} is not safe to unpack: {member!r} {what}")


def _unpack_zip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        for member in Bar(file.infolist(), desc=f"unpacking {archive.name}", unit="file"):
            link = stat.S_ISLNK(member.external_attr >> 16)
            _check_inside(archive, member.filename, plain=not link, is_folder=member.is_dir())
            file.extract(member, folder)
