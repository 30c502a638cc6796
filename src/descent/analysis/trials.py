"""The text experiments in the summary: areas under accuracy-noise curves, ratios, the trial and depth to show."""

from typing import Any

import numpy as np
import pandas as pd

from descent.analysis.select import CELL, at_eps, last_layer, mean, select, whole_sweep
from descent.config import Params

SETTING = ["dataset", "model", "method", "eps"]
RATIOS = ["ratio_mean", "ratio_median", "ratio_below_one", "ratio_below_target"]
HYPERPARAMETERS = ["lr", "dual_lr", "alpha", "rho"]
MEASURES = ["area", "accuracy_in_distribution", "accuracy_out_of_distribution"]  # that trials are averaged over


def text_columns(known: pd.DataFrame, params: Params) -> dict[str, pd.Series]:
    """The columns of `cells_table` that cells of text experiments and of the language model have, by CELL;
    `known` holds numbers only.

    Accuracies (shares, test data) are those of the last layer: `accuracy_clean` at gamma 0, `accuracy_at_eps`,
    and plain means over the levels of the experiment's `evaluation.gammas` up to the training level
    (`accuracy_in_distribution`) and above it (`accuracy_out_of_distribution`). `area`: under accuracy against
    gamma over those levels alone, by the trapezoid rule. Ratios of successive layer losses of single test
    texts: RATIOS. What the cell was trained with: HYPERPARAMETERS.
    """
    accuracy = last_layer(select(known, metric="accuracy", split="test"))
    of_lm, grids = accuracy["experiment"] == "lm", (params.text.evaluation.gammas, params.lm.evaluation.gammas)
    sweeps = [whole_sweep(accuracy[own], "accuracy", g) for own, g in zip((~of_lm, of_lm), grids, strict=True)]
    sweep = pd.concat(sweeps)
    inside = sweep["gamma"] <= sweep["eps"] + 1e-9
    return {
        "area": pd.concat([_area(own, gammas) for own, gammas in zip(sweeps, grids, strict=True)]),
        "accuracy_clean": mean(select(accuracy, gamma=0.0)),
        "accuracy_at_eps": mean(at_eps(accuracy)),
        "accuracy_in_distribution": mean(sweep[inside]),
        "accuracy_out_of_distribution": mean(sweep[~inside]),
        **{name: mean(select(known, metric=name)) for name in [*RATIOS, *HYPERPARAMETERS]},
    }


def best_trial(cells: pd.DataFrame) -> pd.DataFrame:
    """The trial to show for each (dataset, model, method, layers, eps): its row of `cells`, and its company.

    Rule: the lowest validation loss of the last layer; trials that diverged, or have no loss, come last. The
    test set is never looked at. Feasible trials do NOT go first, unlike the depths of video: dual weight decay
    relaxes the constraints on purpose, and so both arms are chosen from by the same rule.

    Added columns: `trials` (those that did not diverge), and over these the mean and the sample standard
    deviation of each of MEASURES, `<measure>_mean` and `<measure>_sd` (missing for a single trial).
    """
    group = [*SETTING, "layers"]
    trials = select(cells, experiment="text")
    trials = trials.assign(last=trials["diverged"].fillna(False).astype(bool))
    best = trials.sort_values(["last", "validation_loss", "seed"]).drop_duplicates(group).drop(columns="last")
    sound = trials[~trials["last"]].groupby(group)
    company = sound[MEASURES].agg(["mean", "std"])
    company.columns = [f"{measure}_{'sd' if word == 'std' else word}" for measure, word in company.columns]
    best = best.merge(company.assign(trials=sound.size()).reset_index(), how="left", on=group)
    return best.astype({"trials": "Int64"}).fillna({"trials": 0}).sort_values(group, ignore_index=True)


def best_text(cells: pd.DataFrame) -> pd.DataFrame:
    """Of the best trials, the depth to show for each (dataset, model, method, eps): the lowest validation loss."""
    best = best_trial(cells)
    best = best.assign(last=best["diverged"].fillna(False).astype(bool))
    chosen = best.sort_values(["last", "validation_loss", "layers"]).drop_duplicates(SETTING)
    return chosen.drop(columns="last").sort_values(SETTING, ignore_index=True)


def text_metrics(cells: pd.DataFrame, params: Params) -> dict[str, Any]:
    """The text part of `metrics`, at the headline training level `text.eps`; empty where there are no cells.

    Areas and accuracies: the median over data sets and models, each at its best depth and trial. Shares: of
    all cells of that level, and the share of settings whose best constrained trial has the larger area.
    """
    headline = select(cells, experiment="text", eps=float(params.text.eps))
    if headline.empty:
        return {}
    shown = best_text(headline).groupby("method")
    by_method = {name: shown[name].median() for name in ("area", "accuracy_out_of_distribution")}
    by_method["descending_share"] = headline.groupby("method")["descending"].mean()
    constrained = select(headline, method="constrained").groupby("method")
    by_method["feasible_share"] = constrained["feasible"].mean()
    numbers = {name: {m: float(f"{v:.5g}") for m, v in by.dropna().items()} for name, by in by_method.items()}
    both = text_pairs(best_trial(headline), "area")
    if len(both):
        numbers["constrained_wins_share"] = round(float((both["constrained"] > both["unconstrained"]).mean()), 4)
    return {name: value for name, value in numbers.items() if value != {}}


def text_pairs(best: pd.DataFrame, column: str) -> pd.DataFrame:
    """One measure of both arms' best trials side by side where both have it; by (dataset, model, layers, eps)."""
    wide = best.pivot(index=["dataset", "model", "layers", "eps"], columns="method", values=column)
    return wide.reindex(columns=["constrained", "unconstrained"]).dropna().astype(float)


def _area(sweep: pd.DataFrame, gammas: list[float]) -> pd.Series:
    levels = np.unique(gammas)
    widths = (np.diff(levels, prepend=levels[0]) + np.diff(levels, append=levels[-1])) / 2
    rows = sweep.sort_values("gamma")
    place = rows.groupby(CELL).cumcount()  # every cell of a whole sweep has every level once
    return (rows["value"] * widths[place]).groupby([rows[key] for key in CELL]).sum()
