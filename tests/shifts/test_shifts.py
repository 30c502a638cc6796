"""Shifts: training's own noise at other levels, and salt and pepper as scikit-image makes it."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from skimage.util import random_noise
from torch import Tensor

from descent.errors import UserError
from descent.shifts import gaussian, salt_and_pepper
from descent.tasks.common.shifted import apply_of, check, levels_of
from descent.training.noise import Stream, generator
from tests.fakes.core import small_params

LEVELS = [0.0, 0.05, 0.1, 0.3, 0.9]
SETTINGS = salt_and_pepper.Settings(levels=None, salt_vs_pepper=0.5)


def gray(*shape: int) -> Tensor:
    """Pixels well inside (0, 1): which ones turned can be told."""
    return 0.25 + 0.5 * torch.rand(shape, generator=torch.Generator().manual_seed(3))


def turned(clean: Tensor, level: float, stream: Stream, settings: salt_and_pepper.Settings = SETTINGS) -> Tensor:
    return salt_and_pepper.apply(clean, torch.tensor([level]), stream, 0.2, settings)


def test_gaussian_is_the_noise_of_training_at_another_level() -> None:
    clean, stream = gray(1, 6, 5, 4), Stream(1, 2, 3)
    levels = torch.tensor([0.0, 0.5, 2.0])
    noisy = gaussian.apply(clean, levels, stream, 0.3, gaussian.Settings(levels=None))
    unit = torch.randn((1, 6, 5, 4), generator=generator(1, 2, 3))
    torch.testing.assert_close(noisy, clean + levels.view(3, 1, 1, 1) * 0.3 * unit)


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("white", [0.5, 0.2])
def test_salt_and_pepper_is_scikit_images(level: float, white: float) -> None:
    clean, stream = gray(1, 6, 40, 30), Stream(5, 6)
    settings = salt_and_pepper.Settings(levels=None, salt_vs_pepper=white)
    noisy = turned(clean, level, stream, settings)
    options = {"amount": level, "salt_vs_pepper": white, "rng": Stream(5, 6).numpy()}
    expected = random_noise(clean.numpy(), mode="s&p", **options)
    assert noisy.dtype == torch.float32 and noisy.shape == clean.shape
    np.testing.assert_array_equal(noisy.numpy(), expected.astype(np.float32))
    changed = noisy != clean
    count = clean.numel()
    assert changed.float().mean().item() == pytest.approx(level, abs=4 * np.sqrt(level / count))
    assert set(noisy[changed].unique().tolist()) == {0.0, 1.0}
    assert (noisy[changed] == 1).float().mean().item() == pytest.approx(white, abs=2 / np.sqrt(level * count))


def test_a_pixel_that_turns_turns_at_every_higher_amount() -> None:
    clean, stream = gray(1, 6, 40, 30), Stream(5, 6)
    noisy = [turned(clean, level, stream) for level in LEVELS]
    assert torch.equal(noisy[0], clean), "of the amount 0 it is the identity"
    for less, more in pairwise(noisy):
        before = less != clean
        assert (more[before] == less[before]).all(), "to the same end"
        assert (more != clean).sum() > before.sum()
    assert (turned(clean, 1.0, stream) != clean).all()


def test_salt_and_pepper_follows_the_key_and_no_sigma() -> None:
    clean = gray(1, 6, 40, 30)
    one, again, other = (turned(clean, 0.3, Stream(*key)) for key in ((5, 6), (5, 6), (5, 7)))
    assert torch.equal(one, again) and not torch.equal(one, other)
    louder = salt_and_pepper.apply(clean, torch.tensor([0.3]), Stream(5, 6), 99.0, SETTINGS)
    assert torch.equal(louder, one)


def test_cells_of_a_stack_have_their_own_level_and_share_the_pixels_that_turn() -> None:
    clean, levels = gray(1, 6, 40, 30), torch.tensor([0.1, 0.3, 0.0])
    noisy = salt_and_pepper.apply(clean, levels, Stream(5, 6), 0.2, SETTINGS)
    assert noisy.shape == (3, 6, 40, 30)
    for own, level in zip(noisy, levels.tolist(), strict=True):
        assert torch.equal(own[None], turned(clean, level, Stream(5, 6)))


def test_a_shift_has_its_own_levels_or_those_of_the_sweep() -> None:
    params = small_params({"shifts.salt_and_pepper": {"levels": [0.3, 0, 0.1]}})
    assert levels_of(params, "video", "salt_and_pepper", [0.13]) == [0.0, 0.1, 0.3]
    assert levels_of(params, "video", "gaussian", [0.13]) == [0.0, 0.13, 0.25, 0.5, 1.0]
    none = small_params({"shifts.salt_and_pepper": {"levels": None}})
    assert levels_of(none, "video", "salt_and_pepper", [0.13]) == none.video.evaluation.energies
    apply, clean = apply_of(params, "salt_and_pepper"), gray(1, 6, 40, 30)
    assert torch.equal(apply(clean, torch.tensor([0.3]), Stream(5, 6), 0.2), turned(clean, 0.3, Stream(5, 6)))


@pytest.mark.parametrize(
    ("shift", "changes", "told"),
    [
        ("gaussian", {"levels": [0.1]}, "shifts.gaussian.levels must be null"),
        ("salt_and_pepper", {"amount": 0.1}, "shifts.salt_and_pepper is not right:\n  amount: unknown key"),
        ("salt_and_pepper", {"salt_vs_pepper": 2.0}, "less than 1"),
        ("salt_and_pepper", {"levels": [-0.1]}, "greater than or equal to 0"),
    ],
)
def test_a_wrong_section_of_a_shift_is_told(shift: str, changes: dict, told: str) -> None:
    with pytest.raises(UserError) as error:
        levels_of(small_params({f"shifts.{shift}": changes}), "video", shift, [])
    assert told in str(error.value)


@pytest.mark.parametrize("where", ["video.evaluation.shifts", "profiles.demo.video.shifts"])
def test_the_sections_of_all_shifts_in_use_of_a_task_are_checked_and_no_others(where: str) -> None:
    wrong = {"shifts.blur": {"levels": [30.0]}}
    check(small_params(wrong), "video")
    check(small_params(wrong | {where: ["gaussian", "blur"]}), "text")
    with pytest.raises(UserError, match=r"shifts\.blur is not right"):
        check(small_params(wrong | {where: ["gaussian", "blur"]}), "video")
