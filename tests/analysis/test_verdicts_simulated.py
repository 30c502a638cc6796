"""The statistics of a claim against simulations: intervals and verdicts are wrong as seldom as they promise."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis import verdicts
from descent.analysis.verdicts import Estimate

MARGINS = {
    "video_ood": 0.01,
    "video_cost": 0.015,
    "text_ood": 0.01,
    "text_cost": 0.005,
    "alpha_ood": 0.02,
    "lm_ood": 0.01,
}


def scores(
    generator: np.random.Generator, shape: tuple[int, int], items: int, seed: float, item: float, both: float
) -> np.ndarray:
    """T_kb of `shape` = (simulations, seeds), 120 resamples, around zero; noise in units of the mean of T_k0."""
    simulations, seeds = shape
    drawn = generator.integers(0, items, (120, items))
    weights = np.stack([np.bincount(row, minlength=items) for row in np.vstack([np.arange(items), drawn])]) / items
    effects = both * np.sqrt(seeds * items) * generator.standard_normal((simulations, seeds, items))
    effects += item * np.sqrt(items) * generator.standard_normal((simulations, 1, items))
    effects += seed * np.sqrt(seeds) * generator.standard_normal((simulations, seeds, 1))
    return effects @ weights.T


@pytest.mark.parametrize("seeds", [6, 8])
@pytest.mark.parametrize("items", [20, 60, 200])
@pytest.mark.parametrize(
    "noise",
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 3, 0), (3, 1, 0), (1, 1, 1), (0, 1, 1), (1, 0, 1)],
    ids=str,
)
def test_the_interval_holds_the_truth_as_often_as_it_says(seeds: int, items: int, noise: tuple) -> None:
    simulations = 1200 if items == 200 else 3000
    found = Estimate.of(scores(np.random.default_rng(seeds * items), (simulations, seeds), items, *noise), items)
    for level, low, high in ((0.95, 0.93, 0.97), (0.90, 0.87, 0.935)):
        ends = found.interval(level)
        assert low <= np.mean((ends[0] <= 0) & (ends[1] >= 0)) <= high


def test_the_interval_holds_for_trimmed_settings_of_data_sets_of_different_size() -> None:
    """Nine settings, three a data set, whose noise is their own; J is the smallest number of items."""
    generator, simulations, seeds = np.random.default_rng(7), 1000, 8
    settings = []
    for items in (12, 20, 100):
        shared = scores(generator, (simulations, seeds), items, 0.3, 1, 0)
        settings += [
            spread * (shared + scores(generator, (simulations, seeds), items, 1, 0.5, 0.5)) for spread in (1, 2, 3)
        ]
    found = Estimate.of(verdicts.trimmed(np.stack(settings)), 12)
    low, high = found.interval(0.95)
    assert 0.93 <= np.mean((low <= 0) & (high >= 0)) <= 0.975


def test_adding_the_two_variances_with_one_less_than_seeds_degrees_of_freedom_is_too_wide() -> None:
    """Why the variance and its degrees of freedom are what they are."""
    found = Estimate.of(scores(np.random.default_rng(0), (3000, 6), 60, 0, 0, 1), 60)
    reach = stats.t.ppf(0.975, 5) * np.sqrt(found.between + found.items)
    assert np.mean(np.abs(found.value) <= reach) > 0.99


def card_of(found: dict[str, Estimate], simulations: int) -> pd.DataFrame:
    """The six primary claims of every simulation as rows that `decide` reads."""
    p, parts = [], []
    for name, estimate in found.items():
        kind = "cost" if name.endswith("cost") else "gain"
        null = MARGINS[name] if kind == "cost" else 0.0
        flip = verdicts.sign_flip(estimate.by_seed - null)
        p.append(np.maximum(estimate.p(null), flip))
        (low, high), (low90, high90) = estimate.interval(0.95), estimate.interval(0.9)
        numbers = {"estimate": estimate.value, "low": low, "high": high, "low90": low90, "high90": high90}
        parts.append(pd.DataFrame(numbers).assign(kind=kind, effect=MARGINS[name], why="", claim=name))
    adjusted = verdicts.holm(np.stack(p, axis=1))
    card = pd.concat([part.assign(p_holm=adjusted[:, place]) for place, part in enumerate(parts)])
    return card.assign(simulation=np.tile(np.arange(simulations), len(found)))


@pytest.mark.parametrize("noise", [(1, 0, 0), (0, 1, 0), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("size", [0.002, 0.02, 0.2])
def test_at_most_one_family_of_primaries_in_twenty_is_wrong_where_nothing_has_an_effect(
    noise: tuple, size: float
) -> None:
    """Gains are zero and costs at their margins, which a small cost is not; noise from far below to far above the
    effects of interest."""
    generator, simulations = np.random.default_rng(1), 3000
    found = {}
    for name, margin in MARGINS.items():
        truth = margin if name.endswith("cost") else 0.0
        found[name] = Estimate.of(truth + size * scores(generator, (simulations, 8), 40, *noise), 40)
    card = card_of(found, simulations)
    wrong = np.isin(verdicts.decide(card), ["reproduced", "reversed", "not reproduced"])
    assert (
        pd.Series(wrong).groupby(card["simulation"].to_numpy()).any().mean() <= 0.05 + 0.006
    )  # 1.5 standard errors of so many


def test_an_effect_is_found_where_there_is_one() -> None:
    generator, simulations = np.random.default_rng(2), 300
    truth = {
        "video_ood": 0.05,
        "video_cost": 0.0,
        "text_ood": -0.05,
        "text_cost": 0.03,
        "alpha_ood": 0.0,
        "lm_ood": 0.0,
    }
    found = {
        name: Estimate.of(value + 0.001 * scores(generator, (simulations, 8), 40, 1, 1, 0), 40)
        for name, value in truth.items()
    }
    card = card_of(found, simulations)
    said = pd.Series(verdicts.decide(card)).groupby(card["claim"].to_numpy()).agg(lambda words: words.mode()[0])
    assert said.to_dict() == {
        "video_ood": "reproduced",
        "video_cost": "reproduced",
        "text_ood": "reversed",
        "text_cost": "not reproduced",
        "alpha_ood": "no effect of interest",
        "lm_ood": "no effect of interest",
    }
