"""Shifts of pictures and of time against what OpenCV, scikit-image and numpy make of whole ones."""

import math
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from skimage.filters import gaussian
from torch import Tensor

from descent import components
from descent.errors import UserError
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.video.data import Frames, Sequences
from descent.tasks.video.views import View
from descent.training.noise import Stream
from tests.fakes.core import small_params

PARAMS = small_params()
STREAM = Stream(5, 6)
NESTED = ("missing_patches", "dropped_frames", "repeated_frames", "shuffled_frames")


@pytest.fixture(scope="module")
def frames() -> np.ndarray:
    """Twelve frames of 48 x 48 with fine and coarse structure."""
    y, x = np.mgrid[:48, :48]
    moving = [127 + 60 * np.sin(0.7 * x + 0.4 * time) + 50 * np.cos(0.11 * x * y / 9 + time) for time in range(12)]
    return np.stack(moving).clip(0, 255).astype(np.uint8)


def sequences(frames: np.ndarray, patch: int = 16) -> Sequences:
    return Sequences(frames, np.array([0, 4, 8]), np.array([0, 0, 1]), 4, patch, None)


def of_patches(name: str, frames: np.ndarray, level: float) -> np.ndarray:
    """All sequences under a shift, as models see them, in gray levels."""
    shift, inputs = apply_of(PARAMS, name), sequences(frames)
    view = View(inputs, [shift])
    seen = view.read(np.arange(len(inputs)))[None].float() / 255
    return 255 * view.of_model(shift(seen, torch.tensor([level]), STREAM, 0.2), shift)[0].numpy()


def patched(frames: np.ndarray) -> np.ndarray:
    inputs = Sequences(frames, np.array([0, 4, 8]), np.array([0, 0, 1]), 4, 16, None)
    return inputs.gather(np.arange(len(inputs))).numpy()


def whole(name: str, frames: np.ndarray, level: float) -> np.ndarray:
    shift = apply_of(PARAMS, name)
    view = View(Frames(frames, np.zeros(12, int), np.arange(12), None), [shift])
    seen = view.read(np.arange(12))[None].float() / 255
    return 255 * view.of_model(shift(seen, torch.tensor([level]), STREAM, 0.2), shift)[0].numpy()


@pytest.mark.parametrize("sigma", [0.5, 2.0, 3.0])
def test_patches_are_blurred_as_the_whole_frame_is_by_scikit_image(frames: np.ndarray, sigma: float) -> None:
    blurred = [gaussian(frame.astype(float), sigma, mode="mirror", truncate=4) for frame in frames]
    np.testing.assert_allclose(whole("blur", frames, sigma), blurred, atol=0.01)
    every = np.round(np.stack(blurred) * 100).astype(
        np.uint16
    )  # hundredths, through the same cutting into patches
    halves = [patched((every >> 8 * part & 255).astype(np.uint8)).astype(int) for part in (0, 1)]
    np.testing.assert_allclose(of_patches("blur", frames, sigma), (halves[0] + 256 * halves[1]) / 100, atol=0.02)
    assert np.abs(of_patches("blur", frames, sigma) - patched(frames)).max() > 1


