"""Prepared arrays hold exactly the clips of their split, with exact statistics, whoever decoded them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from descent.errors import UserError
from descent.tasks.video.clips import Clip
from descent.tasks.video.prepare import prepare, split_clips, spread
from descent.tasks.video.schema import Frame, Source
from tests.fakes.video import noise, write_clips

OFFICIAL = Frame(size=16, patch=8, split="official")


def clips_named(train: int, test: int) -> list[Clip]:
    parts = (("train", train), ("test", test))
    return [Clip(f"{split}{number}", split, ()) for split, count in parts for number in range(count)]


def prepared(raw: Path, out: Path, frame: Frame = OFFICIAL, workers: int = 1, **limits: Any) -> dict[str, Any]:
    prepare("fake", raw, out, frame, Source(path="anywhere", **limits), "small", workers)
    return json.loads((out / "meta.json").read_text())


@pytest.mark.parametrize("rule", ["official", "training_only"])
@pytest.mark.parametrize(("count", "held"), [(3, 1), (14, 1), (16, 2), (330, 33)])
def test_splits_share_no_video_and_lose_none(rule: str, count: int, held: int) -> None:
    clips = clips_named(count, 5)
    splits = split_clips(clips, rule, Source(path="anywhere"))
    names = [clip.name for part in splits.values() for clip in part]
    expected = clips if rule == "official" else clips[:count]
    assert sorted(names) == sorted(clip.name for clip in expected)
    assert len(splits["validation"]) == held
    assert len(splits["test"]) == (5 if rule == "official" else held)
    assert all(clip.split == "train" for clip in splits["train"] + splits["validation"])


@pytest.mark.parametrize(
    ("rule", "train", "test", "words"),
    [
        ("official", 1, 5, "1 training clips.*at least 2"),
        ("training_only", 2, 5, "2 training clips.*at least 3"),
        ("official", 2, 0, "no test clips.*training_only"),
    ],
)
def test_too_few_clips_are_told(rule: str, train: int, test: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        split_clips(clips_named(train, test), rule, Source(path="anywhere"))


def test_training_only_needs_no_test_clips() -> None:
    assert len(split_clips(clips_named(3, 0), "training_only", Source(path="anywhere"))["test"]) == 1


def test_limits_take_evenly_spread_clips() -> None:
    assert spread(range(10), 2) == [2, 7]
    assert spread(range(3), 5) == spread(range(3), None) == [0, 1, 2]
    for count in range(1, 24):
        gaps = np.diff(spread(range(23), count))
        assert gaps.size == count - 1 and (gaps.size == 0 or gaps.max() - gaps.min() <= 1)
    splits = split_clips(clips_named(9, 9), "official", Source(path="anywhere", train_clips=3, test_clips=2))
    assert {split: len(clips) for split, clips in splits.items()} == {"train": 2, "validation": 1, "test": 2}


def test_arrays_hold_the_clips_of_the_index_and_exact_statistics(tmp_path: Path) -> None:
    raw = write_clips(tmp_path / "raw", train=[5, 7, 70, 2], test=[3, 11])
    meta = prepared(raw, tmp_path / "out")
    assert meta["clips"] == {
        "train": [["train1", 0, 5], ["train2", 5, 7], ["train4", 12, 2]],
        "validation": [["train3", 14, 70]],
        "test": [["test1", 0, 3], ["test2", 3, 11]],
    }
    assert meta["frames"] == {"train": 14, "validation": 70, "test": 14}
    training = np.load(tmp_path / "out/training.npy", mmap_mode="r")
    train = training[:14]
    np.testing.assert_array_equal(train, np.concatenate([noise(5, 1), noise(7, 2), noise(2, 4)]))
    np.testing.assert_array_equal(training[14:], noise(70, 3))
    np.testing.assert_array_equal(
        np.load(tmp_path / "out/test.npy"), np.concatenate([noise(3, 101), noise(11, 102)])
    )
    unit = train / 255
    assert meta["sigma"] == pytest.approx(unit.std(), rel=1e-12)
    assert (meta["synthetic"], meta["size"], meta["patch"]) == (False, 16, 8)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "meta.json",
        "test.npy",
        "training.npy",
    ]


def test_the_number_of_workers_does_not_matter(tmp_path: Path) -> None:
    raw = write_clips(tmp_path / "raw", train=[40, 2, 3, 4], test=[5])
    for workers in (1, 2):
        prepared(raw, tmp_path / str(workers), workers=workers)
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes()


def test_frames_per_clip_takes_the_first_frames(tmp_path: Path) -> None:
    raw = write_clips(tmp_path / "raw", train=[5, 7], test=[9])
    meta = prepared(raw, tmp_path / "out", frames_per_clip=6)
    assert {split: [frames for *_, frames in clips] for split, clips in meta["clips"].items()} == {
        "train": [5],
        "validation": [6],
        "test": [6],
    }
    np.testing.assert_array_equal(np.load(tmp_path / "out/test.npy"), noise(9, 101)[:6])


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    raw = write_clips(tmp_path / "raw", train=[5, 7, 4], test=[3])
    first = prepared(raw, tmp_path / "a")["digest"]
    assert prepared(raw, tmp_path / "a")["digest"] == first
    assert prepared(raw, tmp_path / "b", frames_per_clip=6)["digest"] != first
    assert prepared(raw, tmp_path / "c", Frame(size=8, patch=8, split="official"))["digest"] != first


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_clip_leaves_what_was_there(workers: int, tmp_path: Path) -> None:
    raw = write_clips(tmp_path / "raw", train=[5, 7, 4], test=[3])
    before = prepared(raw, tmp_path / "out")
    (raw / "test/test1/002.png").write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"002\.png"):
        prepared(raw, tmp_path / "out", workers=workers)
    assert json.loads((tmp_path / "out/meta.json").read_text()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "raw"]
