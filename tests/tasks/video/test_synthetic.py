"""The demo footage: the same from the same seed, three scenes that differ as the real ones do, people who move."""

import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from descent import components, config
from descent.tasks.video import data as video
from descent.tasks.video import manifest
from descent.tasks.video.clips import find_clips, read_frames
from descent.tasks.video.schema import Generate
from descent.tasks.video.synthetic import footage
from stages import download, preprocess

KNOWN = {name: components.load("tasks.video.datasets", name) for name in components.names("tasks.video.datasets")}
SCENES = [name for name, dataset in KNOWN.items() if hasattr(dataset, "SCENE")]
FRAMES = 26  # one period of the light's flicker, and one frame


def wanted(seed: int = 1, frames: int = 3) -> Generate:
    return Generate(seed=seed, train_clips=2, test_clips=1, frames=frames)


def generate(name: str, seed: int, folder: Path) -> None:
    footage.generate(KNOWN[name].SCENE, KNOWN[name].write, wanted(seed), folder)


def written(name: str, folder: Path, seed: int = 1) -> dict[str, bytes]:
    generate(name, seed, folder)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@cache
def gray_clip(name: str, number: int = 0) -> np.ndarray:
    return np.stack(list(footage.render(KNOWN[name].SCENE, wanted(frames=FRAMES), "train", number))).mean(axis=3)


@pytest.mark.parametrize("name", SCENES)
def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(name: str, tmp_path: Path) -> None:
    first = written(name, tmp_path / "a")
    assert written(name, tmp_path / "b") == first
    other = written(name, tmp_path / "c", seed=2)
    assert other.keys() == first.keys()
    assert all(other[path] != first[path] for path in first)


@pytest.mark.parametrize("name", SCENES)
def test_the_readers_find_every_clip_and_frame(name: str, tmp_path: Path) -> None:
    generate(name, 1, tmp_path)
    manifest.write(tmp_path, tmp_path)
    clips = find_clips(tmp_path)
    assert [clip.split for clip in clips] == ["train", "train", "test"]
    for clip in clips:
        assert sum(len(chunk) for chunk in read_frames(clip, 160)) == 3


def test_each_data_set_comes_in_its_own_tree_and_formats(tmp_path: Path) -> None:
    suffixes = {}
    for name in SCENES:
        files = written(name, tmp_path / name)
        suffixes[name] = {Path(path).suffix for path in files}
    assert suffixes == {"avenue": {".avi"}, "ucsd": {".tif"}, "shanghaitech": {".avi", ".jpg"}}
    assert (tmp_path / "avenue/Avenue Dataset/training_videos/01.avi").is_file()
    assert (tmp_path / "ucsd/UCSDped2/Train/Train001/001.tif").is_file()
    assert (tmp_path / "shanghaitech/training/videos/01_001.avi").is_file()
    assert (tmp_path / "shanghaitech/testing/frames/01_0001/000.jpg").is_file()


def test_the_scenes_differ_as_the_real_ones_do() -> None:
    deviation = {name: gray_clip(name).std() for name in SCENES}
    mean = {name: gray_clip(name).mean() for name in SCENES}
    # Measured on the real sets: Avenue 101 and 63, UCSD 113 and 46, ShanghaiTech 120 and 46.
    assert deviation == pytest.approx({"avenue": 60, "ucsd": 45, "shanghaitech": 45}, abs=6)
    assert mean == pytest.approx({"avenue": 100, "ucsd": 110, "shanghaitech": 116}, abs=8)


@pytest.mark.parametrize("name", SCENES)
def test_people_move_before_a_view_that_stays(name: str) -> None:
    clip = gray_clip(name)
    moved = np.abs(clip[10] - clip[0]) > 20  # the flicker alone changes a pixel by less than 10
    assert 0.01 < moved.mean() < 0.4
    still = np.abs(clip - np.median(clip, axis=0)).max(axis=0) < 12
    assert still.mean() > 0.3
    assert np.abs(np.diff(clip, axis=0)).max(axis=(1, 2)).min() > 20  # at no time do all stand


def test_every_camera_has_its_own_view_and_clips_of_one_camera_share_it() -> None:
    def view(name: str, number: int) -> np.ndarray:
        return np.median(gray_clip(name, number), axis=0)

    def same(name: str) -> float:
        return float((np.abs(view(name, 0) - view(name, 1)) < 12).mean())

    assert same("avenue") > 0.7 and same("ucsd") > 0.7
    assert same("shanghaitech") < 0.6


@pytest.mark.slow
def test_the_stages_lead_from_params_yaml_to_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(Path(__file__).parents[2] / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    download.main("video", "ucsd")
    preprocess.main("video", "ucsd")
    prepared, params = video.load(Path("data/prepared/ucsd")), config.load()
    demo = params.source("video", "ucsd").generate
    assert prepared.synthetic and prepared.name == "ucsd"
    counts = {split: [frames for *_, frames in clips] for split, clips in prepared.clips.items()}
    assert counts["test"] == [demo.frames] * demo.test_clips
    assert counts["train"] + counts["validation"] == [demo.frames] * demo.train_clips
    assert len(prepared.sequences("train", params.budget.video.tokens)) > 0
