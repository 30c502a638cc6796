"""The statistics of a claim by themselves, and the rule that turns them into a verdict.

Of a claim there are effects E_skb: setting s (data set, model, depth, noise level), seed k = 1..K, resample b of
the J test items, b = 0 being the test set itself. All settings are scored on the same resamples.

    T_kb   25 % trimmed mean of E_skb over the settings                          (trimmed)
    m      mean of T_k0 over the seeds, the estimate
    A      s_T^2 / K, with s_T the standard deviation of T_k0 over the seeds
    B      J / (J - 1) times the variance over b of the mean of T_kb over the seeds
    C      J / (J - 1) times the mean over seeds of the variance of T_kb over b, minus B, divided by K - 1
    var m  max(A + B - C, A)
    df     (var m)^2 / (A^2 / (K-1) + B^2 / j + C^2 / ((K-1) j)), at least K - 1, with 1/j = 1/(J-1) + 1/(R-1)

A holds what seeds move, B what items move. What an item does to one seed alone is in both, and C takes it out
once: these are the mean squares of two crossed random factors, (MS_seed + MS_item - MS_rest) / (K J), and df is
Satterthwaite's, with what R resamples leave open of a variance. The simpler A + B with K - 1 degrees of freedom
covers 95 % where seeds alone move, but 97-99 % where items do, and 99.8 % where both act only together: it is
too wide. This one covers 94-96.5 % in all of these for K = 6 and 8 and J = 20 to 200 (simulated in the tests),
and is widest where seeds and items act only together and J is 20. (B is a lower bound of var m in expectation as
A is, but A alone is the floor: of a draw in which A is by chance far below C the interval is too narrow.) The
trimmed mean is treated as linear in the items. Where data sets have different numbers of items, J is the
smallest, which is a little wide as well.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy import stats

TRIM = 0.25
TRIMMED_FROM = math.ceil(1 / TRIM)  # settings: of fewer none is left out
LESS = "by less than what matters"  # what is said of a verdict that `matters_little`
MANY = 16  # seeds, above which not all choices of signs are tried
LEVEL, NARROW = 0.95, 0.90  # of intervals; NARROW's two ends are two one-sided tests at 5 %
SIGNIFICANT = 0.05  # below which a Holm p must lie
NOT_TESTED, REPRODUCED, NO_EFFECT = "not tested", "reproduced", "no effect of interest"
REVERSED, NOT_REPRODUCED, CANNOT_TELL = "reversed", "not reproduced", "cannot tell"
VERDICTS = (REPRODUCED, NO_EFFECT, REVERSED, NOT_REPRODUCED, CANNOT_TELL, NOT_TESTED)


def trimmed(effects: Float[np.ndarray, " settings *others"]) -> Float[np.ndarray, " *others"]:
    """The mean over settings without the floor(settings / 4) lowest and as many highest: scipy.stats.trim_mean.

    Of fewer than four settings nothing is trimmed, of four to seven one at each end.
    """
    return np.asarray(stats.trim_mean(effects, TRIM, axis=0))


@dataclass(frozen=True)
class Estimate:
    """The estimate of a claim with its uncertainty; any leading axes are claims, worked out side by side.

    Attributes:
        by_seed: T_k0.
        between, items, both: A, B and C of the module's text.
        resampled: J.
        resamples: R.
    """

    by_seed: Float[np.ndarray, "*claims seeds"]
    between: Float[np.ndarray, "*claims"]
    items: Float[np.ndarray, "*claims"]
    both: Float[np.ndarray, "*claims"]
    resampled: int
    resamples: int

    @classmethod
    def of(cls, scores: Float[np.ndarray, "*claims seeds resamples"], resampled: int) -> "Estimate":
        """From T_kb, b = 0 first. With one seed or one item nothing is known of the variance: NaN."""
        seeds = scores.shape[-2]
        resamples = scores.shape[-1] - 1
        if seeds < 2 or resampled < 2 or resamples < 2:
            unknown = np.full(scores.shape[:-2], np.nan)
            return cls(scores[..., 0], unknown, unknown, unknown, resampled, resamples)
        drawn = scores[..., 1:]
        factor = resampled / (resampled - 1)
        of_mean = factor * drawn.mean(axis=-2).var(axis=-1, ddof=1)
        of_each = factor * drawn.var(axis=-1, ddof=1).mean(axis=-1)
        between = scores[..., 0].var(axis=-1, ddof=1) / seeds
        parts = between, of_mean, (of_each - of_mean) / (seeds - 1)
        return cls(scores[..., 0], *map(np.asarray, parts), resampled, resamples)

    @property
    def seeds(self) -> int:
        """K."""
        return self.by_seed.shape[-1]

    @cached_property
    def value(self) -> Float[np.ndarray, "*claims"]:
        """m."""
        return np.asarray(self.by_seed.mean(axis=-1))

    @cached_property
    def error(self) -> Float[np.ndarray, "*claims"]:
        """The standard error of m."""
        return np.asarray(np.sqrt(np.maximum(self.between + self.items - self.both, self.between)))

    @cached_property
    def freedom(self) -> Float[np.ndarray, "*claims"]:
        """df; without any variance K - 1."""
        if np.isnan(self.error).all():
            return np.full_like(self.error, np.nan)
        seeds = self.seeds - 1
        parts = np.asarray(self.of_seeds / seeds + self.items**2 / self.items_freedom)
        found = np.divide(self.error**4, parts, out=np.zeros_like(self.error), where=parts > 0)
        return np.asarray(np.maximum(found, seeds))

    @property
    def items_freedom(self) -> float:
        """j."""
        return 1 / (1 / (self.resampled - 1) + 1 / (self.resamples - 1))

    @property
    def of_seeds(self) -> Float[np.ndarray, "*claims"]:
        """A^2 + C^2 / j, of which df has a (K-1)th."""
        return np.asarray(self.between**2 + self.both**2 / self.items_freedom)

    def interval(self, level: float) -> tuple[Float[np.ndarray, "*claims"], Float[np.ndarray, "*claims"]]:
        """m -+ t_df times the standard error."""
        return self._about(stats.t.ppf((1 + level) / 2, self.freedom) * self.error)

    def numbers(self) -> tuple[float, float, float]:
        """Of one claim: m, and the two ends of its LEVEL interval."""
        low, high = self.interval(LEVEL)
        return float(self.value), float(low), float(high)

    def p(self, null: float) -> Float[np.ndarray, "*claims"]:
        """Two-sided, of the same t; without any variance 1 at the null and 0 elsewhere."""
        away = np.abs(self.value - null)
        flat = np.where(np.isnan(self.error), np.nan, np.where(away > 0, np.inf, 0.0))
        t = np.divide(away, self.error, out=flat, where=self.error > 0)
        return np.asarray(2 * stats.t.sf(t, self.freedom))

    def prediction(self) -> tuple[Float[np.ndarray, "*claims"], Float[np.ndarray, "*claims"]]:
        """Where T of one more seed lies on the same test items with probability LEVEL: m -+ t_{K-1} s_T
        sqrt(1 + 1/K)."""
        spread = np.sqrt(self.between * (self.seeds + 1))  # between is s_T^2 / K
        return self._about(stats.t.ppf((1 + LEVEL) / 2, self.seeds - 1) * spread)

    def _about(
        self, reach: np.ndarray | float
    ) -> tuple[Float[np.ndarray, "*claims"], Float[np.ndarray, "*claims"]]:
        return np.asarray(self.value - reach), np.asarray(self.value + reach)


def student(by_seed: Float[np.ndarray, " seeds"]) -> tuple[float, tuple[float, float]]:
    """The mean, and Student's LEVEL interval over seeds alone: of test items as they are. Of one seed NaN."""
    value = float(by_seed.mean())
    half = float(half_width(stats.sem(by_seed), len(by_seed))) if len(by_seed) > 1 else np.nan
    return value, (value - half, value + half)


