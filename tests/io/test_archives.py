"""Headers that a tar should not have: refused before anything of them is read."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from descent.errors import UserError
from descent.io.archives import unpack


def tar_of(info: tarfile.TarInfo, form: int) -> bytes:
    return info.tobuf(form) + b"\0" * 10240


def negative() -> bytes:
    """A size of -512: the next header would be this one, for ever."""
    info = tarfile.TarInfo("a.png")
    info.size = -512
    return tar_of(info, tarfile.GNU_FORMAT)


def with_a_nul() -> bytes:
    info = tarfile.TarInfo("a.png")
    info.pax_headers = {"path": "a\0b.png"}
    return tar_of(info, tarfile.PAX_FORMAT)


@pytest.mark.parametrize("made", [negative, with_a_nul])
def test_a_header_that_no_archive_should_have_is_damage(tmp_path: Path, made: object) -> None:
    (tmp_path / "set.tar").write_bytes(made())
    with pytest.raises(UserError, match=r"set\.tar is damaged or incomplete"):
        unpack(tmp_path / "set.tar", tmp_path / "out")


def test_a_whole_one_is_unpacked(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a.txt")
    info.size = 2
    with tarfile.open(tmp_path / "set.tar", "w") as file:
        file.addfile(info, io.BytesIO(b"ok"))
    unpack(tmp_path / "set.tar", tmp_path)
    assert (tmp_path / "a.txt").read_bytes() == b"ok"


def test_a_zip_whose_member_has_a_damaged_name_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as file:
        file.writestr("01é.avi", b"frames")
    whole = (tmp_path / "set.zip").read_bytes()
    (tmp_path / "set.zip").write_bytes(whole.replace("é".encode(), b"\xc3\xff"))
    with pytest.raises(UserError, match=r"set\.zip is damaged or incomplete"):
        unpack(tmp_path / "set.zip", tmp_path / "out")
