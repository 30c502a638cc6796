"""Similarity and peak signal-to-noise ratio of many pictures at once are scikit-image's of each alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from torch import Tensor

from descent.models.parts.denoiser import Denoiser
from descent.tasks.common.shifted import apply_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.video.quality import psnr, ssim
from descent.tasks.video.sweep import AtLevels, sweep
from descent.training.devices import exact
from descent.training.noise import TEST, Stream
from tests.fakes.core import small_params, write_prepared
from tests.fakes.video import SSIM


def pictures(count: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Smooth clean pictures, and what is left of them with more and more noise."""
    rng, (y, x) = np.random.default_rng(0), np.mgrid[:rows, :columns] / max(rows, columns)
    waves = [0.5 + 0.2 * np.sin(9 * x + a) + 0.2 * np.cos(7 * y * x + b) for a, b in rng.random((count, 2))]
    clean = np.stack(waves).astype(np.float32)
    noise = np.linspace(0, 0.5, count)[:, None, None] * rng.standard_normal(clean.shape)
    return np.clip(clean + noise, 0, 1).astype(np.float32), clean


@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (11, 11), (12, 30), (160, 160)])
def test_ssim_is_scikit_images_picture_by_picture(rows: int, columns: int) -> None:
    noisy, clean = pictures(7, rows, columns)
    expected = [structural_similarity(a, b, **SSIM) for a, b in zip(noisy, clean, strict=True)]
    found = ssim(torch.from_numpy(noisy), torch.from_numpy(clean))
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert float(found[0]) == pytest.approx(1) and found[-1] < 0.5, "from the picture itself to noise"


def test_ssim_is_scikit_images_where_a_picture_is_bright_and_hardly_varies() -> None:
    """Variances of .0001 beside squares of .8."""
    rng = np.random.default_rng(0)
    clean = (0.9 + 0.01 * rng.standard_normal((5, 16, 16))).clip(0, 1).astype(np.float32)
    noisy = (clean + 0.03 * rng.standard_normal(clean.shape)).clip(0, 1).astype(np.float32)
    expected = [
        structural_similarity(a, b, **SSIM) for a, b in zip(noisy.astype(float), clean.astype(float), strict=True)
    ]
    found = ssim(torch.from_numpy(noisy), torch.from_numpy(clean))
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert max(expected) < 0.9


def test_ssim_of_stacks_is_that_of_each() -> None:
    noisy, clean = map(torch.from_numpy, pictures(6, 16, 20))
    stacks = torch.stack([noisy, noisy.flip(0)])
    found = ssim(stacks, clean)
    torch.testing.assert_close(found, torch.stack([ssim(stack, clean) for stack in stacks]), rtol=0, atol=1e-6)
    assert (found[0] - found[1]).abs().max() > 0.1


def test_ssim_is_exact_in_whatever_precision_the_models_run() -> None:
    noisy, clean = map(torch.from_numpy, pictures(6, 16, 16))
    with torch.autocast("cpu", torch.bfloat16):
        found = ssim(noisy, clean)
    assert torch.equal(found, ssim(noisy, clean))


def test_scores_are_of_float32_whatever_products_the_models_use() -> None:
    """On a GPU `high` rounds products to ten bits; the setting is the caller's own again afterwards."""
    seen: list[str] = []
    torch.set_float32_matmul_precision("high")
    try:
        with exact(torch.device("cpu")), torch.autocast("cpu", torch.bfloat16, enabled=False):
            seen.append(torch.get_float32_matmul_precision())
        seen.append(torch.get_float32_matmul_precision())
    finally:
        torch.set_float32_matmul_precision("highest")
    assert seen == ["highest", "high"]


@pytest.mark.parametrize(("rows", "columns", "radius"), [(8, 8, 3), (10, 16, 4), (16, 7, 3), (9, 9, 4)])
def test_in_small_pictures_the_window_is_the_largest_that_lies_within(
    rows: int, columns: int, radius: int
) -> None:
    """scipy's filter, cut off at the radius; scikit-image knows no other cut than its own."""
    noisy, clean = (one.astype(float) for one in pictures(7, rows, columns))

    def mean(x: np.ndarray) -> np.ndarray:
        filtered = gaussian_filter(x, 1.5, axes=(1, 2), radius=radius)
        return filtered[:, radius : rows - radius, radius : columns - radius]

    x, y = mean(noisy), mean(clean)
    both = mean(noisy**2) - x**2 + mean(clean**2) - y**2
    alike = (
        (2 * x * y + 1e-4) * (2 * (mean(noisy * clean) - x * y) + 9e-4) / ((x**2 + y**2 + 1e-4) * (both + 9e-4))
    )
    found = ssim(torch.from_numpy(noisy), torch.from_numpy(clean))
    np.testing.assert_allclose(found, alike.mean((1, 2)), atol=2e-6)


def test_of_pictures_below_a_window_there_is_no_ssim() -> None:
    for shape in ((6, 16), (16, 6), (4, 4)):
        assert ssim(*map(torch.from_numpy, pictures(3, *shape))).isnan().all()


def test_psnr_is_scikit_images() -> None:
    for noisy, clean in zip(*pictures(7, 16, 16), strict=True):
        error = float(np.square(noisy.astype(np.float64) - clean).mean())
        if error == 0:
            assert psnr(error) == np.inf
        else:
            expected = peak_signal_noise_ratio(clean.astype(np.float64), noisy.astype(np.float64), data_range=1)
            assert psnr(error) == pytest.approx(expected)


class Halved(Denoiser):
    """Answers half of what it sees at layer 0, and what it sees at layer 1."""

    def states(self, noisy: Tensor) -> list[Tensor]:
        return [noisy / 2, noisy]

    def readout(self, state: Tensor) -> Tensor:
        return state


def test_the_sweep_gives_the_mean_ssim_of_the_clipped_last_answers_as_pictures(tmp_path: Path) -> None:
    prepared = write_prepared(tmp_path / "ucsd")
    rng = np.random.default_rng(1)
    frames = prepared.whole("test")
    big = rng.integers(0, 256, (len(frames), 16, 16), dtype=np.uint8)
    np.save(prepared.folder / "test.npy", big)
    settings = small_params({"video.evaluation": {"batch": 5, "noise_draws": 2}})
    noise = AtLevels(apply_of(settings, "gaussian"), [0.0, 0.5], [0.0, 0.5])
    frames, device = prepared.whole("test"), torch.device("cpu")
    [found] = sweep(Halved(), frames, [noise], 0.3, 1, Sweeping(settings.video.evaluation, device))
    clean, each = big.astype(np.float32) / 255, []
    for start in range(0, len(big), 5):
        own = clean[start : start + 5]
        for draw in range(2):
            unit = Stream(TEST, 5, start, draw).normal(1, *own.shape).numpy()[0]
            noisy = np.clip(own + 0.5 * 0.3 * unit, 0, 1)
            each += [structural_similarity(a, b, **SSIM) for a, b in zip(noisy, own, strict=True)]
    np.testing.assert_allclose(found.similarity[:, 0], [1, np.mean(each)], atol=1e-5)
