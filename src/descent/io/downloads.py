"""Downloads that resume, and that are what their checksum says."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests
import urllib3

from descent.errors import UserError
from descent.io.folders import digest_of
from descent.io.places import project_root
from descent.io.progress import Bar

ATTEMPTS = 5
WAIT = 2.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = 30.0
BLOCK = 1 << 20
LONGEST = 200  # characters of a file's name
AGAIN = (408, 425, 429)  # of the answers that blame the asker, those that may change


def download(url: str, sha256: str) -> Path:
    """The verified file at an address, kept in .downloads/; goes on where an interrupted download ended.

    Raises:
        UserError: no answer after several attempts, an answer that will not change, or another checksum.
    """
    _check_address(url)
    folder = project_root() / ".downloads"
    target = folder / f"{sha256[:16]}-{file_name(url)}"
    try:
        folder.mkdir(exist_ok=True)
        with _alone(folder):  # of two downloads of one file the second finds it
            if not target.exists():
                partial = target.with_name(target.name + ".part")
                _transfer(url, partial)
                partial.replace(target)
        found = digest_of(target)
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise UserError(f"{error.filename or folder} stands where downloads are kept: remove it") from None
    if found != sha256:
        target.unlink()
        raise UserError(
            f"{file_name(url)} from {url} has the sha256\n  {found}, not\n  {sha256}\n"
            "It has been deleted. Run again; if that does not help, the file has changed: check it and put its "
            "sha256 into params.yaml."
        )
    return target


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Other processes that download wait meanwhile; a killed one holds nobody up."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _check_address(url: str) -> None:
    """Raises UserError for what cannot be the address of a file on a server."""
    try:
        parts = urlsplit(url)
        name = file_name(url)
        host = parts.hostname or " "
        port = parts.port
        words = host.removesuffix(".").split(".")  # of a name on the net, each of at most 63 characters
        known = parts.scheme in ("http", "https") and " " not in host and port != 0
        known = known and all(0 < len(word) < 64 for word in words)
    except ValueError:  # a port or an IPv6 host that is none
        known, name = False, ""
    if not known or name in ("", ".", "..") or len(name) > LONGEST or "/" in name or not name.isprintable():
        raise UserError(
            f"{url[:200]!r} is no address of a file: it should be http(s)://host/.../name, the name of at most "
            f"{LONGEST} characters; mend `url` in params.yaml"
        )


def file_name(url: str) -> str:
    """The last part of an address's path."""
    return unquote(urlsplit(url).path.rsplit("/", 1)[-1])


def _transfer(url: str, partial: Path) -> None:
    """Bring `partial` to the full length of the file, in several attempts."""
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            wait = WAIT * 2 ** (attempt - 1)
            print(f"{url}: {reason}; trying again in {wait:.0f} s", file=sys.stderr)
            time.sleep(wait)
        try:
            if _receive(url, partial):
                return
            reason = "the connection ended early"
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            # ValueError: a length that is no number
            reason = type(error).__name__
    kept = partial.stat().st_size if partial.exists() else 0
    raise UserError(
        f"cannot download {url} ({reason}, {ATTEMPTS} attempts; {kept:,} bytes are kept). "
        "Run again to go on from there, or get the file another way and name it with `path` in place of "
        "`url` and `sha256` in params.yaml."
    )


def _receive(url: str, partial: Path) -> bool:
    """Append what the server still has; whether the file is now whole."""
    have = partial.stat().st_size if partial.exists() else 0
    # identity and the raw stream: old servers label a .tar.gz as an encoding, and requests would unzip it.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            if response.headers.get("Content-Range") == f"bytes */{have}":
                return True  # an earlier run was cut off between the last byte and the check
            partial.unlink()
            return False
        if 400 <= response.status_code < 500 and response.status_code not in AGAIN:
            raise UserError(
                f"{url} answers {response.status_code} {response.reason}. Get the file another way and name it "
                "with `path` in place of `url` and `sha256` in params.yaml."
            )
        response.raise_for_status()
        resumed = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        if total is not None and total < have:
            raise ValueError("a length below zero")
        bar = Bar(desc=file_name(url), initial=have, total=total, unit="B", unit_scale=True)
        with partial.open("ab" if resumed else "wb") as file, bar:
            for block in response.raw.stream(BLOCK, decode_content=False):
                file.write(block)
                bar.update(len(block))
    return total is None or partial.stat().st_size == total
