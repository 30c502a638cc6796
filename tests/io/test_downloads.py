"""Downloads are verified, resumed and told about; checked against a server in this process."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from descent.errors import UserError
from descent.io import downloads
from descent.tasks.video.raw import fetch
from descent.tasks.video.schema import Source
from tests.fakes.archives import ARCHIVES, MEMBERS, media, nothing_half_written


class Server(ThreadingHTTPServer):
    """Serves `content` at every address, the first `cuts` answers only up to `cut_at` bytes of the file."""

    content = ARCHIVES[".tar.gz"]
    cuts, cut_at = 0, 0
    ranges = True
    status = 200

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/files/data.tar.gz"

    def source(self, sha256: str | None = None) -> Source:
        return Source(url=self.url, sha256=sha256 or hashlib.sha256(self.content).hexdigest())


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers["Range"]
        server.asked.append(wanted)
        whole = len(server.content)
        first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
        status = server.status if server.status != 200 else 206 if first else 200
        if first >= whole:
            status = 416
        self.send_response(status)
        self.send_header("Content-Encoding", "x-gzip")  # as some servers say of a .tar.gz: it must stay as it is
        if status == 416:
            self.send_header("Content-Range", f"bytes */{whole}")
        elif status == 206:
            self.send_header("Content-Range", f"bytes {first}-{whole - 1}/{whole}")
        body = server.content[first:] if status in (200, 206) else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if server.cuts > 0:
            server.cuts -= 1
            body = body[: max(0, server.cut_at - first)]
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setattr(downloads, "WAIT", 0.0)
    return tmp_path


def test_a_download_is_verified_and_unpacked(server: Server) -> None:
    fetch("avenue", server.source(), "local", Path("out"))
    assert media(Path("out")) == MEMBERS
    assert server.asked == [None]
    fetch("avenue", server.source(), "local", Path("out"))
    assert server.asked == [None]  # the second time the kept archive does


def test_an_interrupted_download_keeps_its_part_and_goes_on(server: Server) -> None:
    server.cuts, server.cut_at = downloads.ATTEMPTS, 123
    with pytest.raises(UserError, match=r"123 bytes are kept.*Run again"):
        fetch("avenue", server.source(), "local", Path("out"))
    assert nothing_half_written()
    [part] = Path(".downloads").iterdir()
    assert part.read_bytes() == server.content[:123]
    fetch("avenue", server.source(), "local", Path("out"))
    assert server.asked[-1] == "bytes=123-"
    assert media(Path("out")) == MEMBERS


def test_a_lost_connection_is_tried_again(server: Server) -> None:
    server.cuts, server.cut_at = 2, 50
    fetch("avenue", server.source(), "local", Path("out"))
    assert server.asked == [None, "bytes=50-", "bytes=50-"]
    assert media(Path("out")) == MEMBERS


def test_a_server_without_ranges_starts_again(server: Server) -> None:
    server.cuts, server.cut_at, server.ranges = 1, 50, False
    fetch("avenue", server.source(), "local", Path("out"))
    assert media(Path("out")) == MEMBERS


@pytest.mark.parametrize("extra", [0, 5])
def test_a_part_that_is_complete_or_too_long_is_no_trap(extra: int, server: Server) -> None:
    server.cuts, server.cut_at = downloads.ATTEMPTS, 50
    with pytest.raises(UserError):
        fetch("avenue", server.source(), "local", Path("out"))
    [part] = Path(".downloads").iterdir()
    part.write_bytes(server.content + b"x" * extra)
    fetch("avenue", server.source(), "local", Path("out"))
    assert media(Path("out")) == MEMBERS


def test_another_checksum_names_both_and_deletes_the_file(server: Server) -> None:
    with pytest.raises(UserError) as told:
        fetch("avenue", server.source(sha256="0" * 64), "local", Path("out"))
    assert hashlib.sha256(server.content).hexdigest() in str(told.value) and "0" * 64 in str(told.value)
    assert "Run again" in str(told.value) and "params.yaml" in str(told.value)
    assert list(Path(".downloads").iterdir()) == []
    assert nothing_half_written()


def test_an_address_that_is_gone_is_asked_once(server: Server) -> None:
    server.status = 404
    with pytest.raises(UserError, match=r"answers 404.*`path`"):
        fetch("avenue", server.source(), "local", Path("out"))
    assert len(server.asked) == 1


def test_without_a_network_the_local_way_is_told(server: Server) -> None:
    source = server.source()
    server.server_close()  # nobody listens at this port any more
    with pytest.raises(UserError, match=r"cannot download.*`path`"):
        fetch("avenue", source, "local", Path("out"))
    assert nothing_half_written()


def test_a_kind_of_archive_we_cannot_read_is_not_downloaded(server: Server) -> None:
    source = Source(url=server.url.replace(".tar.gz", ".rar"), sha256="0" * 64)
    with pytest.raises(UserError, match=r"data\.rar.*\.zip"):
        fetch("avenue", source, "local", Path("out"))
    assert server.asked == []
