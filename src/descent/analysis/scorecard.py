"""The scorecard: what becomes of each claim of the paper here, by the protocol's rule.

Three tables. `pairs`: the effect of every claim, setting, seed and resample of the test items (effects.pairs).
`facts`: what else a verdict needs (`facts`). `judged` makes the scorecard from these two alone, so a published
verdict can be worked out again from published pairs. The statistics and the rule: verdicts; what counts as an
effect: claims; what must hold first: preconditions.

An estimate is the mean over seeds of the 25 % trimmed mean over settings (share: the share of settings).
Primary claims are corrected by Holm as one family, whether all could be tested or not, on the larger of the t and
the exact sign-flip p. Exploratory ones are corrected on the t p alone among those that could be tested, and their
sign-flip p must be below .05 as it is: times a dozen claims it could not be with 6 to 8 seeds, whatever they say.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from descent.analysis import effects, preconditions, verdicts
from descent.analysis.case import Case
from descent.analysis.claims import CLAIMS, Claim, paper_value
from descent.analysis.evidence import Evidence
from descent.analysis.verdicts import LEVEL, NARROW, Estimate
from descent.components import TASKS
from descent.config import Params
from descent.io.folders import atomic_file, write_text

PAPER = Path("data/paper/claims.csv")
SETTING = ["dataset", "model", "layers", "eps", "varied"]
FACTS = ["claim", "model", "why", "effect", "items", "resampled", "paper_value"]
NUMBERS = ["estimate", "low", "high", "low90", "high90", "p", "p_exact", "p_holm"]
PREDICTED = ["prediction_low", "prediction_high", "paper_value", "paper_inside"]
COLUMNS = ["claim", "statement", "paper", "source", "shown_in", "group", "kind", *NUMBERS, "effect"]
COLUMNS += ["unit", "seeds", "settings", "items", "words", "verdict", "why", *PREDICTED]
BY_MODEL = ["claim", "model", "estimate", "low", "high", "effect", "unit", "seeds", "settings", "words", "why"]
WHOLE = ""  # the column `model` of facts about a claim


def scorecard(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """COLUMNS, one row a claim, in the order of the paper's file; numbers are NaN where there are none."""
    return with_models(results, params)[0]


