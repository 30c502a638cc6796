"""What our arm gains over the baseline, by how long both were trained: whether more training turns it round."""

from collections.abc import Iterator

import pandas as pd

from descent.analysis.controls import over_seeds, trained_cells
from descent.analysis.select import SETTING
from descent.components import TASKS
from descent.config import Params

EPOCHS = "epochs"
PAIR, PLACE = [*SETTING, "seed"], [*SETTING, EPOCHS]
GAINS = ["gain_in", "gain_out"]
OF_ARM = ["validation_loss", "descending"]  # what is told of either arm


def studies(params: Params) -> list[str]:
    """The studies in use whose cells differ from the grid's in their epochs alone, and are tested."""
    known = {name: params.studied(name) for name in params.studies}
    return [n for n, own in known.items() if own.times != 1 and own.plain and own.tested and params.runs(own)]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per setting that such a study trains and number of `epochs`, the grid's among them.

    Columns: `seeds`, those that every number of epochs has and of which no cell of the two arms diverged at any;
    `lost`, the others that all have: what a diverged cell errs by would drown what the rest say. Over the former,
    means: `gain_in` and `gain_out` (controls.trained_cells) with `<column>_low` and `<column>_high`
    (controls.over_seeds), and of both arms `validation_loss` and `descending`, with `_ours` or `_baseline`.
    """
    cells = pd.concat(_trained(trained_cells(results, params), params), ignore_index=True)
    cells = cells.drop_duplicates([*PAIR, "arm", EPOCHS]).astype({"diverged": bool})
    of_all, of_seed = (cells.groupby(by)[EPOCHS].transform("nunique") for by in (SETTING, PAIR))
    whole = cells[of_seed == of_all].assign(lost=cells.groupby(PAIR)["diverged"].transform("any"))
    counts = whole.drop_duplicates(PAIR).groupby(SETTING)["lost"].agg(lost="sum", all="size").reset_index()
    counts = counts.assign(seeds=counts["all"] - counts["lost"]).drop(columns="all")
    found = cells[PLACE].drop_duplicates().sort_values(PLACE)
    found = found.merge(counts, how="left", on=SETTING)
    kept = whole[~whole["lost"]]
    gains = over_seeds(kept[kept["arm"] == params.comparison.ours], GAINS, by=PLACE)
    found = found.merge(gains.drop(columns=[f"{name}_seeds" for name in GAINS]), how="left", on=PLACE)
    for ending, arm in (("ours", params.comparison.ours), ("baseline", params.comparison.baseline)):
        own = kept[kept["arm"] == arm].astype({"descending": "Float64"})
        means = own.groupby(PLACE)[OF_ARM].mean().add_suffix(f"_{ending}")
        found = found.merge(means.reset_index(), how="left", on=PLACE)
    return found.reset_index(drop=True)


def _trained(cells: pd.DataFrame, params: Params) -> Iterator[pd.DataFrame]:
    """Of the settings that a study trains the cells of both arms, with their number of epochs; the grid's last."""
    arms = [params.comparison.ours, params.comparison.baseline]
    plain = cells[cells["arm"].isin(arms) & (cells["varied"] == "")]
    settings = pd.MultiIndex.from_frame(plain[SETTING])
    shown = settings[:0]
    for name in studies(params):
        study, of_study = params.studied(name), plain["experiment"] == name
        yield plain[of_study].assign(**{EPOCHS: _epochs(params, study.model, study.times)})
        shown = shown.union(settings[of_study])
    grid = plain[plain["experiment"].isin(TASKS) & settings.isin(shown)]
    yield grid.assign(**{EPOCHS: [_epochs(params, model, 1.0) for model in grid["model"]]})


def _epochs(params: Params, model: str, times: float) -> int:
    return params.trained_for(model, times).model_budget(model)["epochs"]
