"""Clips are found in every tree we know, and come out whole, in order, gray and small."""

import os
from pathlib import Path

import numpy as np
import pytest

from descent.errors import UserError
from descent.tasks.video import manifest
from descent.tasks.video.clips import Clip, clip_at, find_clips, read_frames
from tests.fakes.video import levels, noise, write_pictures, write_video

TREES = {
    "ucsd": (
        [
            "UCSDped2/Train/Train002/001.tif",
            "UCSDped2/Train/Train010/001.tif",
            "UCSDped2/Train/Train010/002.tif",
            "UCSDped2/Train/._Train010/._001.tif",
            "UCSDped2/Test/Test001/001.tif",
            "UCSDped2/Test/Test001/._001.tif",
            "UCSDped2/Test/Test001_gt/001.bmp",
            "UCSDped2/Test/UCSDped2.m",
        ],
        [("train", "Train002", 1), ("train", "Train010", 2), ("test", "Test001", 1)],
    ),
    "avenue": (
        [
            "Avenue Dataset/training_videos/02.avi",
            "Avenue Dataset/training_videos/10.avi",
            "Avenue Dataset/testing_videos/01.avi",
            "Avenue Dataset/training_vol/vol01.mat",
            "Avenue Dataset/testing_vol/vol01.mat",
            "__MACOSX/Avenue Dataset/training_videos/02.avi",
        ],
        [("train", "02", 1), ("train", "10", 1), ("test", "01", 1)],
    ),
    "shanghaitech": (
        [
            "training/videos/01_001.avi",
            "training/videos/12_005.mp4",
            "testing/frames/01_0014/000.jpg",
            "testing/frames/01_0014/001.jpg",
            "testing/test_frame_mask/01_0014.npy",
            "testing/test_pixel_mask/01_0014.png",
        ],
        [("train", "01_001", 1), ("train", "12_005", 1), ("test", "01_0014", 2)],
    ),
    "plain": (
        [
            "train/a.mp4",
            "train/b/1.PNG",
            "train/b/2.PNG",
            "train/c/x/1.bmp",
            "tests/d.avi",
            "readme.jpg",
            "train/1.png",
        ],
        [("train", "a", 1), ("train", "b", 2), ("train", "c/x", 1), ("test", "d", 1)],
    ),
}


def make_tree(folder: Path, paths: list[str]) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"x")
    manifest.write(folder, folder)
    return folder


def clip_of(*files: Path) -> Clip:
    return Clip("clip", "train", files)


def decoded(clip: Clip, size: int, limit: int | None = None) -> np.ndarray:
    return np.concatenate(list(read_frames(clip, size, limit)))


@pytest.mark.parametrize("tree", TREES)
def test_the_clips_of_a_tree_are_found_and_nothing_else(tree: str, tmp_path: Path) -> None:
    paths, expected = TREES[tree]
    clips = find_clips(make_tree(tmp_path, paths))
    assert [(clip.split, clip.name, len(clip.files)) for clip in clips] == expected
    assert all(file.is_file() for clip in clips for file in clip.files)


def test_a_part_is_looked_for_at_any_depth(tmp_path: Path) -> None:
    both = [f"training_set/v1/{ped}/Train/Train001/{ped}.tif" for ped in ("UCSDped1", "UCSDped2")]
    folder = make_tree(tmp_path, both)
    assert [file.name for clip in find_clips(folder, "UCSDped2") for file in clip.files] == ["UCSDped2.tif"]
    with pytest.raises(UserError, match="the part UCSDped3"):
        find_clips(folder, "UCSDped3")


def test_two_data_sets_side_by_side_need_a_part(tmp_path: Path) -> None:
    folder = make_tree(tmp_path, [f"v1/{ped}/Train/Train001/001.tif" for ped in ("UCSDped1", "UCSDped2")])
    with pytest.raises(UserError, match=r"v1/UCSDped1, v1/UCSDped2.*`part`"):
        find_clips(folder)


def test_of_a_video_and_its_extracted_frames_the_video_is_taken(tmp_path: Path) -> None:
    folder = make_tree(tmp_path, ["training/frames/01_001/000.jpg", "training/videos/01_001.avi"])
    assert [clip.files[0].suffix for clip in find_clips(folder)] == [".avi"]


@pytest.mark.parametrize("second", ["training_videos/01.mp4", "training_videos/videos/01.avi"])
def test_two_videos_of_one_clip_are_told(second: str, tmp_path: Path) -> None:
    folder = make_tree(tmp_path / "avenue", ["training_videos/01.avi", second, "testing_videos/01.avi"])
    with pytest.raises(UserError, match=rf"several videos of clip 01 \(training_videos/01.avi, {second}\)"):
        find_clips(folder)


