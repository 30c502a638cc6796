"""A raw data set is there whole or not at all, from wherever it comes, and a user is told what to do."""

import hashlib
import io
import json
import stat
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest

from descent import params
from descent.datasets import downloads, manifest
from descent.datasets.sources import fetch
from descent.errors import UserError
from descent.schema_video import Generate, Source

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


def media(folder: Path) -> dict[str, bytes]:
    root, paths = manifest.read(folder)
    return {path: (root / path).read_bytes() for path in paths}


def nothing_half_written() -> bool:
    return not Path("out").exists() and not list(Path().glob(".out*"))


def test_a_download_is_verified_and_unpacked(server: Server) -> None:
    fetch("fake", server.source(), "local", Path("out"))
    assert media(Path("out")) == MEMBERS
    assert server.asked == [None]
    fetch("fake", server.source(), "local", Path("out"))
    assert server.asked == [None]  # the second time the kept archive does


def test_an_interrupted_download_keeps_its_part_and_goes_on(server: Server) -> None:
    server.cuts, server.cut_at = downloads.ATTEMPTS, 123
    with pytest.raises(UserError, match=r"123 bytes are kept.*Run again"):
        fetch("fake", server.source(), "local", Path("out"))
    assert nothing_half_written()
    [part] = Path(".downloads").iterdir()
    assert part.read_bytes() == server.content[:123]
    fetch("fake", server.source(), "local", Path("out"))
    assert server.asked[-1] == "bytes=123-"
    assert media(Path("out")) == MEMBERS


def test_a_lost_connection_is_tried_again(server: Server) -> None:
    server.cuts, server.cut_at = 2, 50
    fetch("fake", server.source(), "local", Path("out"))
    assert server.asked == [None, "bytes=50-", "bytes=50-"]
    assert media(Path("out")) == MEMBERS


def test_a_server_without_ranges_starts_again(server: Server) -> None:
    server.cuts, server.cut_at, server.ranges = 1, 50, False
    fetch("fake", server.source(), "local", Path("out"))
    assert media(Path("out")) == MEMBERS


@pytest.mark.parametrize("extra", [0, 5])
def test_a_part_that_is_complete_or_too_long_is_no_trap(extra: int, server: Server) -> None:
    server.cuts, server.cut_at = downloads.ATTEMPTS, 50
    with pytest.raises(UserError):
        fetch("fake", server.source(), "local", Path("out"))
    [part] = Path(".downloads").iterdir()
    part.write_bytes(server.content + b"x" * extra)
    fetch("fake", server.source(), "local", Path("out"))
    assert media(Path("out")) == MEMBERS


def test_another_checksum_names_both_and_deletes_the_file(server: Server) -> None:
    with pytest.raises(UserError) as told:
        fetch("fake", server.source(sha256="0" * 64), "local", Path("out"))
    assert hashlib.sha256(server.content).hexdigest() in str(told.value) and "0" * 64 in str(told.value)
    assert "Run again" in str(told.value) and "params.yaml" in str(told.value)
    assert list(Path(".downloads").iterdir()) == []
    assert nothing_half_written()


def test_an_address_that_is_gone_is_asked_once(server: Server) -> None:
    server.status = 404
    with pytest.raises(UserError, match=r"answers 404.*`path`"):
        fetch("fake", server.source(), "local", Path("out"))
    assert len(server.asked) == 1


def test_without_a_network_the_local_way_is_told(server: Server) -> None:
    source = server.source()
    server.server_close()  # nobody listens at this port any more
    with pytest.raises(UserError, match=r"cannot download.*`path`"):
        fetch("fake", source, "local", Path("out"))
    assert nothing_half_written()


def test_a_kind_of_archive_we_cannot_read_is_not_downloaded(server: Server) -> None:
    source = Source(url=server.url.replace(".tar.gz", ".rar"), sha256="0" * 64)
    with pytest.raises(UserError, match=r"data\.rar.*\.zip"):
        fetch("fake", source, "local", Path("out"))
    assert server.asked == []


def test_a_local_folder_is_listed_and_not_copied(here: Path) -> None:
    for path, content in MEMBERS.items():
        (here / "local" / path).parent.mkdir(parents=True, exist_ok=True)
        (here / "local" / path).write_bytes(content)
    (here / "local/set/train/.a.png").write_bytes(b"hidden")
    (here / "local/set/train/notes.txt").write_bytes(b"text")
    fetch("fake", Source(path="set"), "local", Path("out"))
    assert [path.name for path in Path("out").iterdir()] == ["source.json"]
    content = json.loads(Path("out/source.json").read_text())
    status = (here / "local/set/train/a/001.png").stat()
    assert content["root"] == str(here / "local/set")
    assert content["files"][0] == ["train/a/001.png", 997, status.st_mtime_ns]
    assert media(Path("out")) == {path.removeprefix("set/"): content for path, content in MEMBERS.items()}


