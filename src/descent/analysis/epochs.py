"""What our arm gains over the baseline, by how long both were trained: whether more training turns it round."""

import pandas as pd

from descent.analysis.controls import over_seeds, trained_cells
from descent.analysis.keys import PAIR, SETTING
from descent.analysis.trials import seeds_are_trials
from descent.components import TASKS
from descent.config import Params

EPOCHS = "epochs"
TRAINED_FOR = [*SETTING, EPOCHS]
GAINS = ["gain_in", "gain_out"]
OF_ARM = ["validation_loss", "descending"]  # what is told of either arm


def studies(params: Params) -> list[str]:
    """The studies in use that train and test both arms as they are, for another number of epochs."""
    pair = {*params.comparison.arms}
    asked = {
        name: own for name, own in params.in_use.items() if own.times != 1 and own.same_objectives and own.tested
    }
    return [name for name, own in asked.items() if pair <= {own.arm, *own.beside} and params.runs(own)]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per setting that such a study trains and number of `epochs`; the grid's where it has the setting.

    Columns: `seeds`, those that both arms have at every number of epochs and of which no cell diverged at any;
    `lost`, the others that they have: what a diverged cell errs by would drown what the rest say. Over the former,
    means, missing where there is no seed: `gain_in` and `gain_out` (controls.trained_cells) with `<column>_low`
    and `<column>_high` (controls.over_seeds), and of both arms `validation_loss` and `descending`, with `_ours`
    or `_baseline`. Trials of a search of text are no seeds, so that its grid has no row.
    """
    cells = _trained(trained_cells(results, params), params)
    budgets = cells.groupby(SETTING)[EPOCHS].transform("nunique")
    whole = cells[cells.groupby(PAIR)[EPOCHS].transform("size") == 2 * budgets]
    whole = whole.assign(lost=whole.groupby(PAIR)["diverged"].transform("any"))
    counts = whole.drop_duplicates(PAIR).groupby(SETTING)["lost"].agg(lost="sum", all="size").reset_index()
    counts = counts.assign(seeds=counts["all"] - counts["lost"]).drop(columns="all")
    found = cells[TRAINED_FOR].drop_duplicates().sort_values(TRAINED_FOR).merge(counts, how="left", on=SETTING)
    found = found.fillna({"seeds": 0, "lost": 0}).astype({"seeds": int, "lost": int})
    kept = whole[~whole["lost"]]
    gains = over_seeds(kept[kept["arm"] == params.comparison.ours], GAINS, by=TRAINED_FOR)
    found = found.merge(gains.drop(columns=[f"{name}_seeds" for name in GAINS]), how="left", on=TRAINED_FOR)
    for ending, arm in zip(("ours", "baseline"), params.comparison.arms, strict=True):
        means = kept[kept["arm"] == arm].groupby(TRAINED_FOR)[OF_ARM].mean().add_suffix(f"_{ending}")
        found = found.merge(means.reset_index(), how="left", on=TRAINED_FOR)
    return found.reset_index(drop=True)


def _trained(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The cells of both arms at every number of epochs, of the settings that a study trains, with that number."""
    arms = cells["arm"].isin(params.comparison.arms)
    plain = cells[arms & (cells["varied"] == "")]
    times = {name: params.studied(name).times for name in studies(params)}
    own = plain[plain["experiment"].isin(times)]
    grids = [task for task in TASKS if task != "text" or not seeds_are_trials(params)]
    grid = plain[plain["experiment"].isin(grids)].merge(own[SETTING].drop_duplicates(), on=SETTING)
    both = pd.concat([own, grid], ignore_index=True)
    told = zip(both["model"], both["experiment"], strict=True)
    both[EPOCHS] = [params.epochs(model, times.get(experiment, 1.0)) for model, experiment in told]
    both = both.drop_duplicates([*TRAINED_FOR, "seed", "arm"])  # two studies may train for equally long
    return both.astype({EPOCHS: int, "diverged": bool, "descending": "Float64"})
