"""The scorecard: what becomes of each claim of the paper here, by the protocol's rule.

Three tables. `pairs`: the effect of every claim, setting, seed and resample of the test items (effects.pairs).
`facts`: what else a verdict needs (grounds.facts). `judged` makes the scorecard from these two alone, so a
published verdict can be worked out again from published pairs. The statistics and the rule: verdicts; what counts
as an effect: claims; what must hold first: preconditions.

An estimate is the mean over seeds of the 25 % trimmed mean over settings (share: the share of settings).
Primary claims are corrected by Holm as one family, whether all could be tested or not, on the larger of the t and
the exact sign-flip p. Exploratory ones are corrected on the t p alone among those that could be tested, and their
sign-flip p must be below .05 as it is: times a dozen claims it could not be with 6 to 8 seeds, whatever they say.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from descent.analysis import grounds, preconditions, verdicts
from descent.analysis.claims import CLAIMS, Claim
from descent.analysis.grounds import WHOLE
from descent.analysis.keys import VARIANT
from descent.analysis.verdicts import LEVEL, NARROW, TRIMMED_FROM, Estimate
from descent.config import Params

PAPER = Path("data/paper/claims.csv")
NUMBERS = ["estimate", "low", "high", "low90", "high90", "p", "p_exact", "p_holm"]
PREDICTED = ["prediction_low", "prediction_high", "paper_value", "paper_inside"]
COLUMNS = ["claim", "statement", "paper", "source", "shown_in", "group", "kind", *NUMBERS, "effect"]
COLUMNS += ["unit", "seeds", "settings", "items", "words", "verdict", "why", *PREDICTED]
BY_MODEL = ["claim", "model", "datasets", "estimate", "low", "high", "effect", "unit", "seeds", "settings"]
BY_MODEL += ["words", "why"]


def scorecard(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """COLUMNS, one row a claim, in the order of the paper's file; numbers are NaN where there are none."""
    return judged(*grounds.of_results(results, params))


