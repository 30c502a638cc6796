"""The mean that lays no seed beside another, against Welch's t, the verdicts' own statistic and simulations."""

import numpy as np
import pytest
from scipy import stats

from descent.analysis.verdicts import Estimate
from descent.published.unmatched import Unmatched

ITEMS, RESAMPLES = 40, 120
APART = (0, 1, 1)  # three settings of two parts


def drawn(
    generator: np.random.Generator, simulations: int, seeds: int, noise: tuple[float, float, float]
) -> np.ndarray:
    """E_skb of the settings APART about zero, in `simulations`: what a seed does to its part and a part's spread
    are its own, what an item does is shared by all, and each seed has some of its own."""
    resamples = generator.integers(0, ITEMS, (RESAMPLES, ITEMS))
    rows = np.vstack([np.arange(ITEMS), resamples])
    weights = np.stack([np.bincount(row, minlength=ITEMS) for row in rows]) / ITEMS
    item = noise[1] * np.sqrt(ITEMS) * generator.standard_normal((simulations, 1, ITEMS))
    of_part = []
    for spread in (2.0, 0.5):
        seed = noise[0] * np.sqrt(seeds) * generator.standard_normal((simulations, seeds, 1))
        both = noise[2] * np.sqrt(seeds * ITEMS) * generator.standard_normal((simulations, seeds, ITEMS))
        of_part.append(item + spread * (seed + both))
    return np.stack([of_part[part] @ weights.T for part in APART])


def test_without_noise_of_items_it_is_welchs_t() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.normal(0.3, 1, 8), generator.normal(0.1, 4, 8)
    effects = np.repeat(np.stack([one, other])[..., None], 4, axis=-1)
    found = Unmatched.over(effects, ["a", "b"], ITEMS)
    welch = stats.ttest_ind(one, -other, equal_var=False)
    ends = welch.confidence_interval(0.95)
    assert found.numbers() == pytest.approx(((one.mean() + other.mean()) / 2, ends.low / 2, ends.high / 2))
    assert found.p(0.0).item() == pytest.approx(welch.pvalue)


def test_settings_of_one_part_have_the_verdicts_own_statistic() -> None:
    effects = drawn(np.random.default_rng(2), 3, 6, (1, 1, 1))
    found, same = Unmatched.over(effects, [0, 0, 0], ITEMS), Estimate.of(effects.mean(axis=0), ITEMS)
    for name in ("value", "error", "freedom"):
        assert getattr(found, name) == pytest.approx(getattr(same, name))


def test_no_order_of_the_seeds_of_a_part_changes_it_and_one_within_a_part_does() -> None:
    effects = drawn(np.random.default_rng(3), 1, 8, (1, 1, 1))[:, 0]
    found = Unmatched.over(effects, APART, ITEMS)
    turned = effects.copy()
    turned[1:] = effects[1:, ::-1]
    assert Unmatched.over(turned, APART, ITEMS).numbers() == pytest.approx(found.numbers())
    assert Estimate.of(turned.mean(axis=0), ITEMS).numbers() != pytest.approx(found.numbers())
    effects[1] *= np.linspace(-1, 3, 8)[:, None]  # so that the two of a part are unlike
    before = Unmatched.over(effects, APART, ITEMS).numbers()
    effects[1] = effects[1, ::-1].copy()
    assert Unmatched.over(effects, APART, ITEMS).numbers() != pytest.approx(before)


@pytest.mark.parametrize("seeds", [6, 8])
@pytest.mark.parametrize("noise", [(1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1)], ids=str)
def test_the_interval_holds_the_truth_as_often_as_it_says(seeds: int, noise: tuple[float, float, float]) -> None:
    found = Unmatched.over(drawn(np.random.default_rng(seeds), 2000, seeds, noise), APART, ITEMS)
    for level, least, most in ((0.95, 0.93, 0.97), (0.90, 0.87, 0.935)):
        low, high = found.interval(level)
        assert least <= np.mean((low <= 0) & (high >= 0)) <= most
