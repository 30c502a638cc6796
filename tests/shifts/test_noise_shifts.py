"""Noise of other kinds: as strong as Gaussian noise by a closed form, and distributed as its name says."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import brentq
from skimage.util import random_noise
from torch import Tensor

from descent import components
from descent.errors import UserError
from descent.shifts import correlated, laplace, poisson, sparse, speckle, token_dropout, token_replacement, uniform
from descent.tasks.common.shifted import Shifted, apply_of
from descent.training.noise import Stream
from tests.fakes.core import small_params

SIGMA, ENERGIES = 0.2, [0.15, 0.3, 0.45, 0.6]
PARAMS = small_params()
OF_ENERGY = [name for name in components.names("shifts") if components.load("shifts", name).ENERGY]
VIDEO = [name for name in OF_ENERGY if "video" in components.load("shifts", name).TASKS]


def pictures() -> Tensor:
    """A clean batch of one cell, sequences of 16 x 16 pixels in [0, 1] with dark and light parts."""
    return torch.rand(1, 300, 5, 16, 16, generator=torch.Generator().manual_seed(3)) ** 2


def error(shift: Shifted, clean: Tensor, level: float) -> float:
    noisy = shift(clean, torch.tensor([level]), Stream(1, 2), SIGMA)
    return (noisy - clean).double().square().mean().sqrt().item()


@pytest.mark.parametrize("name", VIDEO)
def test_at_the_strength_that_is_chosen_the_identity_errs_as_under_gaussian_noise(name: str) -> None:
    shift, clean = apply_of(PARAMS, name), pictures()
    moments = clean.double().mean().item(), clean.double().square().mean().item()
    strengths = shift.strengths(ENERGIES, SIGMA, *moments)
    for energy, strength in zip(ENERGIES, strengths, strict=True):
        assert error(shift, clean, strength) == pytest.approx(energy * SIGMA, rel=0.05)
    assert all(less < more for less, more in pairwise(strengths))


def test_the_closed_form_of_a_strength_is_what_a_search_finds() -> None:
    clean = pictures()
    moments = clean.double().mean().item(), clean.double().square().mean().item()
    for name in (name for name in VIDEO if apply_of(PARAMS, name).converts):
        shift = apply_of(PARAMS, name)
        (known,) = shift.strengths([0.6], SIGMA, *moments)
        found = brentq(lambda level, shift=shift: error(shift, clean, level) - 0.6 * SIGMA, 1e-4, 0.5, xtol=1e-4)
        assert known == pytest.approx(found, rel=0.05), name


@pytest.mark.parametrize(
    ("module", "distribution"),
    [(uniform, stats.uniform(-math.sqrt(3), 2 * math.sqrt(3))), (laplace, stats.laplace(scale=math.sqrt(0.5)))],
)
def test_uniform_and_laplace_noise_are_distributed_as_scipy_says(module, distribution) -> None:
    clean = torch.zeros(1, 20, 50, 30)
    noise = module.apply(clean, torch.ones(1), Stream(4), 1.0, module.Settings(levels=None)).flatten().numpy()
    assert np.isfinite(noise).all() and stats.kstest(noise, distribution.cdf).pvalue > 0.01
    normal = torch.randn(noise.shape, generator=torch.Generator().manual_seed(1)).numpy()
    assert stats.kstest(normal, distribution.cdf).pvalue < 1e-6, "the test can tell them apart"


def test_laplace_noise_is_finite_in_the_farthest_tail() -> None:
    class Far(Stream):
        def normal(self, *shape: int) -> Tensor:
            return torch.tensor([-7.0, 0.0, 7.0]).view(shape)

    noise = laplace.apply(
        torch.zeros(1, 1, 1, 3), torch.ones(1), Far(0), 1.0, laplace.Settings(levels=None)
    ).ravel()
    exact = -stats.norm.logsf(7.0) - math.log(2)  # -ln P(|N| > 7)
    np.testing.assert_allclose(noise, np.array([-1, 0, 1]) * exact / math.sqrt(2), rtol=1e-4)


def test_speckle_is_scikit_images_and_poisson_has_the_variance_of_counts() -> None:
    clean = 0.25 + 0.5 * pictures()[:, :40].reshape(1, 200, 256)
    noise = speckle.apply(clean, torch.tensor([0.3]), Stream(4), 9.0, speckle.Settings(levels=None)) - clean
    other = random_noise(clean.double().numpy(), mode="speckle", var=0.09, clip=False, rng=1) - clean.numpy()
    dark, light = clean < 0.3, clean > 0.6
    for part in (dark, light):
        assert noise[part].std().item() == pytest.approx(other[part.numpy()].std(), rel=0.03)
    counted = poisson.apply(clean, torch.tensor([0.02]), Stream(4), 9.0, poisson.Settings(levels=None))
    for part in (dark, light):
        variance = (counted - clean)[part].var().item()
        assert variance == pytest.approx(0.02 * clean[part].mean().item(), rel=0.05)
    np.testing.assert_allclose(counted * 50, (counted * 50).round(), atol=1e-3)


def test_correlated_noise_has_the_correlation_of_its_length_and_no_edges() -> None:
    settings = correlated.Settings(levels=None, length=2.0)
    noise = correlated.apply(torch.zeros(1, 400, 16, 16), torch.ones(1), Stream(4), 1.0, settings)[0]
    flat = noise.flatten(1)
    assert flat.std().item() == pytest.approx(1, rel=0.03)
    assert noise[:, [0, -1]].std().item() == pytest.approx(1, rel=0.06), "the edge is as noisy as the middle"
    for distance in (1, 2, 4):
        found = (noise[..., distance:] * noise[..., :-distance]).mean().item()
        assert found == pytest.approx(math.exp(-(distance**2) / 16), abs=0.05)
    assert abs((noise[1:] * noise[:-1]).mean().item()) < 0.05, "every frame has its own"


def test_the_longest_correlation_leaves_a_patch_all_but_one_number() -> None:
    settings = correlated.Settings(levels=None, length=32.0)
    noise = correlated.apply(torch.zeros(1, 30, 16, 16), torch.ones(1), Stream(4), 1.0, settings)[0]
    assert noise.mean(dim=(1, 2)).std().item() == pytest.approx(1, rel=0.3)
    assert noise.std(dim=(1, 2)).max().item() < 0.4


def test_sparse_noise_hits_its_share_of_the_entries() -> None:
    settings = sparse.Settings(levels=None, share=0.1)
    noise = sparse.apply(torch.zeros(1, 20, 50, 30), torch.ones(1), Stream(4), 1.0, settings)
    hit = noise != 0
    assert hit.float().mean().item() == pytest.approx(0.1, rel=0.05)
    assert noise[hit].var().item() == pytest.approx(10, rel=0.05)


def test_token_dropout_loses_whole_tokens_with_the_energy_of_gaussian_noise() -> None:
    clean = torch.randn(2, 60, 40, 8, generator=torch.Generator().manual_seed(1)) + 0.2
    scale, settings = clean.flatten(1).std(dim=1), token_dropout.Settings(levels=None)
    real = torch.ones(60, 40, dtype=torch.bool)
    for level in (0.2, 0.8):
        noisy = token_dropout.apply(clean, torch.full((2,), level), Stream(4), scale, settings, real)
        lost = (noisy == 0).all(dim=-1)
        assert torch.equal(noisy[~lost], clean[~lost]), "and the others are as they were"
        assert (lost[0] != lost[1]).float().mean() < 0.01 < lost.float().mean(), "the cells lose the same ones"
        energy = (noisy - clean).flatten(1).square().mean(dim=1).sqrt()
        np.testing.assert_allclose(energy, level * scale, rtol=0.07)


def test_padding_is_no_part_of_the_energy_that_dropout_takes() -> None:
    clean = torch.randn(1, 60, 40, 8, generator=torch.Generator().manual_seed(1))
    real = torch.arange(40) < torch.linspace(10, 40, 60)[:, None]
    padded = torch.where(real[..., None], clean, 7.0)
    level, settings = torch.tensor([0.5]), token_dropout.Settings(levels=None)
    noisy = token_dropout.apply(padded, level, Stream(4), 1.0, settings, real)
    lost = (noisy == 0).all(dim=-1)[0]
    energy = (noisy - padded)[0, real].square().mean()
    assert energy.sqrt().item() == pytest.approx(0.5, rel=0.07)
    assert lost[~real].float().mean().item() == pytest.approx(0.25, rel=0.2), "drawn for all alike"


def test_replaced_tokens_are_any_of_the_real_ones_with_the_energy_of_gaussian_noise() -> None:
    clean = torch.randn(2, 300, 40, 8, generator=torch.Generator().manual_seed(1)) + 3.0
    scale, settings = clean.flatten(1).std(dim=1), token_replacement.Settings(levels=None)
    real = torch.arange(40) < torch.linspace(10, 40, 300)[:, None]
    padded = torch.where(real[..., None], clean, 50.0)
    places = {tuple(row): place for place, row in enumerate(clean[0, real].tolist())}
    for level in (0.4, 0.8):
        noisy = token_replacement.apply(padded, torch.full((2,), level), Stream(4), scale, settings, real)
        replaced = (noisy != padded).any(dim=-1) & real
        assert torch.equal(noisy[~replaced & real], padded[~replaced & real]), "and the others are as they were"
        energy = (noisy - padded)[:, real].flatten(1).square().mean(dim=1).sqrt()
        np.testing.assert_allclose(energy, level * scale, rtol=0.07)
    taken = np.array([places[tuple(row)] for row in noisy[0][replaced[0]].tolist()]) / len(places)
    assert np.abs(np.quantile(taken, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.1, "all of them alike"


def test_a_level_that_no_strength_reaches_is_told() -> None:
    with pytest.raises(UserError, match="salt_and_pepper: not even all pixels turned"):
        apply_of(PARAMS, "salt_and_pepper").strengths([9.0], SIGMA, 0.5, 0.3)
    with pytest.raises(UserError, match="token_dropout: level 2 has more energy than to hit all tokens"):
        settings = token_dropout.Settings(levels=None)
        real = torch.ones(3, 4, dtype=torch.bool)
        token_dropout.apply(torch.randn(1, 3, 4, 5), torch.tensor([2.0]), Stream(4), 1.0, settings, real)


@pytest.mark.parametrize(
    ("name", "changes"), [("poisson", {}), ("speckle", {}), ("salt_and_pepper", {"salt_vs_pepper": 0.0})]
)
def test_black_frames_have_no_light_that_a_strength_could_be_in_proportion_to(name: str, changes: dict) -> None:
    shift = apply_of(small_params({f"shifts.{name}": changes}), name)
    with pytest.raises(UserError, match=f"shifts.{name}: the test frames are black"):
        shift.strengths([0.3], SIGMA, 0.0, 0.0)


def test_black_frames_have_a_strength_where_pixels_turn_white() -> None:
    shift, clean = apply_of(PARAMS, "salt_and_pepper"), torch.zeros(1, 300, 5, 16, 16)
    (strength,) = shift.strengths([0.3], SIGMA, 0.0, 0.0)
    assert error(shift, clean, strength) == pytest.approx(0.3 * SIGMA, rel=0.05)


def test_noise_is_smoothed_once_for_all_levels_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    shift, clean, calls, original = apply_of(PARAMS, "correlated"), pictures()[:, :4], [], correlated.correlated
    monkeypatch.setattr(correlated, "correlated", lambda *told: calls.append(told) or original(*told))
    stream, other = Stream(1, 2), Stream(1, 3)
    first, second = (shift(clean, torch.tensor([level]), stream, SIGMA) - clean for level in (0.2, 0.4))
    torch.testing.assert_close(2 * first, second, rtol=1e-4, atol=1e-6)
    assert len(calls) == 1
    assert not torch.equal(shift(clean, torch.tensor([0.2]), other, SIGMA) - clean, first) and len(calls) == 2