def test_relative_paths_start_at_the_users_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "project/local/set/train/a").mkdir(parents=True)
    (here / "project/local/set/train/a/1.png").write_bytes(b"x")
    monkeypatch.setenv("DVC_ROOT", str(here / "project"))
    fetch("fake", Source(path="set"), "local", Path("out"))
    assert media(Path("out")) == {"train/a/1.png": b"x"}


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_a_local_archive_is_unpacked(suffix: str, here: Path) -> None:
    (here / f"data{suffix}").write_bytes(ARCHIVES[suffix])
    fetch("fake", Source(path=f"data{suffix}"), ".", Path("out"))
    assert media(Path("out")) == MEMBERS
    assert json.loads(Path("out/source.json").read_text())["root"] == "."


@pytest.mark.parametrize("suffix", ARCHIVES)
@pytest.mark.parametrize("share", [0, 0.6])
def test_a_truncated_archive_is_told(suffix: str, share: float, here: Path) -> None:
    whole = ARCHIVES[suffix]
    (here / f"data{suffix}").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(UserError, match=rf"data\{suffix} is damaged or incomplete"):
        fetch("fake", Source(path=f"data{suffix}"), ".", Path("out"))
    assert nothing_half_written()


@pytest.mark.parametrize(("suffix", "pack"), [(".zip", zipped), (".tar.gz", tarred)])
@pytest.mark.parametrize(
    ("member", "link"),
    [("../escaped.png", None), ("/escaped.png", None), ("set/../../escaped.png", None), ("set/1.png", "../../..")],
)
def test_an_archive_that_escapes_is_refused(suffix: str, pack, member: str, link: str | None, here: Path) -> None:
    (here / f"data{suffix}").write_bytes(pack({**MEMBERS, member: b"x"}, link))
    with pytest.raises(UserError, match="not safe to unpack"):
        fetch("fake", Source(path=f"data{suffix}"), ".", Path("out"))
    assert nothing_half_written()
    assert not list(here.rglob("escaped.png")) and not Path("/escaped.png").exists()


@pytest.mark.parametrize("name", ["avenue", "ucsd", "shanghaitech"])
def test_a_missing_folder_says_what_to_put_where(name: str) -> None:
    with pytest.raises(UserError) as told:
        fetch(name, Source(path=name), "local", Path("out"))
    message = str(told.value)
    assert f"local/{name}" in message and "-S local_data=" in message and "train" in message and "http" in message
    assert nothing_half_written()


def test_the_official_addresses_are_those_of_params_yaml() -> None:
    paper = params.load(Path(__file__).parents[1] / "params.yaml").profiles["paper"].data
    for name in ("avenue", "ucsd"):
        with pytest.raises(UserError) as told:
            fetch(name, Source(path=name), "local", Path("out"))
        assert paper[name].url in str(told.value).splitlines()[-1]


def test_a_source_without_media_is_told(here: Path) -> None:
    (here / "local/avenue").mkdir(parents=True)
    (here / "local/avenue/readme.txt").write_text("nothing here")
    with pytest.raises(UserError, match=r"avenue: there are no frames or videos in avenue.*training_videos"):
        fetch("avenue", Source(path="avenue"), "local", Path("out"))
    assert nothing_half_written()


def test_a_file_that_is_no_archive_is_told(here: Path) -> None:
    (here / "data.7z").write_bytes(b"7z")
    with pytest.raises(UserError, match=r"data\.7z.*\.zip"):
        fetch("fake", Source(path="data.7z"), ".", Path("out"))


def test_a_failure_leaves_the_earlier_data_set(here: Path) -> None:
    (here / "data.zip").write_bytes(ARCHIVES[".zip"])
    fetch("fake", Source(path="data.zip"), ".", Path("out"))
    (here / "data.zip").write_bytes(ARCHIVES[".zip"][:100])
    with pytest.raises(UserError):
        fetch("fake", Source(path="data.zip"), ".", Path("out"))
    assert media(Path("out")) == MEMBERS


def test_a_generated_data_set_replaces_the_earlier_one() -> None:
    contents = []
    for seed, clips in ((1, 2), (2, 1)):
        demo = Generate(seed=seed, train_clips=clips, test_clips=1, frames=2)
        fetch("ucsd", Source(generate=demo), "local", Path("out"))
        contents.append(media(Path("out")))
    assert [len(files) for files in contents] == [6, 4]
    assert all(contents[0][path] != contents[1][path] for path in contents[1])
