"""Folders and small files are there whole or not at all."""

import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing import get_context
from pathlib import Path

import pytest

from descent.io import folders
from descent.io.folders import abandoned, atomic_file, atomic_folder, write_text
from descent.io.model_files import content


def test_a_folder_takes_the_place_of_the_earlier_one_when_it_is_whole(tmp_path: Path) -> None:
    for words in ("one", "two"):
        with atomic_folder(tmp_path / "a/out") as folder:
            (folder / words).write_text(words)
            assert not (tmp_path / "a/out" / words).exists()
    assert [path.name for path in (tmp_path / "a/out").iterdir()] == ["two"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out"]


def test_a_failure_leaves_the_earlier_folder_and_nothing_else(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "kept").touch()
    with pytest.raises(ValueError), atomic_folder(tmp_path / "out") as folder:
        (folder / "half").touch()
        raise ValueError
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["out", "out/kept"]


def test_where_nothing_takes_its_place_the_earlier_folder_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, rename = tmp_path / "kept", Path.rename
    with atomic_folder(kept) as partial:
        (partial / "it").write_text("old")

    def refused(self: Path, target: Path) -> Path:
        if (self / "new").exists():
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError), atomic_folder(kept) as partial:
        (partial / "new").write_text("new")
    assert (kept / "it").read_text() == "old"
    assert list(tmp_path.iterdir()) == [kept]


def write_again_and_again(folder: Path, word: str) -> None:
    for _ in range(60):
        with atomic_folder(folder) as partial:
            for name in ("a", "b"):
                (partial / name).write_text(word)


def test_of_two_processes_that_write_one_folder_each_leaves_it_whole(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    both = [get_context("fork").Process(target=write_again_and_again, args=(folder, word)) for word in "xy"]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert (folder / "a").read_text() == (folder / "b").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("write", [atomic_folder, atomic_file])
def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(
    write: Callable[[Path], AbstractContextManager[Path]], tmp_path: Path
) -> None:
    killed = os.fork()
    if not killed:
        with write(tmp_path / "out"):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(killed, 0)
    (left,) = tmp_path.iterdir()
    assert abandoned(left)
    with atomic_file(tmp_path / "other") as living:
        folders._sweep.cache_clear()
        with write(tmp_path / "out") as partial:
            (partial / "it" if partial.is_dir() else partial).write_text("x")
            assert not left.exists() and living.exists() and not abandoned(living)
        living.write_text("x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


def killed_before_its_lock(write: Callable[[Path], AbstractContextManager[Path]], path: Path) -> None:
    folders.fcntl.flock = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    with write(path):
        pass


@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_what_was_killed_before_it_was_locked_goes_with_the_next_writer(
    write: Callable[[Path], AbstractContextManager[Path]], tmp_path: Path
) -> None:
    killed = get_context("fork").Process(target=killed_before_its_lock, args=(write, tmp_path / "out"))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert folders.EARLY.search(left.name)
    folders._sweep.cache_clear()
    with atomic_file(tmp_path / "other") as partial:
        partial.write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_what_a_living_process_has_not_locked_yet_stays_for_an_hour(tmp_path: Path) -> None:
    early = tmp_path / f".out.{folders.HERE}{os.getpid():08x}00000000"
    early.mkdir()
    for age, left in ((0, True), (folders.HOUR + 60, False)):
        os.utime(early, (time.time() - age,) * 2)
        folders._sweep.cache_clear()
        with atomic_folder(tmp_path / "out"):
            pass
        assert early.exists() == left


def test_what_another_host_writes_is_left_alone_since_its_lock_may_not_be_seen(tmp_path: Path) -> None:
    others = tmp_path / f".out{folders.PARTIAL}{'0' * len(folders.HERE)}1"
    others.mkdir()
    with atomic_folder(tmp_path / "out"):
        pass
    assert others.exists() and not abandoned(others)


def test_a_file_in_the_place_of_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(NotADirectoryError), atomic_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "out").read_text() == "mine"


def test_a_file_takes_the_place_of_the_earlier_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a/words.txt"
    write_text(path, "one")
    with atomic_file(path) as mine, atomic_file(path) as other:  # two writers do not meet
        mine.write_text("mine")
        other.write_text("other")
        assert path.read_text() == "one"
    assert path.read_text() == "mine"
    with pytest.raises(ValueError), atomic_file(path) as partial:
        partial.write_text("ha")
        raise ValueError
    assert path.read_text() == "mine" and [found.name for found in path.parent.iterdir()] == ["words.txt"]


def test_the_content_is_that_of_the_files_a_library_loads(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors", "notes.txt"):
        (tmp_path / name).write_text(name)
    first = content(tmp_path)
    assert list(first) == ["config.json", "model.safetensors"] and content(tmp_path / "none") == {}
    (tmp_path / "model.safetensors").write_text("other weights")
    assert content(tmp_path)["config.json"] == first["config.json"]
    assert content(tmp_path)["model.safetensors"] != first["model.safetensors"]


def test_weights_that_many_cells_share_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_text("weights")
    first = content(tmp_path)
    monkeypatch.setattr("descent.io.model_files.digest_of", lambda path: f"read again: {path}")
    assert content(tmp_path) == first
