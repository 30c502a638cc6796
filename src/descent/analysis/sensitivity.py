"""What a claim's estimate rests on: other averages of its settings, and each setting alone. It decides no verdict.

The protocol's 25 % trimmed mean (verdicts.trimmed) has a price where settings are few and unlike: of five it drops
the lowest and the highest. What another average would say is published beside it.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float

from descent.analysis import preconditions, verdicts
from descent.analysis.claims import CLAIMS
from descent.analysis.grounds import WHOLE, left_in, passing
from descent.analysis.keys import PLACE, VARIANT
from descent.analysis.scorecard import scores
from descent.analysis.verdicts import TRIMMED_FROM, Estimate

COLUMNS = ["claim", "average", "dataset", "model", "layers", "eps", "estimate", "low", "high", "seeds", "settings"]
TRIMMED, MEAN, BY_PLACE, ALONE = "trimmed mean", "mean", "mean of data sets and models", "one setting"
Average = Callable[[Float[np.ndarray, "settings seeds resamples"]], Float[np.ndarray, "seeds resamples"]]


def table(pairs: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS: of every claim that is a mean of effects its estimate and LEVEL interval, averaged in each way.

    Of a claim what its verdict rests on, of one that was not tested all its models. Rows of one setting name it;
    the others leave these columns empty, and without seeds that all settings share there are none.

    Args:
        pairs, facts: as scorecard.judged takes them.
    """
    rows: list[dict[str, object]] = []
    for name, told in facts.groupby("claim", sort=False):
        if CLAIMS[str(name)].kind not in ("gain", "cost"):
            continue
        own = left_in(pairs[pairs["claim"] == name], passing(told))
        [items] = told[told["model"] == WHOLE]["resampled"]
        rows += _averaged(own, int(items), {"claim": name})
        of_place = told.groupby(PLACE)["resampled"].min()
        for place, alone in own.groupby(VARIANT, sort=True):
            named = {"claim": name} | dict(zip(VARIANT, place, strict=True))
            rows += _alone(alone, int(of_place[named["dataset"], named["model"]]), named)
    return pd.DataFrame(rows, columns=COLUMNS)


def _averaged(own: pd.DataFrame, items: int, same: dict[str, object]) -> Iterator[dict[str, object]]:
    """Of several settings, over the seeds that all of them have."""
    if (own := preconditions.common(own)).empty:
        return
    settings, effects = scores(own)
    same = same | {"seeds": effects.shape[1]}
    places = settings.groupby(PLACE).ngroup().to_numpy()
    ways: dict[str, Average] = {TRIMMED: verdicts.trimmed}
    if len(settings) >= TRIMMED_FROM:
        ways[MEAN] = lambda values: values.mean(0)
    if 1 < len(set(places)) < len(settings):
        ways[BY_PLACE] = lambda values: np.mean([values[places == place].mean(0) for place in set(places)], 0)
    for average, way in ways.items() if len(settings) > 1 else ():
        yield same | {"average": average, "settings": len(settings)} | _estimated(way(effects), items)


def _alone(own: pd.DataFrame, items: int, same: dict[str, object]) -> Iterator[dict[str, object]]:
    """Of one setting, over its own seeds."""
    if not (own := preconditions.common(own)).empty:
        [effect] = scores(own)[1]
        yield same | {"seeds": len(effect), "average": ALONE, "settings": 1} | _estimated(effect, items)


def _estimated(by_seed: Float[np.ndarray, "seeds resamples"], items: int) -> dict[str, float]:
    return dict(zip(("estimate", "low", "high"), Estimate.of(by_seed, items).numbers(), strict=True))