def test_more_pictures_than_opencv_has_channels_are_blurred_each_by_itself() -> None:
    pictures, shift = torch.rand(1, 300, 9, 9), apply_of(PARAMS, "blur")
    every = shift(pictures, torch.tensor([1.5]), STREAM, 0.2)
    alone = [shift(pictures[:, at : at + 1], torch.tensor([1.5]), STREAM, 0.2) for at in (0, 127, 128, 299)]
    torch.testing.assert_close(every[:, [0, 127, 128, 299]], torch.cat(alone, dim=1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("quality", [7.0, 50.0])
def test_patches_are_coded_as_the_whole_frame_is_by_opencv(frames: np.ndarray, quality: float) -> None:
    files = [cv2.imencode(".jpg", f, [cv2.IMWRITE_JPEG_QUALITY, round(quality)])[1] for f in frames]
    coded = np.stack([cv2.imdecode(file, cv2.IMREAD_GRAYSCALE) for file in files])
    np.testing.assert_allclose(whole("jpeg", frames, quality), coded, atol=1e-3)
    np.testing.assert_allclose(of_patches("jpeg", frames, quality), patched(coded), atol=1e-3)


def test_a_patch_that_is_no_whole_number_of_blocks_is_coded_by_itself() -> None:
    shift = apply_of(PARAMS, "jpeg")
    flat = shift(torch.full((1, 2, 3, 12, 20), 0.5), torch.tensor([50.0]), STREAM, 0.2)
    assert flat.shape == (1, 2, 3, 12, 20) and torch.allclose(flat, torch.tensor(0.5), atol=0.01)


def test_brightness_and_gamma_correction_are_what_opencv_makes_of_the_pixels(frames: np.ndarray) -> None:
    light = cv2.add(frames, np.full_like(frames, 51))  # saturates
    np.testing.assert_allclose(whole("brightness", frames, 0.2), light, atol=1e-3)
    table = 255 * (np.arange(256) / 255) ** 1.5
    np.testing.assert_allclose(whole("gamma_correction", frames, 1.5), table[frames], atol=0.01)


def clean(batch: int = 200, time: int = 6) -> Tensor:
    """Sequences of which every frame says which one it is: its number, plus a tenth of its sequence's."""
    return (torch.arange(time)[:, None] + torch.arange(batch)[:, None, None] / 1000 + 1).expand(1, -1, -1, 9)


def shifted(name: str, level: float, stream: Stream = STREAM) -> Tensor:
    return apply_of(PARAMS, name)(clean(), torch.tensor([level]), stream, 0.2)


def test_dropped_frames_are_black_and_the_others_as_they_were() -> None:
    black = (shifted("dropped_frames", 0.3) == 0).all(dim=-1)
    assert black.float().mean().item() == pytest.approx(0.3, abs=0.05)
    assert torch.equal(shifted("dropped_frames", 0.3)[~black], clean()[~black])


def test_a_repeated_frame_shows_what_the_one_before_showed() -> None:
    found, own = shifted("repeated_frames", 0.5), clean()
    assert torch.equal(found[:, :, 0], own[:, :, 0])
    stalls = (found[:, :, 1:] == found[:, :, :-1]).all(dim=-1)
    fresh = (found[:, :, 1:] == own[:, :, 1:]).all(dim=-1)
    assert (stalls ^ fresh).all() and stalls.float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_shuffled_frames_are_the_same_frames() -> None:
    found, own = shifted("shuffled_frames", 1.0), clean()
    assert torch.equal(found.sort(dim=2).values, own) and not torch.equal(found, own)
    moved = (shifted("shuffled_frames", 0.5) != own).any(dim=-1).any(dim=-1).float().mean().item()
    assert moved == pytest.approx(0.5, abs=0.1)


def test_missing_patches_are_black_squares() -> None:
    side = PARAMS.shifts["missing_patches"]["side"]
    found = apply_of(PARAMS, "missing_patches")(torch.ones(1, 50, 4, 16, 20), torch.tensor([0.3]), STREAM, 0.2)
    assert found.mean().item() == pytest.approx(0.7, abs=0.05)
    for square in (found[..., :side, :side], found[..., side:, side : 2 * side], found[..., :side, 2 * side :]):
        share = square.flatten(-2).mean(dim=-1)
        assert set(share.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("name", NESTED)
def test_what_is_hit_at_a_level_is_hit_at_every_higher_one(name: str) -> None:
    inputs = torch.rand(1, 60, 6, 16, 16) if name == "missing_patches" else clean()
    every = [apply_of(PARAMS, name)(inputs, torch.tensor([level]), STREAM, 0.2) for level in (0.0, 0.2, 0.6, 1.0)]
    assert torch.equal(every[0], inputs)
    hit = [(noisy != inputs).flatten(3).any(dim=-1) for noisy in every]
    if name == "repeated_frames":  # a frame that stalls may by then show another one
        assert [part.sum().item() for part in hit] == sorted(part.sum().item() for part in hit)
        return
    for less, more in pairwise(hit):
        assert (more | ~less).all() and more.sum() > less.sum()


@pytest.mark.parametrize(
    ("shift", "levels", "told"),
    [
        ("blur", [4.0], "shifts.blur is not right:\n  levels.0: Input should be less than or equal to 3, not 4.0"),
        ("jpeg", [0.0], "greater than or equal to 1"),
        ("jpeg", [12.5], "levels.0: Input should be a multiple of 1, not 12.5"),
        ("brightness", [-2.0], "greater than or equal to -1"),
        ("gamma_correction", [0.0], "greater than 0"),
        ("missing_patches", [1.5], "less than or equal to 1"),
        ("dropped_frames", None, "shifts.dropped_frames is not right:\n  levels: Input should be a valid array"),
    ],
)
def test_a_level_out_of_a_shifts_range_is_told(shift: str, levels: list | None, told: str) -> None:
    with pytest.raises(UserError) as error:
        levels_of(small_params({f"shifts.{shift}": {"levels": levels}}), "video", shift, [])
    assert told in str(error.value)


@pytest.mark.parametrize("length", [-2.0, 0.0, 33.0, math.nan, math.inf])
def test_a_length_of_correlation_that_is_none_or_needs_endless_surroundings_is_told(length: float) -> None:
    with pytest.raises(UserError, match=r"shifts.correlated is not right:\n  length: "):
        apply_of(small_params({"shifts.correlated": {"length": length}}), "correlated")


@pytest.mark.parametrize("side", [0, 257, 2**31 - 1])
def test_a_side_of_missing_patches_that_is_none_or_of_no_picture_is_told(side: int) -> None:
    with pytest.raises(UserError, match=r"shifts.missing_patches is not right:\n  side: "):
        apply_of(small_params({"shifts.missing_patches": {"side": side}}), "missing_patches")


def test_every_shift_has_a_section_and_levels(tmp_path: Path) -> None:
    for name in components.names("shifts"):
        task = components.load("shifts", name).TASKS[0]
        found = levels_of(PARAMS, task, name, [0.13])
        assert len(found) >= 2 and found == sorted(found), name
