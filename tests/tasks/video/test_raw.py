"""A raw data set is there whole or not at all, from wherever it comes, and a user is told what to do."""

import json
from pathlib import Path

import pytest

from descent import components, config
from descent.errors import UserError
from descent.io import downloads
from descent.tasks.video.raw import fetch
from descent.tasks.video.schema import Generate, Source
from tests.fakes.archives import ARCHIVES, MEMBERS, media, nothing_half_written, tarred, zipped

PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setattr(downloads, "WAIT", 0.0)
    return tmp_path


def test_a_local_folder_is_listed_and_not_copied(here: Path) -> None:
    for path, content in MEMBERS.items():
        (here / "local" / path).parent.mkdir(parents=True, exist_ok=True)
        (here / "local" / path).write_bytes(content)
    (here / "local/set/train/.a.png").write_bytes(b"hidden")
    (here / "local/set/train/notes.txt").write_bytes(b"text")
    fetch("avenue", Source(path="set"), "local", Path("out"))
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
    fetch("avenue", Source(path="set"), "local", Path("out"))
    assert media(Path("out")) == {"train/a/1.png": b"x"}


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_a_local_archive_is_unpacked(suffix: str, here: Path) -> None:
    (here / f"data{suffix}").write_bytes(ARCHIVES[suffix])
    fetch("avenue", Source(path=f"data{suffix}"), ".", Path("out"))
    assert media(Path("out")) == MEMBERS
    assert json.loads(Path("out/source.json").read_text())["root"] == "."


@pytest.mark.parametrize("suffix", ARCHIVES)
@pytest.mark.parametrize("share", [0, 0.6])
def test_a_truncated_archive_is_told(suffix: str, share: float, here: Path) -> None:
    whole = ARCHIVES[suffix]
    (here / f"data{suffix}").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(UserError, match=rf"data\{suffix} is damaged or incomplete"):
        fetch("avenue", Source(path=f"data{suffix}"), ".", Path("out"))
    assert nothing_half_written()


@pytest.mark.parametrize(("suffix", "pack"), [(".zip", zipped), (".tar.gz", tarred)])
@pytest.mark.parametrize(
    ("member", "link"),
    [("../escaped.png", None), ("/escaped.png", None), ("set/../../escaped.png", None), ("set/1.png", "../../..")],
)
def test_an_archive_that_escapes_is_refused(suffix: str, pack, member: str, link: str | None, here: Path) -> None:
    (here / f"data{suffix}").write_bytes(pack({**MEMBERS, member: b"x"}, link))
    with pytest.raises(UserError, match="not safe to unpack"):
        fetch("avenue", Source(path=f"data{suffix}"), ".", Path("out"))
    assert nothing_half_written()
    assert not list(here.rglob("escaped.png")) and not Path("/escaped.png").exists()


@pytest.mark.parametrize("name", components.names("tasks.video.datasets"))
def test_a_missing_folder_says_what_to_put_where(name: str) -> None:
    with pytest.raises(UserError) as told:
        fetch(name, Source(path=name), "local", Path("out"))
    message = str(told.value)
    assert f"local/{name}" in message and "-S local_data=" in message and "train" in message and "http" in message
    assert nothing_half_written()


def test_the_official_addresses_are_those_of_params_yaml() -> None:
    paper = config.load(PARAMS).profiles["paper"].data
    for name in ("avenue", "ucsd"):
        with pytest.raises(UserError) as told:
            fetch(name, Source(path=name), "local", Path("out"))
        assert paper[name]["url"] in str(told.value).splitlines()[-1]


def test_a_source_without_media_is_told(here: Path) -> None:
    (here / "local/avenue").mkdir(parents=True)
    (here / "local/avenue/readme.txt").write_text("nothing here")
    with pytest.raises(UserError, match=r"avenue: there are no frames or videos in avenue.*training_videos"):
        fetch("avenue", Source(path="avenue"), "local", Path("out"))
    assert nothing_half_written()


def test_an_unknown_data_set_is_told_with_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown name 'subway'; known: avenue, shanghaitech, ucsd"):
        fetch("subway", Source(path="subway"), "local", Path("out"))


def test_a_data_set_without_a_scene_cannot_be_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(components.load("tasks.video.datasets", "avenue"), "SCENE")
    demo = Generate(seed=1, train_clips=1, test_clips=1, frames=2)
    with pytest.raises(
        UserError, match=r"avenue cannot be generated, as .*avenue\.py has no SCENE: name a source"
    ):
        fetch("avenue", Source(generate=demo), "local", Path("out"))
    assert nothing_half_written()


def test_a_file_that_is_no_archive_is_told(here: Path) -> None:
    (here / "data.7z").write_bytes(b"7z")
    with pytest.raises(UserError, match=r"data\.7z.*\.zip"):
        fetch("avenue", Source(path="data.7z"), ".", Path("out"))


def test_a_failure_leaves_the_earlier_data_set(here: Path) -> None:
    (here / "data.zip").write_bytes(ARCHIVES[".zip"])
    fetch("avenue", Source(path="data.zip"), ".", Path("out"))
    (here / "data.zip").write_bytes(ARCHIVES[".zip"][:100])
    with pytest.raises(UserError):
        fetch("avenue", Source(path="data.zip"), ".", Path("out"))
    assert media(Path("out")) == MEMBERS


def test_a_generated_data_set_replaces_the_earlier_one() -> None:
    contents = []
    for seed, clips in ((1, 2), (2, 1)):
        demo = Generate(seed=seed, train_clips=clips, test_clips=1, frames=2)
        fetch("ucsd", Source(generate=demo), "local", Path("out"))
        contents.append(media(Path("out")))
    assert [len(files) for files in contents] == [6, 4]
    assert all(contents[0][path] != contents[1][path] for path in contents[1])
