"""A clip goes through a model as its training sequences do, and comes back whole and in place."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from torch import Tensor

from descent.errors import UserError, sentence
from descent.inference import denoise, pictures
from descent.models.parts.denoiser import Denoiser
from descent.tasks.video.clips import clip_at, frame_rate
from descent.tasks.video.data import Prepared
from tests.fakes.core import PATCH, SIZE, TOKENS, enter_project, serially, small_params, train_cells
from tests.fakes.video import levels, noise, write_pictures, write_video


class Echo(Denoiser):
    """Answers what it is given, and remembers it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.seen = torch.nn.Parameter(torch.zeros(1)), []

    def states(self, noisy: Tensor) -> list[Tensor]:
        self.seen.append(noisy)
        return [noisy * 0, noisy]

    def readout(self, state: Tensor) -> Tensor:
        return state


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return enter_project(tmp_path / "project", monkeypatch)


@pytest.mark.parametrize("inputs", ["patches", "frames"])
@pytest.mark.parametrize("frames", [1, 2, 3, 7, 12, 17])
def test_what_a_model_leaves_alone_comes_back_as_it_was(frames: int, inputs: str) -> None:
    given = torch.rand(frames, 20, 20)
    assert torch.equal(denoise.denoise(Echo(), given, inputs, 3, 5), given)


def test_sequences_are_those_of_the_prepared_data(prepared: Prepared) -> None:
    frames = prepared.whole("validation").gather(np.arange(11)).float() / 255
    net = Echo()
    denoise.denoise(net, frames[: 2 * TOKENS], "patches", TOKENS, PATCH)
    own = prepared.sequences("validation", TOKENS)
    first = own.gather(np.arange(2 * own.places)).float() / 255
    assert torch.equal(torch.cat([seen[0] for seen in net.seen]), first)


def test_the_last_sequence_is_whole_and_a_short_clip_is_one_short_sequence() -> None:
    for frames, lengths in ((7, [3, 3, 3]), (2, [2])):
        net = Echo()
        denoise.denoise(net, torch.rand(frames, 8, 8), "patches", 3, 4)
        assert [seen.shape[2] for seen in net.seen] == lengths


def test_noise_has_the_deviation_that_was_asked_for_and_none_changes_nothing() -> None:
    frames = noise(40, 0, 32, 32)
    clean = torch.from_numpy(frames).float() / 255
    assert torch.equal(denoise.noisy(frames, 0.0, 0.2), clean)
    assert (denoise.noisy(frames, 0.5, 0.2) - clean).std().item() == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize("video", [True, False])
def test_a_clip_is_written_with_what_was_given_beside_it(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, video: bool
) -> None:
    serially(monkeypatch)
    params = small_params({"profiles.demo.video.epochs": 2, "profiles.demo.video.eps": [], "video.models": ["ut"]})
    train_cells(params, "video", "ucsd", "ut")
    source = Path("mine.avi" if video else "mine")
    write_video(source, levels(7)) if video else write_pictures(source, levels(7), name="{}")
    folder = Path("data/runs/video/ucsd/ut/unconstrained-L2-eps0.13-seed0")
    told = denoise.clip(params, source, folder, 0.5)
    assert "7 frames of 8x8" in told[0] and re_numbers(told[-1])[0] == pytest.approx(
        127.5 * prepared.sigma, rel=0.2
    )
    if video:
        assert frame_rate(clip_at(Path(told[1]))) == frame_rate(clip_at(Path(told[2]))) == 25.0
        return
    written = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in sorted(Path(told[2]).iterdir())]
    assert len(written) == 7 and written[0].shape == (SIZE + pictures.CAPTION, 3 * SIZE + 2 * pictures.GAP)
    given = [int(frame[-SIZE:, :SIZE].mean()) for frame in written]
    assert given == [20 + 10 * number for number in range(7)], "frames in natural order, each as it was given"


def re_numbers(text: str) -> list[float]:
    return [float(word) for word in text.split() if word.replace(".", "").isdigit()]


def test_columns_stand_side_by_side_in_order() -> None:
    shown = pictures.beside({"a": torch.zeros(2, 6, 6), "b": torch.ones(2, 6, 6), "c": torch.full((2, 6, 6), 0.5)})
    below = shown[:, pictures.CAPTION :]
    assert [int(below[0, 0, n * (6 + pictures.GAP)]) for n in range(3)] == [0, 255, 128]
    assert shown.shape[2] == 18 + 2 * pictures.GAP and shown[:, : pictures.CAPTION].max() > 0


@pytest.mark.parametrize("rate", [25.0, None])
def test_a_full_disk_loses_nothing_and_is_no_success(tmp_path: Path, rate: float | None) -> None:
    out, frames = tmp_path / "denoised", np.random.default_rng(0).integers(0, 256, (20, 64, 64), np.uint8)
    (first,) = pictures.write(out, {"clip": frames}, rate)
    before = sorted((path.name, path.stat().st_size) for path in out.rglob("*"))
    with files_of_at_most(3000), pytest.raises(OSError) as told:
        pictures.write(out, {"clip": frames}, rate)
    assert "the disk is full" in sentence(told.value)
    assert sorted((path.name, path.stat().st_size) for path in out.rglob("*")) == before and first.exists()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As a disk with so much room: a file that grows beyond it fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    told = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, told)


@pytest.mark.parametrize("name", ["nothing.avi", "empty", "words.txt"])
def test_what_is_no_clip_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.txt").write_text("no clip")
    with pytest.raises(UserError, match=f"{name} is no video"):
        clip_at(tmp_path / name)


def test_a_clip_that_memory_would_not_hold_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pictures(tmp_path / "clip", noise(7, 16, 16))
    assert len(denoise._whole(clip_at(tmp_path / "clip"), SIZE)) == 7
    monkeypatch.setattr(denoise, "LONGEST", 6)
    with pytest.raises(UserError, match="clip has more than 6 frames"):
        denoise._whole(clip_at(tmp_path / "clip"), SIZE)


def test_a_clip_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"there is no nowhere/clip\.avi"):
        denoise.clip(small_params(), Path("nowhere/clip.avi"), Path("cell"), 0.0)


def test_an_impossible_level_of_noise_is_one_sentence() -> None:
    with pytest.raises(UserError, match="zero or above"):
        denoise.clip(small_params(), Path("clip.avi"), Path("cell"), -1.0)