def half_width(error: float | pd.Series, seeds: int | pd.Series) -> float | pd.Series:
    """Half of Student's LEVEL interval about a mean over so many seeds with this standard error, NaN of one."""
    return error * stats.t.ppf((1 + LEVEL) / 2, np.clip(np.subtract(seeds, 1), 1, None))


def sign_flip(by_seed: Float[np.ndarray, "*claims seeds"]) -> Float[np.ndarray, "*claims"]:
    """Exact two-sided p of the mean over seeds: the share of the 2^K choices of signs whose mean is as far from 0.
    Of more than MANY seeds it is that of 2^MANY choices, drawn, with the one that was seen.

    It holds whatever the distribution over seeds, if symmetric, and is at least 2 / 2^K. Items, which all seeds
    share, are no part of it: where they move all seeds alike it is small without reason, so it never stands alone.
    """
    seeds = by_seed.shape[-1]
    if seeds > MANY:
        signs = np.random.default_rng(seeds).choice([-1.0, 1.0], (2**MANY, seeds))
        signs[0] = 1.0
    else:
        signs = 1.0 - 2.0 * (np.arange(2**seeds)[:, None] >> np.arange(seeds) & 1)
    sums = np.abs(by_seed @ signs.T)
    seen = np.abs(by_seed.sum(axis=-1))[..., None]
    rounding = 1e-12 * np.abs(by_seed).sum(axis=-1)[..., None]
    p = (sums >= seen - rounding).mean(axis=-1)
    return np.where(np.isnan(seen[..., 0]), np.nan, p)


