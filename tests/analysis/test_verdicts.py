"""The statistics of a claim: against closed forms, other libraries, and simulations of what they promise."""

from itertools import product

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
    wrong = np.isin(verdicts.decide(card), ["reproduced", "reversed"])
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


@pytest.mark.parametrize("settings", [1, 3, 4, 7, 8, 27])
def test_a_trimmed_mean_drops_a_quarter_at_either_end(settings: int) -> None:
    values = np.random.default_rng(settings).standard_normal((settings, 2, 3))
    cut = settings // 4
    expected = np.sort(values, axis=0)[cut : settings - cut].mean(axis=0)
    np.testing.assert_allclose(verdicts.trimmed(values), expected)
    np.testing.assert_allclose(verdicts.trimmed(values), stats.trim_mean(values, 0.25, axis=0))
    one_off = np.concatenate([values, np.full((1, 2, 3), 1e9)])
    assert (settings < 3) or verdicts.trimmed(one_off).max() < 3


def test_the_variance_without_items_is_that_of_a_t_test() -> None:
    values = np.array([0.3, 0.1, 0.4, -0.1, 0.5, 0.9])
    found = Estimate.of(np.repeat(values[:, None], 20, axis=1), 50)
    told = stats.ttest_1samp(values, 0.05)
    expected = told.confidence_interval(0.95)
    np.testing.assert_allclose(found.interval(0.95), (expected.low, expected.high))
    assert float(found.p(0.05)) == pytest.approx(told.pvalue) and float(found.freedom) == 5


def test_the_variance_is_that_of_two_crossed_factors() -> None:
    """(MS_seed + MS_item - MS_rest) / (K J), for a mean over items and the bootstrap's variance in closed form."""
    generator, seeds, items = np.random.default_rng(3), 7, 15
    effects = (
        generator.standard_normal((seeds, items))
        + generator.standard_normal((1, items))
        + generator.standard_normal((seeds, 1))
    )
    drawn = generator.multinomial(items, np.full(items, 1 / items), size=200_000) / items
    found = Estimate.of(np.concatenate([effects.mean(axis=1, keepdims=True), effects @ drawn.T], axis=1), items)
    by_seed, by_item, mean = effects.mean(axis=1), effects.mean(axis=0), effects.mean()
    rest = effects - by_seed[:, None] - by_item + mean
    squares = (
        items * by_seed.var(ddof=1),
        seeds * by_item.var(ddof=1),
        (rest**2).sum() / ((seeds - 1) * (items - 1)),
    )
    expected = (squares[0] + squares[1] - squares[2]) / (seeds * items)
    assert float(found.error) ** 2 == pytest.approx(expected, rel=0.02)
    freedom = (squares[0] + squares[1] - squares[2]) ** 2 / (
        squares[0] ** 2 / 6 + squares[1] ** 2 / 14 + squares[2] ** 2 / 84
    )
    assert float(found.freedom) == pytest.approx(freedom, rel=0.05)


def test_one_more_seed_lies_in_the_prediction_interval() -> None:
    seeds = np.random.default_rng(4).standard_normal((4000, 9))
    found = Estimate.of(np.repeat(seeds[:, :8, None], 3, axis=2), 30)
    low, high = found.prediction()
    assert np.mean((low <= seeds[:, 8]) & (seeds[:, 8] <= high)) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize(("seeds", "items"), [(1, 30), (8, 1), (8, 0)])
def test_of_one_seed_or_one_item_no_interval_is_known(seeds: int, items: int) -> None:
    found = Estimate.of(np.full((seeds, 5), 0.1), items)
    assert float(found.value) == pytest.approx(0.1)
    assert np.isnan([*found.interval(0.95), found.p(0.0), *found.prediction()]).all()


