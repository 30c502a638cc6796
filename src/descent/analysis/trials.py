"""The tasks that classify in the summary: areas under accuracy-noise curves, ratios, the trial to show."""

import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from descent.analysis.keys import CELL, CURVE
from descent.analysis.lost import chance, truth
from descent.analysis.select import (
    at_eps,
    check_named,
    in_distribution,
    last_layer,
    mean,
    select,
    sweep,
)
from descent.config import Params

RATIOS = ["ratio_mean", "ratio_median", "ratio_below_one", "ratio_below_target"]
HYPERPARAMETERS = ["lr", "dual_lr", "alpha", "rho"]
MEASURES = ["area", "accuracy_in_distribution", "accuracy_out_of_distribution"]  # that trials are averaged over
SHARES = ["feasible", "feasible_test", "active_epochs", "active_reported"]  # of seeds that repeat one training


def accuracy_columns(known: pd.DataFrame, params: Params) -> dict[str, pd.Series]:
    """The columns of `cells_table` that cells of text and of the language model have, by CELL.

    Accuracies (shares, test data) are those of the last layer: `accuracy_clean` at gamma 0, `accuracy_at_eps`,
    and plain means over the levels of the task's `evaluation.gammas` up to the training level
    (`accuracy_in_distribution`) and above it (`accuracy_out_of_distribution`). `area`: under accuracy against
    gamma over those levels alone, by the trapezoid rule. Ratios of successive layer losses of single test
    texts: RATIOS. What the cell was trained with (any task): HYPERPARAMETERS.

    Args:
        known: rows under TRAINED that hold numbers.
    """
    accuracy = last_layer(select(known, metric="accuracy", split="test"))
    swept = sweep(accuracy, "accuracy", params)
    inside = in_distribution(swept["gamma"], swept["eps"])
    return {
        "area": _area(swept),
        "accuracy_clean": mean(select(accuracy, gamma=0.0)),
        "accuracy_at_eps": mean(at_eps(accuracy)),
        "accuracy_in_distribution": mean(swept[inside], over=["gamma"]),
        "accuracy_out_of_distribution": mean(swept[~inside], over=["gamma"]),
        **{name: mean(select(known, metric=name)) for name in [*RATIOS, *HYPERPARAMETERS]},
    }


def seeds_are_trials(params: Params) -> bool:
    """Whether the seeds of text are the trials of a search, of which each arm shows its best; else they repeat one
    training, and the best of them would be luck."""
    return any(params.text.search.arms.get(arm) for arm in params.arms)


def best_trial(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What to show for each (dataset, model, arm, layers, eps) of text: a row of `cells`, and its company.

    Where seeds are the trials of a search: the one with the lowest validation loss of the last layer; trials that
    diverged, or have no loss, come last. The test set is never looked at. Feasible trials do NOT go first, unlike
    the depths of video: dual weight decay relaxes the constraints on purpose, and so all arms are chosen from by
    the same rule. Where they repeat one training, that row with the means over seeds in place of its validation
    loss, MEASURES (of a seed that diverged those of chance), SHARES; `diverged` or `infeasible` where one seed is.

    Added columns: `trials`, and over these the mean and the sample standard deviation of each of MEASURES,
    `<measure>_mean` and `<measure>_sd` (missing for a single one). Of a search trials that diverged are
    not counted; of repeated seeds they are, as chance.
    """
    group = [*CURVE, "layers"]
    trials = select(cells, experiment="text")
    trials = trials.assign(last=truth(trials["diverged"]))
    best = trials.sort_values(["last", "validation_loss", "seed"]).drop_duplicates(group).drop(columns="last")
    counted = (trials[~trials["last"]] if seeds_are_trials(params) else _guessing(trials, params)).groupby(group)
    company = counted[MEASURES].agg(["mean", "std"])
    company.columns = [f"{measure}_{'sd' if word == 'std' else word}" for measure, word in company.columns]
    best = best.merge(company.assign(trials=counted.size()).reset_index(), how="left", on=group)
    if not seeds_are_trials(params):
        best = _with_means(best, trials.groupby(group), group)
    return best.astype({"trials": "Int64"}).fillna({"trials": 0}).sort_values(group, ignore_index=True)


def best_text(cells: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Of `best_trial` the depth to show for each (dataset, model, arm, eps): the lowest validation loss, and last
    what diverged."""
    best = best_trial(cells, params)
    best = best.assign(last=truth(best["diverged"]))
    chosen = best.sort_values(["last", "validation_loss", "layers"]).drop_duplicates(CURVE)
    return chosen.drop(columns="last").sort_values(CURVE, ignore_index=True)


def _guessing(trials: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Trials of which those that diverged (`last`) have the MEASURES of a guess."""
    guess = trials["dataset"].map(lambda dataset: chance(params, dataset)).astype(float)
    widths = {name: params.text.evaluation.span if name == "area" else 1.0 for name in MEASURES}
    return trials.assign(**{name: trials[name].mask(trials["last"], guess * widths[name]) for name in MEASURES})


def _with_means(best: pd.DataFrame, seeds: DataFrameGroupBy, group: list[str]) -> pd.DataFrame:
    """Rows of `best` with what is said of all seeds of a setting."""
    found = best.set_index(group)
    for name in MEASURES:
        found[name] = found[f"{name}_mean"]
    for name in ("validation_loss", *SHARES):
        found[name] = seeds[name].agg(lambda values: values.astype(float).mean())
    for name, mark in (("infeasible", "infeasible"), ("diverged", "last")):
        found[name] = seeds[mark].any()
    return found.reset_index()[best.columns]


def _area(swept: pd.DataFrame) -> pd.Series:
    check_named(swept, CELL, over=["gamma"])
    rows = swept.sort_values("gamma")
    before = rows.groupby(CELL)[["gamma", "value"]].shift()  # every cell has every level once
    pieces = (rows["gamma"] - before["gamma"]) * (rows["value"] + before["value"]) / 2
    return pieces.groupby([rows[key] for key in CELL]).sum()
