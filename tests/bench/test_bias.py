"""The bias of a ratio of means against its closed form, and against drawing again."""

import numpy as np
import pytest

from tests.bench.bias import bias


def test_the_bias_of_a_ratio_is_that_of_its_second_order() -> None:
    """Of independent a, b with E b = 1 and a small variance v of b: E[a / b] - E a is v to first order."""
    numbers, spread = np.random.default_rng(0), 0.02
    below = 1 + spread * numbers.standard_normal(200_000)
    above = 0.7 + 0.01 * numbers.standard_normal(200_000)
    (found,), (error,) = bias(np.stack([below, above], 1))
    assert found == pytest.approx(0.7 * spread**2, abs=4 * error) and error < 0.1 * found


def test_running_means_have_less_and_constant_losses_none() -> None:
    numbers = np.random.default_rng(1)
    f = 1 + 0.1 * numbers.standard_normal((100_000, 2))
    (alone,), _ = bias(f)
    (running,), _ = bias(f, 0.9)
    assert running == pytest.approx(alone / 19, rel=0.3), "the variance of such a mean is a nineteenth"
    assert np.abs(bias(np.full((50, 3), 0.5))[0]).max() < 1e-15
