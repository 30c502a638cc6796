"""Servers that fail, addresses that are none, and what may stand in the way of a download."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

from descent import inventory
from descent.errors import UserError
from descent.io import downloads
from descent.io.downloads import download
from tests.faults.case import Case

CONTENT = b"content " * 500
SHA = hashlib.sha256(CONTENT).hexdigest()
FOLDER = Path(".downloads")
NAMED = FOLDER / f"{SHA[:16]}-a.zip"


class Server(ThreadingHTTPServer):
    """Answers with these statuses, one after another and then for ever with the last one."""

    daemon_threads = True

    def __init__(self, statuses: list[int], headers: dict[str, str], body: bytes) -> None:
        self.statuses, self.headers, self.body, self.asked = statuses, headers, body, 0
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        status = server.statuses[min(server.asked, len(server.statuses) - 1)]
        server.asked += 1
        body = server.body if status == 200 else b""
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | server.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serving(statuses: list[int], headers: dict[str, str] | None = None, body: bytes = CONTENT) -> Iterator[Server]:
    """A server of this process, and no waiting between attempts."""
    with Server(statuses, headers or {}, body) as server, patch.object(downloads, "WAIT", 0.0):
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_port}/files/a.zip"


def answered(
    statuses: list[int], headers: dict[str, str] | None = None, body: bytes = CONTENT, asked: int | None = None
) -> Callable[[], object]:
    """Download from such a server; it is asked so many times."""

    def act() -> None:
        with serving(statuses, headers, body) as server:
            try:
                assert download(address(server), SHA).read_bytes() == CONTENT
            finally:
                assert asked in (None, server.asked), f"asked {server.asked} times"

    return act


def with_place(make: Callable[[], object]) -> Callable[[], object]:
    """Download where something stands in the way."""

    def act() -> None:
        make()
        answered([200])()

    return act


def part(content: bytes) -> None:
    FOLDER.mkdir()
    NAMED.with_name(f"{NAMED.name}.part").write_bytes(content)


def asked(url: str) -> None:
    """As a stage begins: its server is asked for its length."""
    with patch.object(inventory, "PATIENCE", 1):
        assert url in inventory._fetched(inventory.Need("it", url=url), sized=True)


def unheard() -> None:
    with patch.object(downloads, "WAIT", 0.0):
        download("http://127.0.0.1:1/a.zip", SHA)


def two_at_once() -> None:
    """Two processes ask for one file: threads here, each with its own open file."""
    body = CONTENT * 2000
    sha = hashlib.sha256(body).hexdigest()
    with serving([200], body=body) as server, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: download(address(server), sha).read_bytes(), range(4)))
    assert all(own == body for own in found), "mixed files"


def again_after_another_file() -> None:
    try:
        answered([200], body=b"another file")()
    except UserError:
        answered([200])()


NO_URL, GIVEN_UP, FINAL = "is no address of a file", "cannot download", "answers"
REFUSED: list[tuple[str, Callable[[], object], str]] = [
    *((f"status {code}", answered([code], asked=1), FINAL) for code in (400, 401, 403, 404, 405, 410, 451)),
    *((f"status {code}", answered([code], asked=5), GIVEN_UP) for code in (408, 425, 429, 500, 502, 503, 504)),
    ("a length that is no number", answered([200], {"Content-Length": "many"}), GIVEN_UP),
    ("a length below zero", answered([200], {"Content-Length": "-5"}), GIVEN_UP),
    ("a longer length than content", answered([200], {"Content-Length": "99999"}), GIVEN_UP),
    ("another file than the checksum says", answered([200], body=b"another"), "has the sha256"),
    ("nothing at all", answered([200], body=b""), "has the sha256"),
    ("an answer that points to itself", answered([302], {"Location": "/files/a.zip"}), GIVEN_UP),
    ("an answer that points nowhere", answered([302], {"Location": "http://127.0.0.1:1/"}), GIVEN_UP),
    (
        "an answer that points to a file of this machine",
        answered([302], {"Location": "file:///etc/passwd"}),
        GIVEN_UP,
    ),
    ("a port that nobody listens at", unheard, GIVEN_UP),
    *(
        (name, lambda url=url: (asked(url), download(url, SHA)), NO_URL)
        for name, url in {
            "ftp": "ftp://127.0.0.1/a.zip",
            "a file of this machine": "file:///etc/passwd",
            "no scheme": "example.org/a.zip",
            "no host": "http:///a.zip",
            "a word": "avenue",
            "a bad IPv6 host": "http://[::1/a.zip",
            "a port that is no number": "http://127.0.0.1:port/a.zip",
            "a port beyond all": "http://127.0.0.1:99999/a.zip",
            "NUL in its name": "http://127.0.0.1:1/a%00.zip",
            "300 characters in its name": f"http://127.0.0.1:1/{'n' * 300}.zip",
            "no name": "http://127.0.0.1:1/",
            "a name of two dots": "http://127.0.0.1:1/..",
            "a slash within its name": "http://127.0.0.1:1/a%2F..%2Fb.zip",
            "a blank within its host": "http://a b/c.zip",
            "a word of 70 letters in its host": f"http://{'n' * 70}.org/a.zip",
            "two dots in its host": "http://a..b/c.zip",
        }.items()
    ),
    (".downloads a file", with_place(lambda: FOLDER.write_text("")), r"\.downloads"),
    (".downloads a dangling link", with_place(lambda: FOLDER.symlink_to("nowhere")), r"\.downloads"),
    ("the file's place a folder", with_place(lambda: NAMED.mkdir(parents=True)), r"\.downloads"),
    (
        "a folder for what was received",
        with_place(lambda: NAMED.with_name(f"{NAMED.name}.part").mkdir(parents=True)),
        r"\.downloads",
    ),
]
HANDLED: list[tuple[str, Callable[[], object]]] = [
    *((f"status {code} once", answered([code, 200], asked=2)) for code in (408, 429, 500, 503)),
    ("429 with a wait that is none", answered([429, 200], {"Retry-After": "soon"}, asked=2)),
    ("a part of an earlier run", with_place(lambda: part(CONTENT[:100]))),
    ("two downloads of one file at once", two_at_once),
    ("the right file after another one", again_after_another_file),
]
CASES = [
    *(Case("download", name, act, told, left=True) for name, act, told in REFUSED),
    *(Case("download", name, act) for name, act in HANDLED),
]
