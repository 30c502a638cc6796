"""The statistics of a claim: against closed forms and other libraries, and the rule that makes them a verdict."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis import verdicts
from descent.analysis.verdicts import Estimate


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


def test_of_many_seeds_signs_are_drawn() -> None:
    values = np.random.default_rng(3).normal(0.9, 1.0, 18)
    signs = 1.0 - 2.0 * (np.arange(2**18)[:, None] >> np.arange(18) & 1)
    exact = (np.abs(signs @ values) >= abs(values.sum()) - 1e-12).mean()
    drawn = float(verdicts.sign_flip(values))
    assert drawn == float(verdicts.sign_flip(values)) and drawn == pytest.approx(exact, rel=0.05) and exact < 0.03
    assert float(verdicts.sign_flip(np.ones(40))) == 2**-verdicts.MANY, "the choice that was seen is among them"


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
        ({"effect": 0.029}, "no effect of interest"),  # between the ends of the 90 and the 95 % interval
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
        ({"kind": "equivalence", "effect": 0.011}, "cannot tell"),
        ({"kind": "equivalence", "effect": 0.029}, "reproduced"),
    ],
)
def test_the_rule(changes: dict, expected: str) -> None:
    assert verdicts.decide(pd.DataFrame([ROW | changes])).tolist() == [expected] and expected in verdicts.VERDICTS


def test_a_loss_smaller_than_what_matters_is_said_to_be() -> None:
    row = {"verdict": "reversed", "estimate": -0.008, "effect": 0.01}
    assert verdicts.matters_little(row) and not verdicts.matters_little(row | {"estimate": -0.02})
    assert not verdicts.matters_little(row | {"verdict": "cannot tell"})
