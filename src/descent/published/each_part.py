"""What each published run says by itself, in Markdown, beside the verdicts that all of them give together."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from descent.analysis import grounds
from descent.analysis.keys import PLACE, tuples
from descent.analysis.select import select
from descent.analysis.verdicts import NOT_TESTED
from descent.analysis.wording import written
from descent.components import TASKS
from descent.config import Params
from descent.published import files, judged, parts
from descent.published.markdown import linked, listed, pipe
from descent.study import SAME_RATE

SAME_CELLS = (
    "Exploratory: of runs that are judged together these are the cells of the claims above, and no more evidence. "
    "*Not counted*: another run trained the same models on the same data for longer, or with more trials."
)


def table(folders: Sequence[Path], apart: Sequence[Path], params: Params) -> str:
    """What each published run, and each data set of one that has several, says of the primary claims by itself,
    corrected within its own six; empty where none could test one.

    Args:
        folders: those that are judged together; what another of them counts for in its place is marked.
        apart: those that are judged alone.
    """
    aside = {_key(folder, row) for folder, row in _aside(folders)}
    rows = []
    for folder in [*folders, *apart]:
        for row in _tested(folder):
            *words, verdict = judged.alone(row, params)
            rows.append([folder.name, *words, verdict + (", not counted" if _key(folder, row) in aside else "")])
    return f"{SAME_CELLS}\n\n{pipe(['run', *judged.ALONE_IN], rows)}" if rows else ""


def by_rate(folders: Sequence[Path], params: Params) -> str:
    """What our arm gains out of distribution where both arms train at one learning rate, and how many of its cells
    are feasible on validation data, a row for each rate of the studies that runs have published; empty where none
    has."""
    rows = [row for folder in folders for row in _at_one_rate(folder, params)]
    header = ["run", "model", "learning rate of both arms", "gain out of distribution", "95 %", "feasible"]
    return f"Exploratory; intervals over seeds alone.\n\n{pipe(header, rows)}" if rows else ""


def margins(folders: Sequence[Path], card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """In a sentence, how much more descent than alpha training asked for, of what tested claims of video rest on;
    empty where it asked for none.

    Args:
        card, models: the primary claims, and each on each model alone (scorecard.by_model).
    """
    places = places_behind(card[card["claim"].str.startswith("video")], models)
    gone = parts.replaced(folders)
    asked = []
    for number, folder in enumerate(folders):
        own = files.cells(folder)
        held = set(tuples(own[own["experiment"].isin(TASKS)], PLACE))
        told = files.params(folder)
        for place in sorted(place for place in held if place in places and (*place, number) not in gone):
            margin = told.objective(params.comparison.ours, *place).get("margin", 0.0)
            asked += [f"{margin:g} ({params.in_words(f'{place[1]} on {place[0]}')})"] if margin else []
    head = (
        "**More descent than the paper asks for**, of video: training asked each layer for a margin beyond alpha, "
        "so that the constraints also hold on new data; part of the price and of the loss is the margin's"
    )
    return f"{head}: {listed(asked)}." if asked else ""


def places_behind(card: pd.DataFrame, models: pd.DataFrame) -> set[tuple[str, str]]:
    """The data sets and models that the tested claims of a card rest on.

    Args:
        card, models: as of margins.
    """
    tested = card.loc[card["verdict"] != NOT_TESTED, "claim"]
    passing = models[models["claim"].isin(tested) & (models["why"] == "")]
    return {(name, row.model) for row in passing.itertuples() for name in row.datasets.split(", ")}


def _tested(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The primary claims that a run could test, then those that its data sets could, less what is of one alone."""
    said = []
    for name in ("claims", "datasets"):
        card = files.table(folder, name)
        for row in judged.tested(card) if card is not None else ():
            words = [row[key] for key in ("claim", "estimate", "low", "high")]
            if words not in said:
                yield row
            said.append(words)


def _aside(folders: Sequence[Path]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The claims that rest on what another run replaces."""
    gone_of = parts.replaced_by_claim(folders)
    for number, folder in enumerate(folders):
        for row in _tested(folder):
            gone = {(data, model) for data, model, part in gone_of.get(row["claim"], ()) if part == number}
            if not gone:
                continue
            pairs, facts = files.pairs_and_facts(folder)
            own, told = (table[table["claim"] == row["claim"]] for table in (pairs, facts))
            own = grounds.left_in(own, grounds.passing(told))
            if "dataset" in row:
                own = own[own["dataset"] == row["dataset"]]
            if gone & set(tuples(own, PLACE)):
                yield folder, row


def _key(folder: Path, row: Mapping[str, Any]) -> tuple[str, str, str]:
    return folder.name, str(row.get("dataset", judged.EVERY)), row["claim"]


def _at_one_rate(folder: Path, params: Params) -> Iterator[list[str]]:
    if (found := files.table(folder, "controls")) is None:
        return
    own = found[found["study"].str.startswith(SAME_RATE) & (found["arm"] == params.comparison.ours)]
    for name, rows in own.groupby("study", sort=False):
        study = files.params(folder).studied(name)
        unit = "percent" if study.task == "video" else "points"
        ours = select(files.cells(folder), experiment=name, arm=params.comparison.ours)
        held = ours.astype({"feasible": float}).groupby(ours["varied"].astype(float))["feasible"]
        for row in rows.itertuples():
            rate = float(row.varied)
            gain, *ends = (written(end, unit) for end in (row.gain_out, row.gain_out_low, row.gain_out_high))
            feasible = f"{held.sum()[rate]:.0f} of {held.size()[rate]}"
            yield [linked(folder), params.label(study.model), f"{rate:g}", gain, " to ".join(ends), feasible]
