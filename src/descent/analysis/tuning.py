"""The trials of learning rates: those of every arm, ranked on validation data before seeds are spent."""

import pandas as pd

from descent.analysis.keys import tuples
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.components import TASKS
from descent.config import Params
from descent.study import RATES

TRIED = ["model", "dataset", "layers", "eps", "arm"]


def trials(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per model, setting, arm and rate of the studies `rates_*`, the best of each arm first.

    Ranked as the protocol says: what diverged last, then by `missed`, how far the worst violation on validation
    data lies beyond the tolerance (0 for an arm that enforces no constraint), then by f_L on validation data.

    Args:
        cells: summary.cells_table.

    Returns:
        TRIED, `lr`, `seeds`, and over these `diverged`, any, and the means `validation_loss` and `missed`, the
        first with its `standard_error`: seeds validate on clips of their own, where they draw clips; `place`, 1
        for the best rate of its arm; `used`, whether that arm of the tasks' grids trained with it.
    """
    tried = cells[cells["experiment"].str.startswith(RATES)]
    tolerance = tried["model"].map(params.tolerance_of).astype(float)
    missed = (tried["worst_violation"].astype(float) - tolerance).clip(lower=0)
    tried = tried.assign(
        missed=missed.where(tried["arm"].isin(params.enforcing), 0.0),
        diverged=truth(tried["diverged"]),
        validation_loss=tried["validation_loss"].astype(float),
    )
    groups = tried.groupby([*TRIED, "lr"])
    found = groups.agg(
        seeds=("seed", "size"),
        diverged=("diverged", "any"),
        validation_loss=("validation_loss", "mean"),
        standard_error=("validation_loss", "sem"),
        missed=("missed", "mean"),
    ).reset_index()
    found = found.sort_values([*TRIED, "diverged", "missed", "validation_loss"], ignore_index=True)
    grid = cells[cells["experiment"].isin(TASKS)]
    rate = ["model", "arm", "lr"]
    rates = set(tuples(grid, rate))
    used = [own in rates for own in tuples(found, rate)]
    return found.assign(place=found.groupby(TRIED).cumcount() + 1, used=pd.Series(used, dtype=bool))


def uneven(cells: pd.DataFrame, params: Params, model: str) -> str:
    """P6: why the two arms of the comparison were not tuned alike, as far as the trials are listed; else empty.

    Alike: as many trials, and at the same rates with the same seeds, of which no pair has one.
    """
    found = trials(select(cells, model=model), params)
    columns = ["dataset", "layers", "eps", "lr", "seeds"]
    tried = {arm: set(tuples(select(found, arm=arm), columns)) for arm in params.comparison.arms}
    ours, theirs = tried.values()
    if len(ours) != len(theirs):
        told = ", ".join(f"{len(own)} of {arm}" for arm, own in tried.items())
        return f"unequal trials of the rate of {model}: {told}"
    if ours != theirs:
        told = ", ".join(f"{' '.join(_rates(own - (ours & theirs)))} of {arm}" for arm, own in tried.items())
        return f"the arms of {model} tried unlike rates, or unlike numbers of seeds (in brackets): {told}"
    return _seeds(cells, params, model)


def _seeds(cells: pd.DataFrame, params: Params, model: str) -> str:
    """P6 of the seeds of the trials."""
    own = select(cells, model=model)
    own = own[own["arm"].isin(params.comparison.arms)]
    tried = own[own["experiment"].str.startswith(RATES)]
    columns = ["dataset", "layers", "eps", "lr", "seed"]
    by_arm = [set(tuples(select(tried, arm=arm), columns)) for arm in params.comparison.arms]
    if by_arm[0] != by_arm[1]:
        return f"the arms of {model} were tried with unlike seeds"
    grid = own[own["experiment"].isin(TASKS)]
    if shared := set(tuples(tried, ["dataset", "seed"])) & set(tuples(grid, ["dataset", "seed"])):
        seeds = ", ".join(map(str, sorted({seed for _, seed in shared})))
        return f"rates of {model} were tried with seeds that pairs have: {seeds}"
    return ""


def _rates(tried: set[tuple]) -> list[str]:
    """The rates alone, in words, in order."""
    return [f"{lr:g} ({seeds})" for *_, lr, seeds in sorted(tried)]
