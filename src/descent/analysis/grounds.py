"""What a verdict rests on beside the pairs: what stands against each claim, and each model on each data set.

With the pairs these facts are published, and the scorecard follows from the two alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from descent.analysis import csv_files, effects, preconditions
from descent.analysis.case import Case
from descent.analysis.claims import CLAIMS, Claim, paper_value
from descent.analysis.evidence import Evidence
from descent.analysis.keys import PLACE, VARIANT, tuples
from descent.config import Params
from descent.io.folders import atomic_file

FACTS = ["claim", "dataset", "model", "why", "effect", "items", "resampled", "paper_value"]
WHOLE = ""  # the columns `model` and `dataset` of facts about a claim


def of_results(results: pd.DataFrame, params: Params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs (effects.pairs) and the facts of a results table, from which `judged` makes the scorecard."""
    pairs = effects.pairs(results, params)
    return pairs, facts(pairs, results, params)


def facts(pairs: pd.DataFrame, results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """FACTS: a row for every model and data set of a claim, and before these one without either for the claim.

    `why`: the preconditions that fail, in words; where some do, the claim leaves out the model on that data set.
    `effect`: smallest effect of interest, margin or bound. `items`: test items of each data set, in words;
    `resampled`: the smallest of these numbers. `paper_value`: claims'. Those of the claim are of what is left in.
    """
    evidence = Evidence(results, params)
    rows = []
    for name, claim in CLAIMS.items():
        whole = Case(name, claim, pairs[pairs["claim"] == name], evidence)
        generated = preconditions.real_data(whole)
        gone = {} if generated else preconditions.failed_by_place(whole)
        left = [place for place, why in gone.items() if not why]
        inside = replace(whole, pairs=left_in(whole.pairs, left))
        why = preconditions.failed(inside)
        if gone and not left:
            why = reasons(gone)
        rows.append(_fact(inside, (WHOLE, WHOLE), why))
        for place in tuples(whole.pairs.drop_duplicates(PLACE), PLACE):
            alone = replace(whole, pairs=left_in(whole.pairs, [place]))
            rows.append(_fact(alone, place, gone.get(place, generated)))
    return pd.DataFrame(rows, columns=FACTS)


def _fact(case: Case, place: tuple[str, str], why: str) -> dict[str, object]:
    used = set(case.pairs["dataset"])
    items = {name: count for name, count in case.evidence.items(case.claim.experiment).items() if name in used}
    return {
        "claim": case.name,
        "dataset": place[0],
        "model": place[1],
        "why": why,
        "effect": _effect(case.claim, case.pairs, case.evidence.params),
        "items": ", ".join(f"{dataset} {count}" for dataset, count in items.items()),
        "resampled": min(items.values(), default=0),
        "paper_value": paper_value(case.name) if place == (WHOLE, WHOLE) else np.nan,
    }


def _effect(claim: Claim, own: pd.DataFrame, params: Params) -> float:
    """The claim's effect; where models that are no encoders have another, the mean over the settings of theirs."""
    if claim.light is None or own.empty:
        return claim.effect
    models = own[VARIANT].drop_duplicates()["model"]
    encoders = models.map(lambda model: "weights" in params.model_budget(model))
    return float(np.where(encoders, claim.effect, claim.light).mean())


def reasons(gone: Mapping[tuple[str, str], str]) -> str:
    """Why nothing of a claim or a model passes, by PLACE; what is not alike names where."""
    where: dict[str, list[str]] = {}
    for (dataset, model), why in gone.items():
        where.setdefault(why, []).append(f"{model} on {dataset}")
    if len(where) == 1:
        return next(iter(where))
    return "; ".join(f"{', '.join(places)}: {why}" for why, places in where.items())


def passed(told: pd.DataFrame) -> pd.DataFrame:
    """The facts about one claim that leave a model on a data set in it."""
    return told[(told["model"] != WHOLE) & (told["why"] == "")]


def passing(told: pd.DataFrame) -> list[tuple[str, str]]:
    """The models and data sets (PLACE) that facts about one claim leave in it."""
    return places_of(passed(told))


def left_in(pairs: pd.DataFrame, places: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """The pairs of these models and data sets (PLACE); of all where there are none."""
    if not (named := list(places)):
        return pairs
    return pairs[pd.MultiIndex.from_frame(pairs[PLACE]).isin(named)]


def places_of(told: pd.DataFrame) -> list[tuple[str, str]]:
    return list(tuples(told, PLACE))


def save(pairs: pd.DataFrame, facts: pd.DataFrame, folder: Path) -> None:
    """Write pairs.parquet and facts.csv, from which `load` and `judged` make the same scorecard again."""
    with atomic_file(folder / "pairs.parquet") as partial:
        pairs.to_parquet(partial, index=False)
    csv_files.write(folder / "facts.csv", facts, digits=None)


def load(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs and facts that `save` wrote.

    Facts that were published before a model was asked on each data set by itself are of all its data sets: each
    then has the model's.
    """
    words = dict.fromkeys(["model", "dataset", "why", "items"], str)  # also where all of them are empty
    facts = pd.read_csv(folder / "facts.csv", dtype=words).fillna(dict.fromkeys(words, ""))
    pairs = pd.read_parquet(folder / "pairs.parquet")
    return pairs, facts if "dataset" in facts else _of_each(facts, pairs)


def _of_each(facts: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Facts about models as facts about each of their data sets."""
    found = facts.merge(pairs[["claim", *PLACE]].drop_duplicates(), how="left").fillna({"dataset": WHOLE})
    for place, row in found[found["model"] != WHOLE].iterrows():
        if not row["items"]:
            continue
        counts = dict(words.rsplit(" ", 1) for words in row["items"].split(", "))
        found.loc[place, ["items", "resampled"]] = (
            f"{row['dataset']} {counts[row['dataset']]}",
            int(counts[row["dataset"]]),
        )
    return found[FACTS]
