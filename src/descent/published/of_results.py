"""Tables of a published run that need its results: controls, shifts, trained numbers."""

import pandas as pd

from descent.analysis import shift_estimates
from descent.analysis.controls import of_study
from descent.analysis.select import select
from descent.components import TASKS
from descent.config import Params

MEAN = "mean over shifts"  # in the column `shift`
GAINS = ["gain_in", "gain_out", "inflation", "slower", "feasible"]


def controls(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Mean effects of every arm of the studies of controls in use: `study`, and the columns of `of_study`.

    `feasible` is the share of the cells that hold the constraints on validation data, whether asked to or not.
    """
    tables = [of_study(results, params, name, GAINS).assign(study=name) for name in params.controls()]
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["study", "arm", "varied"])
    of_a_share = ["feasible_low", "feasible_high", "feasible_seeds"]  # Student's interval says nothing of one
    return found[["study", *found.columns.drop(["study", *of_a_share], errors="ignore")]]


def shifts(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What every arm gains over the baseline under each shift that training has not seen, and in the mean over
    those that tell (shift_estimates.COLUMNS)."""
    found = shift_estimates.table(results, params)
    return found.assign(shift=found["shift"].replace(shift_estimates.ALL, MEAN))


def trained_numbers(results: pd.DataFrame) -> pd.DataFrame:
    """How many numbers each arm of a model trains: model, layers, arm, `numbers`; of the tasks' grids alone."""
    rows = select(results, metric="parameters")
    rows = rows[rows["experiment"].isin(TASKS)]
    return rows.groupby(["model", "layers", "arm"])["value"].max().astype(int).rename("numbers").reset_index()
