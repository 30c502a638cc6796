"""Sequences are the patches they say they are, within one clip, and a limit is a fixed random subset."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from descent.errors import UserError
from descent.tasks.video import data as video
from descent.tasks.video.prepare import prepare
from descent.tasks.video.schema import Frame, Source
from tests.fakes.video import noise, write_clips

TOKENS, PATCH, ACROSS = 5, 4, 3
TRAIN = {1: 11, 3: 17}  # clips that train, and their frames; clip 2 validates


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("video")
    raw = write_clips(place / "raw", train=[11, 5, 17], test=[7, 4])
    frame = Frame(size=PATCH * ACROSS, patch=PATCH, split="official")
    prepare("fake", raw, place / "fake", frame, Source(path="anywhere"), "small", workers=1)
    return place / "fake"


def naive(frames: np.ndarray) -> list[np.ndarray]:
    """All sequences of one clip, one slice at a time: (tokens, pixels) each."""
    return [
        frames[start : start + TOKENS, top : top + PATCH, left : left + PATCH].reshape(TOKENS, -1)
        for start in range(0, len(frames) - TOKENS + 1, TOKENS)
        for top in range(0, PATCH * ACROSS, PATCH)
        for left in range(0, PATCH * ACROSS, PATCH)
    ]


def test_gather_equals_slicing_clip_by_clip(folder: Path) -> None:
    frames = np.load(folder / "training.npy")[:28]
    expected = np.stack(naive(frames[:11]) + naive(frames[11:]))
    sequences = video.load(folder).sequences("train", TOKENS)
    assert len(sequences) == len(expected) == (11 // 5 + 17 // 5) * ACROSS**2
    index = np.random.default_rng(0).permutation(len(expected))
    result = sequences.gather(index)
    assert result.shape == (len(index), TOKENS, PATCH**2)
    np.testing.assert_array_equal(result.numpy(), expected[index])


def test_a_limit_is_a_fixed_subset_without_repeats(folder: Path) -> None:
    prepared = video.load(folder)
    every = prepared.sequences("train", TOKENS)
    rows = {every.gather(np.array([i])).numpy().tobytes() for i in range(len(every))}
    assert len(rows) == len(every)

    def chosen() -> list[bytes]:
        few = prepared.sequences("train", TOKENS, limit=20)
        assert len(few) == 20
        return [row.tobytes() for row in few.gather(np.arange(20)).numpy()]

    assert len(set(chosen())) == 20 and set(chosen()) < rows
    assert chosen() == chosen()
    assert len(prepared.sequences("train", TOKENS, limit=10_000)) == len(every)


def test_a_resample_draws_clips_or_of_few_clips_blocks_of_sixty_frames(folder: Path) -> None:
    few = np.repeat([5, 9], [130, 50])
    assert video._items(few, np.arange(180)).tolist() == 60 * [0] + 60 * [1] + 10 * [2] + 50 * [3]
    many = np.repeat(np.arange(10), 130)
    assert video._items(many, np.arange(1300)).tolist() == many.tolist()
    sequences = video.load(folder).sequences("train", TOKENS)
    assert sequences.item.tolist() == 2 * ACROSS**2 * [0] + 3 * ACROSS**2 * [1]
    some = video.load(folder).sequences("train", TOKENS, limit=20)
    assert some.item.tolist() == sequences.item[some.subset].tolist()
    assert video.load(folder).whole("train").item.tolist() == 11 * [0] + 17 * [1]


def test_a_block_is_the_same_whatever_is_drawn_and_whoever_sees_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video, "BLOCK", 6)
    prepared = video.load(folder)
    every = prepared.whole("train").item
    assert every.tolist() == 6 * [0] + 5 * [1] + 6 * [2] + 6 * [3] + 5 * [4]
    for limit in range(5, 20):
        some = prepared.whole("train", limit)
        assert some.item.tolist() == every[some.places].tolist()
    sequences = prepared.sequences("train", 3)
    assert sequences.item[:: sequences.places].tolist() == every[sequences.starts].tolist()


def test_a_clip_shorter_than_a_sequence_is_named(folder: Path) -> None:
    with pytest.raises(UserError, match=r"clip test2 \(test\) has 4 frames.*tokens=5"):
        video.load(folder).sequences("test", TOKENS)
    assert len(video.load(folder).sequences("test", 4)) == 2 * ACROSS**2


def test_load_gives_the_statistics_of_the_training_frames(folder: Path) -> None:
    prepared = video.load(folder)
    unit = np.load(folder / "training.npy")[:28] / 255
    assert prepared.sigma == pytest.approx(unit.std(), rel=1e-12)
    assert prepared.clips["train"] == [("train1", 0, 11), ("train3", 11, 17)]
    assert (prepared.name, prepared.size, prepared.patch, prepared.synthetic) == ("fake", 12, 4, False)


@pytest.mark.parametrize(
    "lost", ["everything", "meta.json", "test.npy", "frames", "bytes", "header", "whole numbers", "rows"]
)
def test_incomplete_data_are_told(lost: str, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "fake"
    if lost != "everything":
        copy.mkdir()
        for path in folder.iterdir():
            if path.name != lost:
                (copy / path.name).write_bytes(path.read_bytes())
    if lost == "frames":
        np.save(copy / "training.npy", noise(3, seed=0))
    if lost == "bytes":
        (copy / "test.npy").write_bytes(b"")
    if lost == "header":  # a length too short: NumPy raises what Python's tokenizer does
        whole = bytearray((folder / "test.npy").read_bytes())
        whole[8] ^= 0x40
        (copy / "test.npy").write_bytes(whole)
    if lost in ("whole numbers", "rows"):
        whole = np.load(folder / "test.npy")
        np.save(copy / "test.npy", whole / 255 if lost == "whole numbers" else whole[:, 1:])
    with pytest.raises(UserError, match=r"missing or incomplete.*preprocess_video@fake"):
        video.load(copy)


def test_training_does_not_import_the_decoders() -> None:
    code = "import sys, descent.tasks.video.data; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": "src"}, capture_output=True, text=True)
    assert "descent.tasks.video.data" in found.stdout.split()
    assert not {"cv2", "pydantic", "requests"} & set(found.stdout.split())
