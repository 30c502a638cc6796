"""Every published run in a line: what it trained, whether it joins the claims, and where the notes speak of it."""

import re
from collections.abc import Sequence
from pathlib import Path

from descent.analysis.keys import SETTING
from descent.components import TASKS
from descent.published import files, trained
from descent.published.markdown import anchor, linked, pipe

NOTES = "NOTES.md"
HEADER = ("run", "trained", "cells", "of studies", "seeds", "notes")


def tables(together: Sequence[Path], apart: Sequence[Path]) -> str:
    """A table of the runs that are judged together and one of those that are judged alone; of no runs none.

    *Cells* are of the grid, those that two models share once, *of studies* of what varies something; *seeds* the
    most that one setting of the grid has. Notes are linked by the headings that name a run (NOTES.md, beside its
    folder).
    """
    kinds = {"Judged together": together, "Judged alone": apart}
    said = [
        f"*{kind}*\n\n{pipe(HEADER, [_row(folder) for folder in folders])}"
        for kind, folders in kinds.items()
        if folders
    ]
    return "\n\n".join(said)


def _row(folder: Path) -> list[object]:
    cells = files.cells(folder)
    cells = cells[cells["trained"].astype(bool)]  # less the maps that learn nothing
    of_grid = cells["experiment"].isin(TASKS)
    grid = trained.each_once(cells[of_grid])
    seeds = grid.groupby(SETTING)["seed"].nunique().max() if len(grid) else 0
    return [
        linked(folder),
        trained.compared(cells, files.params(folder)),
        len(grid),
        (~of_grid).sum(),
        seeds,
        _notes(folder),
    ]


def _notes(folder: Path) -> str:
    notes = folder.parent / NOTES
    text = notes.read_text(encoding="utf-8") if notes.exists() else ""
    own = [heading for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE) if folder.name in heading]
    return ", ".join(f"[{heading.split(' (')[0]}]({NOTES}#{anchor(heading)})" for heading in own)