def test_signs_are_flipped_in_every_way() -> None:
    for values in np.random.default_rng(5).standard_normal((20, 4)):
        means = [abs(np.mean(np.array(signs) * values)) for signs in product([1, -1], repeat=4)]
        expected = np.mean([mean >= abs(values.mean()) - 1e-12 for mean in means])
        assert float(verdicts.sign_flip(values)) == expected
    assert float(verdicts.sign_flip(np.full(8, 0.3))) == 2 / 2**8 and float(verdicts.sign_flip(np.zeros(6))) == 1
    assert stats.permutation_test(
        (np.array([0.3, 0.1, 0.4, -0.1, 0.5]),), np.mean, permutation_type="samples"
    ).pvalue == pytest.approx(float(verdicts.sign_flip(np.array([0.3, 0.1, 0.4, -0.1, 0.5]))))


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_less_and_never_falls() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005, np.nan, 0.5])
    expected = [0.05, 0.12, 0.12, 0.03, np.nan, 1.0]
    np.testing.assert_allclose(verdicts.holm(p), expected)
    generator = np.random.default_rng(6)
    for row in generator.uniform(0, 0.2, (50, 5)):
        rejected = {place for place in range(5) if verdicts.holm(row)[place] < 0.05}
        stepped, order = set(), np.argsort(row)
        for step, place in enumerate(order):  # the procedure in Holm's own words
            if row[place] * (5 - step) >= 0.05:
                break
            stepped.add(int(place))
        assert rejected == stepped
    np.testing.assert_array_equal(verdicts.holm(np.stack([p, p[::-1]]))[1], verdicts.holm(p[::-1]))


@pytest.mark.parametrize(("won", "of"), [(0, 5), (5, 5), (17, 27), (36, 36)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_shares_are_exact_and_a_tie_lies_between(won: int, of: int, level: float) -> None:
    expected = stats.binomtest(won, of).proportion_ci(level, "exact")
    assert verdicts.exact_share(won, of, level) == pytest.approx((expected.low, expected.high))
    if won < of:
        low, high = verdicts.exact_share(won + 0.5, of, level)
        assert expected.low < low and expected.high < high


def test_nearly_all_needs_thirty_six_of_thirty_six() -> None:
    assert verdicts.exact_share(36, 36, 0.95)[0] > 0.9 > verdicts.exact_share(35, 35, 0.95)[0]
    assert verdicts.exact_share(99, 100, 0.95)[0] > 0.9


ROW = {
    "kind": "gain",
    "estimate": 0.02,
    "low": 0.01,
    "high": 0.03,
    "low90": 0.012,
    "high90": 0.028,
}
ROW |= {"p_holm": 0.01, "effect": 0.01, "why": ""}
UP = {"estimate": 0.95, "low": 0.92, "high": 0.99, "low90": 0.93, "high90": 0.98, "p_holm": np.nan}
DOWN = {"estimate": 0.2, "low": 0.1, "high": 0.3, "low90": 0.12, "high90": 0.28, "p_holm": np.nan}
WIDE = {"low": -0.5, "high": 0.9, "low90": -0.4, "high90": 0.8}
NEAR = {"estimate": 0.001, "low": 0.0002, "high": 0.0018, "low90": 0.0004, "high90": 0.0016}
LOST = {"estimate": -0.02, "low": -0.03, "high": -0.01, "low90": -0.028, "high90": -0.012}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "reproduced"),
        ({"why": "synthetic data"}, "not tested"),
        ({"p_holm": 0.05}, "cannot tell"),
        ({"effect": 0.021}, "cannot tell"),
        (WIDE, "cannot tell"),
        (NEAR, "no effect of interest"),
        (LOST, "reversed"),
        (LOST | {"p_holm": 0.06}, "cannot tell"),
        (LOST | {"effect": 0.029}, "no effect of interest"),
        ({name: np.nan for name in ROW if name not in ("kind", "effect", "why")}, "cannot tell"),
        (NEAR | {"kind": "cost"}, "reproduced"),
        (NEAR | {"kind": "cost", "p_holm": 0.06}, "cannot tell"),
        (LOST | {"kind": "cost"}, "reproduced"),
        ({"kind": "cost", "effect": 0.005}, "not reproduced"),
        ({"kind": "cost", "effect": 0.02}, "cannot tell"),
        (UP | {"kind": "share", "effect": 0.9}, "reproduced"),
        (UP | {"kind": "share", "effect": 0.95}, "cannot tell"),
        (DOWN | {"kind": "share", "effect": 0.5}, "not reproduced"),
        (NEAR | {"kind": "equivalence", "p_holm": np.nan}, "reproduced"),
        ({"kind": "equivalence", "effect": 0.005}, "not reproduced"),
        ({"kind": "equivalence"}, "cannot tell"),
    ],
)
def test_the_rule(changes: dict, expected: str) -> None:
    assert verdicts.decide(pd.DataFrame([ROW | changes])).tolist() == [expected] and expected in verdicts.VERDICTS
