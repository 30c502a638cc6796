"""Resamples and their intervals, against what is known in closed form."""

import math
from unittest.mock import Mock

import numpy as np
import pytest

from descent.analysis import bootstrap, replicates
from descent.primal_dual.problem import Problem
from descent.schema import Evaluation

SETTINGS = Evaluation(
    gammas=[0.0], shifts=["gaussian"], energies=[0.3], noise_draws=1, seed=3, batch=1, bootstrap=50
)


def test_a_resample_draws_as_many_items_and_the_first_row_is_the_whole_set() -> None:
    table = bootstrap.counts(13, 7, (5,))
    assert table.shape == (8, 13) and (table[0] == 1).all() and (table.sum(axis=1) == 13).all()
    assert table.max() > 1 and len({tuple(row) for row in table}) == 8
    assert bootstrap.counts(3, 0, (5,)).tolist() == [[1, 1, 1]]


def test_equal_keys_give_equal_resamples_and_others_do_not() -> None:
    first = bootstrap.counts(11, 5, (1, 2))
    assert (first == bootstrap.counts(11, 5, (1, 2))).all() and (first != bootstrap.counts(11, 5, (1, 3))).any()


def test_the_resamples_of_a_share_spread_as_its_binomial() -> None:
    items, share = 1000, 0.3
    hits = np.zeros(items)
    hits[: int(share * items)] = 1
    values = replicates.mean(hits, np.ones(items), bootstrap.counts(items, 4000, (7,)))
    assert values[0] == pytest.approx(share, abs=1e-12)
    assert values[1:].std() == pytest.approx(math.sqrt(share * (1 - share) / items), rel=0.05)


def test_items_of_different_size_weigh_as_their_size() -> None:
    resamples = np.array([[1, 1, 1], [0, 2, 1]])
    found = replicates.mean(np.array([[1.0, 4.0, 10.0]]), np.array([5, 3, 2]), resamples)
    np.testing.assert_allclose(found, [[(5 + 12 + 20) / 10, (24 + 20) / 8]])


def test_the_median_of_a_resample_lies_within_its_bin() -> None:
    rng = np.random.default_rng(1)
    values, resamples = rng.gamma(2.0, 0.3, (7, 41)), bootstrap.counts(41, 30, (2,))
    edges = np.append(np.linspace(0, 2, 101), np.inf)
    found = replicates.median(values, edges, resamples)
    exact = [np.median(np.repeat(values, counts, axis=1)) for counts in resamples]
    assert np.abs(found - exact).max() < 0.02
    assert replicates.median(np.full((2, 41), 5.0), edges, resamples).tolist() == [2.0] * 31


def test_descending_is_strict_and_begins_at_the_cap() -> None:
    f = np.array([[1.0, 1.0, 9.0], [3.0, 3.0, 3.0], [2.0, 3.0, 2.0]])
    first, second = (Mock(spec=Problem, cap_layer=layer) for layer in (0, 1))
    assert replicates.descending(f, second).tolist() == [True, False, True]
    for held_to in (first, None):
        assert replicates.descending(f, held_to).tolist() == [False, False, True]


def test_all_cells_of_a_data_set_share_their_resamples_and_data_sets_do_not() -> None:
    """Paired: the same shift of every item in one arm moves every replicate of the difference by that shift."""
    resamples = replicates.counts("ucsd", 19, SETTINGS)
    assert (resamples == replicates.counts("ucsd", 19, SETTINGS)).all()
    assert (resamples != replicates.counts("avenue", 19, SETTINGS)).any()
    errors = np.random.default_rng(4).normal(size=19)
    arms = [replicates.mean(values, np.ones(19), resamples) for values in (errors, errors + 0.25)]
    np.testing.assert_allclose(arms[1] - arms[0], 0.25, rtol=1e-9)
    assert np.ptp(arms[0][1:]) > 0.25
