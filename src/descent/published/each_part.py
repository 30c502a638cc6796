"""What each published part says by itself, in Markdown, beside the verdicts that all of them give together."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from descent.analysis import grounds
from descent.analysis.preconditions import PLACE
from descent.analysis.select import select
from descent.analysis.verdicts import NOT_TESTED, VERDICTS
from descent.analysis.wording import with_interval, written
from descent.components import TASKS
from descent.config import Params
from descent.published import files, judged, parts
from descent.published.markdown import listed, pipe

SAME_RATE = "controls_rates_"  # what the names of studies begin with that train both arms at each rate


def table(folders: Sequence[Path], params: Params) -> str:
    """What each published part, and each data set of one that has several, says of the primary claims by itself,
    corrected within its own six; empty where none could test one."""
    rows = [[folder.name, *judged.alone(row, params)] for folder in folders for row in _tested(folder)]
    return (
        pipe(["part", "data set", "claim", "here", "95 % interval", "p", "from", "verdict"], rows) if rows else ""
    )


def counted(folders: Sequence[Path]) -> str:
    """In a sentence, how often each verdict is what a part or a data set of one says by itself; empty where none
    could test a claim. What `not_counted` tells is not among them: it may be one training twice."""
    aside = [_key(folder, row) for folder, row, _ in _aside(folders)]
    told = [row for folder in folders for row in _tested(folder) if _key(folder, row) not in aside]
    verdicts = pd.Series([row["verdict"] for row in told]).value_counts()
    counts = listed([f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdict in verdicts])
    return (
        f"Exploratory: published parts and their data sets, each judged by itself, give {verdicts.sum()} more "
        f"verdicts on these claims ({counts}), listed below."
        if len(verdicts)
        else ""
    )


def not_counted(folders: Sequence[Path], params: Params) -> str:
    """In a sentence, what parts say by themselves of primary claims in which another part counts in their place;
    empty where there is no such part."""
    told = []
    for folder, row, places in _aside(folders):
        of = params.in_words(listed([f"{model} on {dataset}" for dataset, model in places]))
        told.append(f"{folder.name} ({of}) on *{row['statement']}*: {with_interval(row)}, {row['verdict']}")
    head = (
        "Not counted, since another part trained the same models on the same data for longer, or with more trials"
    )
    return f"{head}: {'; '.join(told)}." if told else ""


def by_rate(folders: Sequence[Path], params: Params) -> str:
    """In a sentence, what our arm gains out of distribution where both arms train at one learning rate, and how
    many of its cells are feasible on validation data, by the studies that parts have published; empty where none
    has."""
    told = [words for folder in folders for words in _at_one_rate(folder, params)]
    head = (
        "Exploratory: with one learning rate in both arms, the gain out of distribution (95 % interval; feasible "
        "cells) is of"
    )
    return f"{head} {'; of '.join(told)}." if told else ""


def margins(folders: Sequence[Path], card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """In a sentence, how much more descent than alpha training asked for, of what tested claims of video rest on;
    empty where it asked for none.

    Args:
        card, models: the primary claims, and each on each model alone (scorecard.by_model).
    """
    places = resting(card[card["claim"].str.startswith("video")], models)
    gone = parts.replaced(folders) if len(folders) > 1 else set()
    asked = []
    for number, folder in enumerate(folders):
        own = files.cells(folder)
        held = own[own["experiment"].isin(TASKS)][PLACE].drop_duplicates().itertuples(index=False, name=None)
        told = files.params(folder)
        for place in sorted(place for place in held if place in places and (*place, number) not in gone):
            margin = told.objective(params.comparison.ours, *place).get("margin", 0.0)
            asked += [f"{margin:g} ({params.in_words(f'{place[1]} on {place[0]}')})"] if margin else []
    head = (
        "**More descent than the paper asks for**: training asked each layer for a margin beyond alpha, so that "
        "the constraints also hold on new data; part of the price and of the loss is the margin's"
    )
    return f"{head}: {listed(asked)}." if asked else ""


def resting(card: pd.DataFrame, models: pd.DataFrame) -> set[tuple[str, str]]:
    """The data sets and models that the tested claims of a card rest on.

    Args:
        card, models: as of margins.
    """
    tested = card.loc[card["verdict"] != NOT_TESTED, "claim"]
    passing = models[models["claim"].isin(tested) & (models["why"].fillna("") == "")]
    return {(name, row.model) for row in passing.itertuples() for name in row.datasets.split(", ")}


def _tested(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The primary claims that a part could test, then those that its data sets could."""
    for name in ("claims", "datasets"):
        card = files.table(folder, name)
        yield from judged.tested(card) if card is not None else ()


def _aside(folders: Sequence[Path]) -> Iterator[tuple[Path, Mapping[str, Any], list[tuple[str, str]]]]:
    """The claims that rest on what another part replaces, with these data sets and models."""
    gone_of = parts.gone(folders) if len(folders) > 1 else {}
    for number, folder in enumerate(folders):
        for row in _tested(folder):
            gone = sorted((data, model) for data, model, part in gone_of.get(row["claim"], ()) if part == number)
            if not gone:
                continue
            pairs, facts = files.pairs_and_facts(folder)
            own = pairs[pairs["claim"] == row["claim"]]
            if "dataset" in row:
                own = own[own["dataset"] == row["dataset"]]
            else:
                own = grounds.left_in(own, grounds.passing(facts[facts["claim"] == row["claim"]]))
            held = set(own[["dataset", "model"]].itertuples(index=False, name=None))
            if places := [place for place in gone if place in held]:
                yield folder, row, places


def _key(folder: Path, row: Mapping[str, Any]) -> tuple[str, str, str]:
    return folder.name, str(row.get("dataset", judged.EVERY)), row["claim"]


def _at_one_rate(folder: Path, params: Params) -> Iterator[str]:
    if (found := files.table(folder, "controls")) is None:
        return
    own = found[found["study"].str.startswith(SAME_RATE) & (found["arm"] == params.comparison.ours)]
    for name, rows in own.groupby("study", sort=False):
        study = files.params(folder).studied(name)
        unit = "percent" if study.task == "video" else "points"
        ours = select(files.cells(folder), experiment=name, arm=params.comparison.ours)
        held = ours.astype({"feasible": float}).groupby(ours["varied"].astype(float))["feasible"]
        gains = [
            f"{written(row.gain_out_low, unit)} to {written(row.gain_out_high, unit)} at {float(row.varied):g} "
            f"({held.sum()[float(row.varied)]:.0f} of {held.size()[float(row.varied)]})"
            for row in rows.itertuples()
        ]
        yield f"{params.label(study.model)} in {folder.name} {listed(gains)}"
