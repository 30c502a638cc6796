"""Cells of DUST on the tiny data set: trained, evaluated and looked up."""

from pathlib import Path

import pandas as pd

from descent.cells import REFERENCES
from descent.paths import runs_folder
from tests.fakes.core import evaluate_cells, small_params, train_cells

BUDGET = "profiles.demo.video"
ITEM = ("video", "ucsd", "dust")
OUT = runs_folder(*ITEM)
CELL = ["arm", "layers", "eps"]
DUST = {"video.models": ["dust"]}


def names(out: Path = OUT) -> list[str]:
    """Of the cells in a folder of runs."""
    return sorted(path.name for path in out.iterdir())


def trained(**changes: object) -> None:
    train_cells(small_params(DUST | changes), *ITEM)


def evaluated(references: bool = False, **changes: object) -> pd.DataFrame:
    """The rows of the trained cells, or those of the maps that learn nothing."""
    table = evaluate_cells(small_params(DUST | changes), *ITEM[:2])
    return table[table["arm"].isin(list(REFERENCES)) == references]
