"""Which of several published parts counts for a model on a data set: PROTOCOL.md, "What is run again"."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from descent.analysis.keys import PLACE, tuples
from descent.analysis.select import select
from descent.errors import UserError
from descent.published import files


def replaced(rows: pd.DataFrame, cells: pd.DataFrame, folders: Sequence[Path]) -> set[tuple[str, str, int]]:
    """Of the data sets and models of several parts, those of every part but the one with the largest budget; of
    equal ones a part that can tell how far its problems are solved (P9) stands for one that cannot.

    Args:
        rows: pairs or cells, with the number of their `part`.
        cells: those of the rows' experiment.

    Raises:
        UserError: two have the same budget, or the largest lacks settings of another.
    """
    budgets = _budgets(folders, cells)
    gone = set()
    for place, held in rows[[*PLACE, "part"]].drop_duplicates().groupby(PLACE):
        ranked = sorted((budgets.get((*place, part), (0, 0, False)), part) for part in held["part"])
        if len(ranked) > 1 and ranked[-1][0] == ranked[-2][0]:
            one, other = (folders[part].name for _, part in ranked[-2:])
            raise UserError(
                f"{one} and {other} both hold {place[1]} on {place[0]}, trained and tuned for as long: remove the "
                "part that the other one replaces"
            )
        gone |= {(*place, part) for _, part in ranked[:-1]}
    _check_whole(rows, gone, folders)
    return gone


def without(gone: set[tuple[str, str, int]], rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of other data sets, models and parts than these."""
    return rows[[place not in gone for place in tuples(rows, [*PLACE, "part"])]] if gone else rows


def _budgets(folders: Sequence[Path], cells: pd.DataFrame) -> dict[tuple, tuple[int, int, bool]]:
    """How long each part trained and tuned these cells, by data set, model and part: epochs (of texts passes over
    them), and trials of the rate (each seed one) of that of the two compared arms which has fewer; and whether its
    cells have a `slackness`."""
    tried = {}
    for number, folder in enumerate(folders):
        if (trials := files.table(folder, "trials")) is not None:
            arms = [*files.params(folder).comparison.arms]
            for place, rows in trials.groupby(PLACE):
                of_arm = rows.groupby("arm")["seeds"].sum().reindex(arms, fill_value=0)
                tried[(*place, number)] = int(of_arm.min())
    budgets = {}
    for (dataset, model, part), rows in cells[cells["trained"]].groupby([*PLACE, "part"]):
        place = dataset, model, part
        told = bool(rows.reindex(columns=["slackness"]).notna().any(axis=None))  # a column that old tables lack
        budgets[place] = files.params(folders[part]).epochs(model), tried.get(place, 0), told
    return budgets


def _check_whole(rows: pd.DataFrame, gone: set[tuple], folders: Sequence[Path]) -> None:
    """A part loses all its settings of a model on a data set or none, as what it said is of all of them."""

    def settings(held: pd.DataFrame) -> set[tuple]:
        return set(tuples(held, ["layers", "eps"]))

    left = without(gone, rows)
    for dataset, model, part in sorted(gone):
        place = {"dataset": dataset, "model": model}
        if not settings(select(rows, **place, part=part)) <= settings(select(left, **place)):
            raise UserError(
                f"{folders[part].name} holds settings of {model} on {dataset} that a part trained or tuned for "
                "longer lacks: publish that one with all of them, or remove one of the two"
            )
