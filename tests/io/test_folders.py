"""Folders and small files are there whole or not at all."""

from pathlib import Path

import pytest

from descent.io.folders import atomic_file, atomic_folder, write_text
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