def test_a_source_without_clips_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"folders train\* and test\*"):
        find_clips(make_tree(tmp_path, ["holidays/1.jpg"]))


def test_a_missing_manifest_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="download_video@avenue"):
        find_clips(tmp_path / "avenue")


@pytest.mark.parametrize("suffix", [".tif", ".jpg", ".jpeg", ".png", ".bmp", ".avi", ".mp4"])
def test_every_format_gives_all_frames_in_order(suffix: str, tmp_path: Path) -> None:
    frames = levels(12)
    if suffix in manifest.VIDEOS:
        write_video(tmp_path / f"train/a{suffix}", frames)
    else:
        write_pictures(tmp_path / "train/a", frames, suffix, name="frame{}")  # 10 must not come before 2
    manifest.write(tmp_path, tmp_path)
    [clip] = find_clips(tmp_path)
    result = decoded(clip, 16)
    assert result.shape == (12, 16, 16)
    assert np.abs(result.astype(int) - frames[:, :16, :16]).max() <= 3  # levels are 10 apart


def test_resizing_averages_areas(tmp_path: Path) -> None:
    blocks = noise(1, seed=0, height=7, width=7) // 2 + 64
    fine = np.kron(blocks, np.ones((1, 6, 4), np.uint8))
    striped = fine + np.where(np.arange(fine.shape[2]) % 2, 30, -30).astype(np.uint8)  # leaves each block's mean
    write_pictures(tmp_path, striped)
    np.testing.assert_array_equal(decoded(clip_of(tmp_path / "001.png"), 7), blocks)


def test_frames_are_streamed_and_limited(tmp_path: Path) -> None:
    write_pictures(tmp_path, noise(70, seed=0))
    clip = clip_of(*sorted(tmp_path.iterdir()))
    assert [len(chunk) for chunk in read_frames(clip, 16)] == [64, 6]
    assert [len(chunk) for chunk in read_frames(clip, 16, limit=65)] == [64, 1]
    np.testing.assert_array_equal(decoded(clip, 16, limit=65), noise(70, seed=0)[:65])


@pytest.mark.parametrize("suffix", [".avi", ".mp4"])
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_damaged_video_is_named(suffix: str, share: float, tmp_path: Path) -> None:
    path = tmp_path / f"clip{suffix}"
    write_video(path, noise(40, seed=0, height=48, width=64))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(UserError, match=f"clip{suffix}.*decoded.*again"):
        decoded(clip_of(path), 16)


@pytest.mark.parametrize("suffix", [".tif", ".jpg", ".png", ".bmp"])
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_damaged_frame_is_named(suffix: str, share: float, tmp_path: Path) -> None:
    write_pictures(tmp_path, noise(3, seed=0, height=64, width=64), suffix)
    bad = tmp_path / f"002{suffix}"
    whole = bad.read_bytes()
    bad.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(UserError, match=f"002{suffix}.*decoded"):
        decoded(clip_of(*sorted(tmp_path.iterdir())), 16)


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    for name in ("gone.png", "gone.avi"):
        with pytest.raises(UserError, match=f"{name}.*missing"):
            decoded(clip_of(tmp_path / name), 16)


def test_a_frame_of_another_size_is_named(tmp_path: Path) -> None:
    write_pictures(tmp_path, noise(66, seed=0))
    write_pictures(tmp_path, noise(1, seed=0, height=8, width=12), name="066")
    with pytest.raises(UserError, match=r"066\.png.*12x8.*16x16"):
        decoded(clip_of(*sorted(tmp_path.iterdir())), 16)


def test_a_video_whose_name_is_not_utf8_is_refused_and_frames_of_such_a_name_are_read(tmp_path: Path) -> None:
    """OpenCV's reader of videos ends the process at such a name."""
    folder = tmp_path / "train" / os.fsdecode(b"vid\xe9o")
    folder.mkdir(parents=True)
    (folder / "1.png").touch()
    (folder / "._1.png").write_bytes(b"what another system keeps beside a file")
    assert manifest.write(tmp_path, tmp_path) == 1 and clip_at(folder).files == (folder / "1.png",)
    (video := folder.with_suffix(".avi")).touch()
    for read in (lambda: manifest.write(tmp_path, tmp_path), lambda: clip_at(video)):
        with pytest.raises(UserError, match=r"vid.udce9o.avi': its name is not UTF-8"):
            read()