def by_dataset(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The scorecard on each data set alone, of the tasks that have several: `dataset`, then COLUMNS; exploratory.

    Each is corrected within its own primary claims, and not for the choice of a data set.
    """
    datasets = [params.section(task).datasets for task in params.tasks]
    several = [name for names in datasets if len(names) > 1 for name in names]
    cards = [scorecard(results[results["dataset"] == name], params).assign(dataset=name) for name in several]
    return pd.concat(cards)[["dataset", *COLUMNS]] if cards else pd.DataFrame(columns=["dataset", *COLUMNS])


def judged(pairs: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """The scorecard from the tables that grounds.save wrote and grounds.load reads; columns as `scorecard`.

    A claim of which nothing passes still has the numbers of all its models, and no verdict. One that the facts do
    not hold, as it was not asked yet when they were published, has no row.
    """
    known = dict(iter(pairs.groupby("claim")))
    of_places = facts[facts["model"] != WHOLE]
    rows = []
    for fact in facts[facts["model"] == WHOLE].to_dict("records"):
        told = of_places[of_places["claim"] == fact["claim"]]
        own = grounds.left_in(known.get(fact["claim"], pairs[:0]), grounds.passing(told))
        gone = [f"{row.model} on {row.dataset} ({row.why})" for row in told.itertuples() if row.why]
        row = fact | _measured(fact, own)
        if gone and not fact["why"]:
            row["words"] = f"{row['words']}; left out: {', '.join(gone)}"
        rows.append(row)
    card = pd.DataFrame(rows)
    card["p_holm"] = _adjusted(card)
    card["verdict"] = verdicts.decide(card)
    inside = (card["prediction_low"] <= card["paper_value"]) & (card["paper_value"] <= card["prediction_high"])
    unknown = card[["prediction_low", "paper_value"]].isna().any(axis=1)
    card["paper_inside"] = inside.astype("boolean").mask(unknown)
    return pd.read_csv(PAPER).merge(card, how="inner", on="claim", validate="one_to_one")[COLUMNS]


def by_model(pairs: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """BY_MODEL: each claim on each of its models alone; exploratory.

    A model has a row for the `datasets` on which it passes, and one for each on which it fails, with why: these
    may be of several parts, whose seeds are others.
    """
    known = dict(iter(pairs.groupby(["claim", "model"])))
    rows = []
    told = facts[facts["model"] != WHOLE]
    failing = told["dataset"].where(told["why"] != "", "")
    for (claim, model, _), own in told.groupby(["claim", "model", failing], sort=False):
        fact = own.iloc[0].to_dict() | {"datasets": ", ".join(own["dataset"]), "resampled": own["resampled"].min()}
        fact["why"] = grounds.reasons(dict(zip(grounds.places_of(own), own["why"], strict=True)))
        rows.append(fact | _measured(fact, grounds.left_in(known[claim, model], grounds.places_of(own))))
    return pd.DataFrame(rows, columns=BY_MODEL)


def _measured(fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    """The numbers of one claim, with how many seeds and settings they have and the words for that."""
    claim = CLAIMS[fact["claim"]]
    found: dict[str, object] = dict.fromkeys([*NUMBERS, "prediction_low", "prediction_high"], np.nan)
    found |= {"group": claim.group, "kind": claim.kind, "unit": claim.unit}
    own = preconditions.common(own)
    found |= {"seeds": own["seed"].nunique(), "settings": len(own[VARIANT].drop_duplicates())}
    found |= {"words": preconditions.NOTHING}
    if own.empty:
        return found
    kinds = {"gain": _mean, "cost": _mean, "share": _share, "equivalence": _farthest}
    return found | kinds[claim.kind](claim, fact, own)


def scores(own: pd.DataFrame) -> tuple[pd.DataFrame, Float[np.ndarray, "settings seeds resamples"]]:
    """The settings (VARIANT) of one claim's pairs, and their effects."""
    wide = own.pivot(index=VARIANT, columns=["seed", "resample"], values="effect").sort_index(axis=1)
    return wide.index.to_frame(index=False), wide.to_numpy(float).reshape(len(wide), own["seed"].nunique(), -1)


def estimated(pairs: pd.DataFrame, items: int) -> tuple[Estimate, int] | None:
    """The protocol's estimate from pairs as it is from those of a claim, over the seeds that all their settings
    have, and how many settings these are; None without such a seed.

    Args:
        items: how many test items a resample draws.
    """
    if (pairs := preconditions.common(pairs)).empty:
        return None
    settings, effects_of = scores(pairs)
    return Estimate.of(verdicts.trimmed(effects_of), items), len(settings)


def _mean(claim: Claim, fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    _, effects_of = scores(own)
    found = Estimate.of(verdicts.trimmed(effects_of), int(fact["resampled"]))
    null = fact["effect"] if claim.kind == "cost" else 0.0
    low, high = found.prediction()
    numbers = _numbers(found) | {"prediction_low": float(low), "prediction_high": float(high)}
    numbers |= {"p": float(found.p(null)), "p_exact": float(verdicts.sign_flip(found.by_seed - null))}
    settings = len(effects_of)
    how = (
        "one setting"
        if settings == 1
        else f"{'trimmed ' if settings >= TRIMMED_FROM else ''}mean over {settings} settings"
    )
    return numbers | {"words": how}


def _farthest(claim: Claim, fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    """Of the settings, each turned so that its estimate is positive, the one whose NARROW interval reaches
    farthest: where it lies within the margin, all do. Where LEVEL intervals lie beyond it, the farthest of those.
    Of one seed, which has no interval, the estimate itself.
    """
    _, effects_of = scores(own)
    found = [Estimate.of(one * (1 if one[:, 0].mean() >= 0 else -1), int(fact["resampled"])) for one in effects_of]
    reach = [one.interval(LEVEL)[0] for one in found]
    if np.isnan(reach).any():
        reach = [float(one.value) for one in found]
    elif max(reach) <= fact["effect"]:
        reach = [max(abs(float(end)) for end in one.interval(NARROW)) for one in found]
    far = found[int(np.argmax(reach))]
    return _numbers(far) | {"words": f"farthest from zero of {len(found)} differences"}


def _numbers(found: Estimate) -> dict[str, object]:
    numbers = (*found.numbers(), *map(float, found.interval(NARROW)))
    return dict(zip(("estimate", "low", "high", "low90", "high90"), numbers, strict=True))


def _share(claim: Claim, fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    """The share of settings that count, with exact binomial intervals."""
    by_setting = own[own["resample"] == 0].groupby(VARIANT)["effect"]
    if claim.vote == "all":
        votes = by_setting.min() == 1
    else:
        votes = 0.5 + 0.5 * np.sign(by_setting.mean() - (0.5 if claim.vote == "most" else 0.0))
    won = float(votes.sum())
    of = len(votes)
    (low, high), (low90, high90) = (verdicts.exact_share(won, of, level) for level in (LEVEL, NARROW))
    numbers = {"estimate": won / of, "low": low, "high": high, "low90": low90, "high90": high90}
    return numbers | {"words": f"{won:g} of {of} settings"}


def _adjusted(card: pd.DataFrame) -> pd.Series:
    """Holm's p of each group; NaN where a claim has none or cannot be judged."""
    p, exact = (card[name].where(card["why"] == "").astype(float) for name in ("p", "p_exact"))
    larger = pd.Series(np.maximum(p, exact), card.index)  # NaN where either is: such a p takes no place
    found = pd.Series(np.nan, card.index)
    primary = card["group"] == "primary"
    found[primary] = verdicts.holm(larger[primary].to_numpy(float))
    rest = ~primary & p.notna()
    adjusted = verdicts.holm(p[rest].to_numpy(float))
    found[rest] = np.maximum(adjusted, exact[rest])
    return found
