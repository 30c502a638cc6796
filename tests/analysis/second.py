"""The verdicts on gains and costs a second time, from PROTOCOL.md's words: it shares nothing with the analysis."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

SETTING = ["dataset", "model", "layers", "eps", "varied"]


@dataclass(frozen=True)
class Found:
    """What one claim comes to; `by_seed` are the T_k."""

    by_seed: np.ndarray
    error: float
    df: float

    @property
    def estimate(self) -> float:
        return float(self.by_seed.mean())

    def end(self, level: float, side: int) -> float:
        """The lower (-1) or upper (1) end of the interval of this level."""
        return self.estimate + side * float(stats.t.ppf((1 + level) / 2, self.df)) * self.error

    def p(self, null: float) -> float:
        return 2 * float(stats.t.sf(abs(self.estimate - null) / self.error, self.df))

    def flipped(self, null: float) -> float:
        """Every choice of signs, one after another."""
        own = self.by_seed - null
        means = [abs(np.dot(signs, own)) / len(own) for signs in product((1, -1), repeat=len(own))]
        return float(np.mean(np.array(means) >= abs(own.mean()) - 1e-12))


def found(pairs: pd.DataFrame, items: int) -> Found:
    """The estimate and its error: seeds and test items as two crossed random factors.

    Args:
        pairs: the effects of one claim, of the settings that are left in; `resample` 0 is the test set itself.
        items: J, of the data set that has the fewest.
    """
    tables = [own.pivot(index="seed", columns="resample", values="effect") for _, own in pairs.groupby(SETTING)]
    cube = np.stack([table.sort_index().to_numpy() for table in tables])
    dropped = len(cube) // 4
    t = np.sort(cube, axis=0)[dropped : len(cube) - dropped].mean(axis=0)  # seeds x resamples
    own, drawn = t[:, 0], t[:, 1:]
    seeds, resamples = drawn.shape
    again = items / (items - 1)  # drawing with replacement from J items shows less than J new ones
    by_seeds = own.var(ddof=1) / seeds
    by_items = again * drawn.mean(axis=0).var(ddof=1)
    alone = drawn - drawn.mean(axis=0)  # what items do to one seed and not to the others
    by_both = again * alone.var(axis=1, ddof=1).mean() / (seeds - 1)
    variance = max(by_seeds + by_items - by_both, by_seeds)
    of_items = 1 / (items - 1) + 1 / (resamples - 1)
    below = by_seeds**2 / (seeds - 1) + of_items * (by_items**2 + by_both**2 / (seeds - 1))
    return Found(own, float(np.sqrt(variance)), max(variance**2 / below, seeds - 1))


def corrected(p: dict[str, float], family: int) -> dict[str, float]:
    """Holm: the smallest times the number of claims, the next times one less, none below the one before."""
    told, least = {}, 0.0
    for place, (name, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        told[name] = least = max(least, min(1.0, (family - place) * value))
    return told


def verdict(kind: str, own: Found, p: float, effect: float) -> str:
    """The first that applies, of a claim that can be tested."""
    if kind == "cost":
        if own.end(0.9, 1) < effect and p < 0.05:
            return "reproduced"
        return "not reproduced" if own.end(0.95, -1) > effect and p < 0.05 else "cannot tell"
    if own.end(0.95, -1) > 0 and p < 0.05 and own.estimate >= effect:
        return "reproduced"
    if -effect < own.end(0.9, -1) and own.end(0.9, 1) < effect:
        return "no effect of interest"
    return "reversed" if own.end(0.95, 1) < 0 and p < 0.05 else "cannot tell"
