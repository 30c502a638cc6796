"""A mean over settings of which some were trained apart, with no seed laid beside another.

The plain mean over settings is a sum over the parts in which they were trained, so each part's seeds can be
averaged by themselves. With E_skb and J as in `verdicts`, and S settings of which each part p has some:

    G_pkb  the sum of E_skb over the settings s of part p, over S
    m      the sum over parts of the mean of G_pk0 over the seeds
    A, C   the sums over parts of A_p and C_p, those of `verdicts` with G_p for T
    B      J / (J - 1) times the variance over b of the sum over parts of the mean of G_pkb over the seeds, since
           all parts are scored on the same items
    var m  max(A + B - C, A)
    df     (var m)^2 / (sum of A_p^2 / (K-1) + B^2 / j + sum of C_p^2 / ((K-1) j)), at least K - 1

Where items move nothing this is Welch's t. No verdict of the protocol is made of it, which asks for a trimmed
mean: there what is left out of one seed hangs on what stands beside it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from descent.analysis.verdicts import Estimate


@dataclass(frozen=True)
class Unmatched(Estimate):
    """An estimate of which `by_seed`, the seeds in any order, serves for its mean alone.

    Attributes:
        each: the estimate of every part's G_p.
    """

    each: tuple[Estimate, ...]

    @classmethod
    def over(
        cls,
        effects: Float[np.ndarray, "settings *claims seeds resamples"],
        parts: Sequence[Hashable],
        resampled: int,
    ) -> "Unmatched":
        """From E_skb, b = 0 first.

        Args:
            parts: in which part each setting was trained.
        """
        groups = [[part == own for part in parts] for own in dict.fromkeys(parts)]
        each = tuple(Estimate.of(effects[group].sum(axis=0) / len(effects), resampled) for group in groups)
        # its value and B are the same of every order of the seeds
        whole = Estimate.of(effects.mean(axis=0), resampled)
        between, both = (np.asarray(sum(getattr(own, name) for own in each)) for name in ("between", "both"))
        return cls(whole.by_seed, between, whole.items, both, resampled, whole.resamples, each)

    @property
    def of_seeds(self) -> Float[np.ndarray, "*claims"]:
        """The sum over parts of A_p^2 + C_p^2 / j."""
        return np.asarray(sum(own.of_seeds for own in self.each))
