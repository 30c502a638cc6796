"""What runs that are judged alone say of the primary claims, of which they join none."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from descent.analysis.claims import CLAIMS
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.analysis.verdicts import NOT_TESTED
from descent.analysis.wording import UNKNOWN, with_interval
from descent.components import TASKS
from descent.config import Params
from descent.published import files
from descent.published.markdown import linked, listed, pipe
from descent.published.sections import of_each

HEADER = ("run", "model", "asked of its layers", "here", "settings", "seeds", "lost", "verdict")
TESTED = "**Tested in runs of their own**, announced to join no claim and to change none"
CHAPTER = "RUNS.md#runs-judged-alone"


def table(folders: Sequence[Path], params: Params) -> str:
    """A table in Markdown for each primary claim that such a run has a number for; empty where none has one.

    A row for each model of a run and each group of data sets on which it meets the preconditions or does not; one
    more, first, where several together make a verdict. *Lost* cells are of both arms.
    """
    told: dict[str, list[list[object]]] = {}
    for folder in folders:
        own, cells = files.params(folder), files.cells(folder)
        for row, models in _claims(folder):
            told.setdefault(row["statement"], []).extend(_rows(folder, own, cells, row, models, params))
    return "\n\n".join(f"*{statement}*\n\n{pipe(HEADER, rows)}" for statement, rows in told.items())


def sentence(folders: Sequence[Path], params: Params) -> str:
    """Which of them could be tested, by their models; empty where none could."""
    told = []
    for folder in folders:
        tested = [models for row, models in _claims(folder) if row["verdict"] != NOT_TESTED]
        if tested:
            passing = pd.concat(tested).query("why == ''").to_dict("records")
            models = dict.fromkeys(_model(one, params) for one in passing)
            told.append(f"{listed([*models])} ({linked(folder)})")
    return f"{TESTED}: {'; '.join(told)}; [what came of them]({CHAPTER})." if told else ""


def _claims(folder: Path) -> Iterator[tuple[dict, pd.DataFrame]]:
    """The primary claims that a run has a number for, each with its models; those pass whose `why` is empty."""
    card, models = (files.table(folder, name).dropna(subset="estimate") for name in ("claims", "models"))
    for row in card[card["group"] == "primary"].to_dict("records"):
        yield row, select(models, claim=row["claim"])


def _rows(
    folder: Path, own: Params, cells: pd.DataFrame, row: dict, models: pd.DataFrame, params: Params
) -> Iterator[list[object]]:
    """Of one claim.

    Args:
        own, cells: the run's parameters and cells.
        params: of the page, whose labels it has.
    """
    tested, several = row["verdict"] != NOT_TESTED, (models["why"] == "").sum() > 1
    if tested and several:
        yield [linked(folder), "together", "", *_numbers(row), "", f"**{row['verdict']}**"]
    for one in models.to_dict("records"):
        verdict = f"**{row['verdict']}**" if not several else "part of these together"
        if one["why"] or not tested:
            verdict = f"{NOT_TESTED}: {params.in_words(one['why'] or row['why'])}"
        asked, lost = _asked(own, one), _lost(own, cells, one)
        yield [linked(folder), _model(one, params), asked, *_numbers(one), lost, verdict]


def _numbers(row: dict) -> list[object]:
    return [with_interval(row), *(f"{row[name]:.0f}" for name in ("settings", "seeds"))]


def _model(one: dict, params: Params) -> str:
    return f"{params.label(one['model'])} on {params.in_words(one['datasets'])}"


def _asked(own: Params, one: dict) -> str:
    """The share by which each layer must lower the loss, the cap before the first, and a tighter start if any."""
    each = [own.objective(own.comparison.ours, dataset, one["model"]) for dataset in one["datasets"].split(", ")]
    known = ["alpha", "R0", *(["margin_start"] if any(asked.get("margin_start") for asked in each) else [])]
    return ", ".join(f"{name} = {of_each(f'{asked.get(name, 0):g}' for asked in each)}" for name in known)


def _lost(own: Params, cells: pd.DataFrame, one: dict) -> str:
    """How many cells of its pairs diverged."""
    experiment = CLAIMS[one["claim"]].experiment
    if experiment not in TASKS:  # a study's cells are not told apart by the models of a claim
        return UNKNOWN
    cells = select(cells, experiment=experiment, model=one["model"])
    cells = cells[cells["arm"].isin(own.comparison.arms)]
    cells = cells[cells["dataset"].isin(one["datasets"].split(", "))]
    return f"{truth(cells['diverged']).sum()} of {len(cells)}"
