"""The bootstrap: how often each item stands in a resample."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int64


def counts(items: int, replicates: int, key: Sequence[int]) -> Int64[np.ndarray, "resamples items"]:
    """How often each item stands in each resample of as many items, drawn with replacement.

    Row 0 is no resample: it holds every item once. Equal items and key give equal resamples, so what is compared
    between models is compared on the same items (a paired bootstrap).

    Args:
        key: what the resamples depend on beside the number of items, as training.noise.generator's.
    """
    drawn = np.random.default_rng(np.random.SeedSequence(key)).integers(0, items, (replicates, items))
    cells = drawn + items * np.arange(1, replicates + 1)[:, None]
    table = np.bincount(cells.ravel(), minlength=(replicates + 1) * items).reshape(-1, items)
    table[0] = 1
    return table