def holm(p: Float[np.ndarray, "*families claims"]) -> Float[np.ndarray, "*families claims"]:
    """Holm's adjusted p: the i-th smallest of n times n + 1 - i, at most 1, never below that of a smaller one.

    A claim without p (NaN) counts in n, as one that was never going to be significant, and stays NaN.
    """
    known = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(known, axis=-1, kind="stable")
    n = p.shape[-1]
    steps = np.take_along_axis(known, order, -1) * np.arange(n, 0, -1)
    steps = np.minimum(np.maximum.accumulate(steps, axis=-1), 1.0)
    adjusted = np.empty_like(steps)
    np.put_along_axis(adjusted, order, steps, -1)
    return np.where(np.isnan(p), np.nan, adjusted)


def exact_share(won: float | int, of: int, level: float) -> tuple[float, float]:
    """Clopper-Pearson: the shares that a two-sided binomial test with equal tails does not refuse.

    Args:
        won: may be half a number, a tie counting half; the beta quantiles go through between whole numbers.
    """
    tail = (1 - level) / 2
    low = stats.beta.ppf(tail, won, of - won + 1) if won > 0 else 0.0
    high = stats.beta.ppf(1 - tail, won + 1, of - won) if won < of else 1.0
    return float(low), float(high)


def matters_little(row: Mapping[str, Any]) -> bool:
    """Whether a verdict is of a loss smaller than the gain that `reproduced` would ask for."""
    return row["verdict"] == REVERSED and abs(row["estimate"]) < row["effect"]


def decide(card: pd.DataFrame) -> np.ndarray:
    """The verdict of every row, the first of these that applies; NaN applies to nothing.

        not tested             `why` is not empty
        reproduced             gain: low > 0, p_holm < .05 and estimate >= effect; cost: high90 < effect and
                               p_holm < .05; share: low > effect; equivalence: -effect < low90 and high90 < effect
        no effect of interest  gain: -effect < low90 and high90 < effect
        reversed               gain: high < 0 and p_holm < .05
        not reproduced         cost: low > effect and p_holm < .05; share: the other side of the bound;
                               equivalence: low > effect
        cannot tell            all else

    Holm's p is asked of every gain and cost whose verdict names a side, so that under the null not more than one
    family in twenty holds a wrong one. Shares and equivalences are exploratory and not corrected, and a share
    takes the depths of one model for independent settings.

    Args:
        card: columns kind (gain | cost | share | equivalence), estimate, low, high (LEVEL), low90, high90
            (NARROW), p_holm, effect, why.
    """
    kind, effect, low, high = (card[name] for name in ("kind", "effect", "low", "high"))
    within: Bool[np.ndarray, " rows"] = (card["low90"] > -effect) & (card["high90"] < effect)
    told = card["p_holm"] < SIGNIFICANT
    above_bound = low > effect
    under_bound = high < effect
    gain, cost, share, same = (kind == word for word in ("gain", "cost", "share", "equivalence"))
    rules = {
        NOT_TESTED: card["why"] != "",
        REPRODUCED: (gain & (low > 0) & told & (card["estimate"] >= effect))
        | (cost & (card["high90"] < effect) & told)
        | (share & above_bound)
        | (same & within),
        NO_EFFECT: gain & within,
        REVERSED: gain & (high < 0) & told,
        NOT_REPRODUCED: (cost & above_bound & told) | (share & under_bound) | (same & above_bound),
    }
    return np.select([rule.to_numpy(bool) for rule in rules.values()], list(rules), CANNOT_TELL)