def with_models(results: pd.DataFrame, params: Params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scorecard, and its claims on each model alone (BY_MODEL)."""
    found = effects.pairs(results, params)
    told = facts(found, results, params)
    return judged(found, told), by_model(found, told)


def by_dataset(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The scorecard on each data set alone, of the tasks that have several: `dataset`, then COLUMNS; exploratory.

    Each is corrected within its own primary claims, and not for the choice of a data set.
    """
    parts = [part for part in (getattr(params, task) for task in TASKS) if part.models and len(part.datasets) > 1]
    several = [name for part in parts for name in part.datasets]
    cards = [scorecard(results[results["dataset"] == name], params).assign(dataset=name) for name in several]
    return pd.concat(cards)[["dataset", *COLUMNS]] if cards else pd.DataFrame(columns=["dataset", *COLUMNS])


def facts(pairs: pd.DataFrame, results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """FACTS: a row for every model of a claim, and before these one with an empty `model` for the claim.

    `why`: the preconditions that fail, in words; a model of which some do is left out of its claim. `effect`:
    smallest effect of interest, margin or bound. `items`: test items of each data set, in words; `resampled`: the
    smallest of these numbers. `paper_value`: claims'. Those of the claim are of the models that are left in.
    """
    evidence, rows = Evidence(results, params), []
    for name, claim in CLAIMS.items():
        whole = Case(name, claim, pairs[pairs["claim"] == name], evidence)
        generated = preconditions.real_data(whole)
        gone = {} if generated else preconditions.failed_by_model(whole)
        left = [model for model, why in gone.items() if not why]
        inside = replace(whole, pairs=left_in(whole.pairs, left))
        why = preconditions.failed(inside)
        if not why and gone and not left:
            why = "; ".join(dict.fromkeys(gone.values()))
        rows.append(_fact(inside, WHOLE, why))
        models = gone or dict.fromkeys(sorted(whole.pairs["model"].unique()), generated)
        for model, why in models.items():
            rows.append(_fact(replace(whole, pairs=left_in(whole.pairs, [model])), model, why))
    return pd.DataFrame(rows, columns=FACTS)


def _fact(case: Case, model: str, why: str) -> dict[str, object]:
    used = set(case.pairs["dataset"])
    items = {name: count for name, count in case.evidence.items(case.claim.experiment).items() if name in used}
    return {
        "claim": case.name,
        "model": model,
        "why": why,
        "effect": _effect(case.claim, case.pairs, case.evidence.params),
        "items": ", ".join(f"{dataset} {count}" for dataset, count in items.items()),
        "resampled": min(items.values(), default=0),
        "paper_value": paper_value(case.name) if model == WHOLE else np.nan,
    }


def judged(pairs: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """The scorecard from the tables that `save` wrote and `load` reads; columns as `scorecard`.

    A claim of which no model passes still has the numbers of all its models, and no verdict. One that the facts do
    not hold, as it was not asked yet when they were published, has no row.
    """
    known, of_models = dict(iter(pairs.groupby("claim"))), facts[facts["model"] != WHOLE]
    rows = []
    for fact in facts[facts["model"] == WHOLE].to_dict("records"):
        models = of_models[of_models["claim"] == fact["claim"]]
        own = left_in(known.get(fact["claim"], pairs[:0]), models["model"][models["why"] == ""])
        gone = [f"{row['model']} ({row['why']})" for row in models.to_dict("records") if row["why"]]
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
    """BY_MODEL: each claim on each of its models alone, with what the model failed (`why`); exploratory."""
    known = dict(iter(pairs.groupby(["claim", "model"])))
    models = facts[facts["model"] != WHOLE].to_dict("records")
    return pd.DataFrame(
        [fact | _measured(fact, known[fact["claim"], fact["model"]]) for fact in models], columns=BY_MODEL
    )


def left_in(pairs: pd.DataFrame, models: Iterable[str]) -> pd.DataFrame:
    """The pairs of these models; of all where there are none."""
    return pairs[pairs["model"].isin(names)] if (names := list(models)) else pairs


def save(pairs: pd.DataFrame, facts: pd.DataFrame, folder: Path) -> None:
    """Write pairs.parquet and facts.csv, from which `load` and `judged` make the same scorecard again."""
    with atomic_file(folder / "pairs.parquet") as partial:
        pairs.to_parquet(partial, index=False)
    write_text(folder / "facts.csv", facts.to_csv(index=False, lineterminator="\n"))


def load(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs and facts that `save` wrote."""
    words = dict.fromkeys(["model", "why", "items"], str)  # also where all of them are empty
    facts = pd.read_csv(folder / "facts.csv", dtype=words).fillna(dict.fromkeys(words, ""))
    return pd.read_parquet(folder / "pairs.parquet"), facts


def written(value: float, unit: str) -> str:
    """A number of the scorecard for a reader."""
    if np.isnan(value):
        return "–"  # noqa: RUF001
    return {
        "percent": f"{100 * value:.3g} %",
        "points": f"{100 * value:.2g} points",
        "plain": f"{value:.3g}",
    }[unit]


def number_of(count: float | int, word: str) -> str:
    """`1 seed`, `8 seeds`."""
    return f"{count:.0f} {word}" + ("" if count == 1 else "s")


def _effect(claim: Claim, own: pd.DataFrame, params: Params) -> float:
    """The claim's effect; where models that are no encoders have another, the mean over the settings of theirs."""
    if claim.light is None or own.empty:
        return claim.effect
    models = own[SETTING].drop_duplicates()["model"]
    encoders = models.map(lambda model: "weights" in params.model_budget(model))
    return float(np.where(encoders, claim.effect, claim.light).mean())


def _measured(fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    """The numbers of one claim, with how many seeds and settings they have and the words for that."""
    claim = CLAIMS[fact["claim"]]
    found: dict[str, object] = dict.fromkeys([*NUMBERS, "prediction_low", "prediction_high"], np.nan)
    found |= {"group": claim.group, "kind": claim.kind, "unit": claim.unit}
    seeds = preconditions.common_seeds(own)
    own = own[own["seed"].isin(seeds)]
    settings = own[SETTING].drop_duplicates()
    found |= {"seeds": len(seeds), "settings": len(settings) if seeds else 0, "words": preconditions.NOTHING}
    if not seeds:
        return found
    kinds = {"gain": _mean, "cost": _mean, "share": _share, "equivalence": _farthest}
    return found | kinds[claim.kind](claim, fact, own)


def scores(own: pd.DataFrame) -> tuple[pd.DataFrame, Float[np.ndarray, "settings seeds resamples"]]:
    """The settings (SETTING) of one claim's pairs, and their effects."""
    wide = own.pivot(index=SETTING, columns=["seed", "resample"], values="effect").sort_index(axis=1)
    return wide.index.to_frame(index=False), wide.to_numpy(float).reshape(len(wide), own["seed"].nunique(), -1)


def _mean(claim: Claim, fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    _, effects_of = scores(own)
    found = Estimate.of(verdicts.trimmed(effects_of), int(fact["resampled"]))
    null = fact["effect"] if claim.kind == "cost" else 0.0
    low, high = found.prediction()
    numbers = _numbers(found) | {"prediction_low": float(low), "prediction_high": float(high)}
    numbers |= {"p": float(found.p(null)), "p_exact": float(verdicts.sign_flip(found.by_seed - null))}
    settings = len(effects_of)
    how = "one setting" if settings == 1 else f"{'trimmed ' if settings > 3 else ''}mean over {settings} settings"
    return numbers | {"words": how}


def _farthest(claim: Claim, fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    """Of the settings the one whose NARROW interval reaches farthest, turned so that its estimate is positive:
    where it lies within a margin, all do."""
    _, effects_of = scores(own)
    found = [Estimate.of(one * (1 if one[:, 0].mean() >= 0 else -1), int(fact["resampled"])) for one in effects_of]
    reach = [max(abs(float(end)) for end in one.interval(NARROW)) for one in found]
    far = found[int(np.argmax(reach))]
    return _numbers(far) | {"words": f"farthest from zero of {len(found)} differences"}


def _numbers(found: Estimate) -> dict[str, object]:
    (low, high), (low90, high90) = found.interval(LEVEL), found.interval(NARROW)
    said = {"estimate": found.value, "low": low, "high": high, "low90": low90, "high90": high90}
    return {name: float(value) for name, value in said.items()}


def _share(claim: Claim, fact: dict[str, Any], own: pd.DataFrame) -> dict[str, object]:
    """The share of settings that count, with exact binomial intervals."""
    by_setting = own[own["resample"] == 0].groupby(SETTING)["effect"]
    if claim.vote == "all":
        votes = by_setting.min() == 1
    else:
        votes = 0.5 + 0.5 * np.sign(by_setting.mean() - (0.5 if claim.vote == "most" else 0.0))
    won, of = float(votes.sum()), len(votes)
    (low, high), (low90, high90) = (verdicts.exact_share(won, of, level) for level in (LEVEL, NARROW))
    numbers = {"estimate": won / of, "low": low, "high": high, "low90": low90, "high90": high90}
    return numbers | {"words": f"{won:g} of {of} settings"}


def _adjusted(card: pd.DataFrame) -> pd.Series:
    """Holm's p of each group; NaN where a claim has none or cannot be judged."""
    p, exact = (card[name].where(card["why"] == "").astype(float) for name in ("p", "p_exact"))
    larger, found = p.where(p >= exact, exact), pd.Series(np.nan, card.index)
    primary = card["group"] == "primary"
    found[primary] = verdicts.holm(larger[primary].to_numpy(float))
    rest = ~primary & p.notna()
    adjusted = verdicts.holm(p[rest].to_numpy(float))
    found[rest] = np.maximum(adjusted, exact[rest])
    return found
