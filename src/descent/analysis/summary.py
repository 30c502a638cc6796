"""From the results table to one row per trained cell, and the depth to show."""

from collections.abc import Hashable, Sequence

import pandas as pd

from descent.analysis.keys import CELL, CURVE, PAIR
from descent.analysis.lost import truth
from descent.analysis.select import (
    TRAINED,
    at_eps,
    average,
    check_named,
    in_distribution,
    last_layer,
    mean,
    measured,
    select,
    sweep,
    whole_sweep,
)
from descent.analysis.trials import accuracy_columns, best_trial, seeds_are_trials
from descent.config import Params
from descent.declared import Comparison

# How training went, a number a cell, as evaluation wrote it (results.METRICS).
TRAINING = (
    "active",
    "descent_active",
    "active_epochs",
    "active_reported",
    "oscillation",
    "multiplier_oscillation",
    "feasible_epochs",
    "slackness",
    "clipped",
    "seconds",
    "parameters",
)


def cells_table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per cell, the maps that learn nothing included; a number that cannot be computed is missing (NA).

    All are measured under TRAINED, the noise of training; other shifts are not in this table.

    Columns beside CELL: `trained`, false for a map that learns nothing. RMSE (0-255, test data) as plain means
    over the task's `evaluation.gammas`: all of them (`mean_rmse`, `mean_rmse_clipped`), those up to the training
    level (`rmse_in_distribution`), those above it (`rmse_out_of_distribution`); `rmse_at_eps`; over all of them
    `mean_psnr` (dB) and `mean_ssim`; `longest_step`, the largest `step_length` of a layer; `bias_at_eps`, and
    `variance_at_most`, at the largest level, the two parts of the error there. On validation data
    `validation_loss` of the last layer, `worst_violation` (relative, <= 0 satisfied), `feasible`, `infeasible`
    (not feasible, though its arm enforces the constraints), and `descending`: the loss falls strictly from the
    first constrained layer to the last, of no cell that diverged; `worst_violation_test` and `feasible_test`;
    `diverged`, `epoch` and those of TRAINING as evaluation wrote them; those of `trials.accuracy_columns`.
    A mean over a sweep with holes would not be comparable, so it is missing.
    """
    # Resamples and histograms, nine rows of ten, have their bins; nothing here is read from those.
    known = measured(select(results, shift=TRAINED, bin=0.0))
    losses = select(known, metric="validation_loss")
    verdicts = {"": select(known, split="validation"), "_test": select(known, split="test")}
    columns = {
        **_quality(known, params),
        "validation_loss": mean(last_layer(losses)),
        **{f"worst_violation{on}": _largest(select(rows, metric="violation")) for on, rows in verdicts.items()},
        **{f"feasible{on}": mean(select(rows, metric="feasible")) for on, rows in verdicts.items()},
        **_by_metric(known, ("diverged", "epoch", *TRAINING)),
        "descending": _descending(losses, first_constrained(known)),
        **accuracy_columns(known, params),
    }
    table = results[CELL].drop_duplicates().set_index(CELL).join(pd.DataFrame(columns)).sort_index()
    truths = ("feasible", "feasible_test", "diverged", "descending", "active", "active_reported")
    table = table.astype({**dict.fromkeys(truths, "boolean"), "epoch": "Int64"}).reset_index()
    arms = params.components["arms"]
    enforcing = table["arm"].isin([name for name, said in arms.items() if said["ENFORCES"]])
    infeasible = enforcing & ~truth(table["feasible"])
    # What a cell that diverged lost, its last sound epoch may have had.
    table["descending"] = table["descending"].mask(truth(table["diverged"]), False)
    return table.assign(trained=table["arm"].isin(list(arms)), infeasible=infeasible)


def best_of_search(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The results, of a search of text with the best trial of each setting and arm (trials.best_trial) as seed 0
    in place of all; as they are where seeds repeat one training."""
    text = results["experiment"] == "text"
    if not seeds_are_trials(params) or not text.any():
        return results
    best = best_trial(cells_table(results[text], params), params)[CELL]
    return pd.concat([results[~text], results[text].merge(best, on=CELL).assign(seed=0)], ignore_index=True)


def first_constrained(results: pd.DataFrame) -> pd.Series:
    """The first layer with a constraint (the cap's), by cell; every arm has one."""
    return select(results, metric="violation", split="validation").groupby(CELL)["layer"].min()


def best_depth(cells: pd.DataFrame, task: str = "video") -> pd.DataFrame:
    """The depth to show for each (dataset, model, arm, eps) of a task, averaged over seeds.

    Rule: the lowest validation loss of the last layer. Of an arm that enforces constraints a depth whose cells are
    all feasible goes before one with an infeasible cell, so an infeasible depth is chosen only where no other
    is left (and is then marked in the figures). Diverged depths, and those without a loss, come last.
    """
    depths = select(cells, experiment=task, trained=True)
    depths = depths.assign(diverged=truth(depths["diverged"]))
    measures = {"diverged": "max", "infeasible": "max", "validation_loss": "mean"}
    depths = depths.groupby([*CURVE, "layers"]).agg(measures).reset_index()
    return depths.sort_values([*measures, "layers"]).drop_duplicates(CURVE).sort_values(CURVE, ignore_index=True)


def pairs(cells: pd.DataFrame, column: str, comparison: Comparison, by: Sequence[str] = PAIR) -> pd.DataFrame:
    """One measure of the two arms of the comparison side by side, where both have it.

    Args:
        cells: of one experiment.
        by: what two cells share that differ by their arm alone; the index.

    Returns:
        The columns `ours` and `baseline`.
    """
    wide = cells.pivot(index=list(by), columns="arm", values=column)
    wide = wide.reindex(columns=list(comparison.arms)).dropna().astype(float)
    return wide.set_axis(["ours", "baseline"], axis=1)


def sound(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The rows of the two arms of the comparison, less those of a setting and seed of which a cell diverged.

    Args:
        results: of one experiment.
    """
    rows = results[results["arm"].isin(params.comparison.arms)]
    diverged = mean(measured(select(rows, metric="diverged", shift=TRAINED, bin=0.0)))
    lost = pd.MultiIndex.from_frame(diverged[diverged > 0].reset_index()[PAIR])
    return rows[~pd.MultiIndex.from_frame(rows[PAIR]).isin(lost)]


def _by_metric(known: pd.DataFrame, metrics: Sequence[str]) -> dict[Hashable, pd.Series]:
    """The mean value of each of these, by CELL, in one pass over the rows."""
    told = average(known[known["metric"].isin(metrics)], [*CELL, "metric"]).unstack("metric")
    return dict(told.reindex(columns=list(metrics)).items())


def _quality(known: pd.DataFrame, params: Params) -> dict[str, pd.Series]:
    """What is measured on the output of a denoiser, by CELL."""
    rmse, most = sweep(known, "rmse", params), max(params.video.evaluation.gammas)
    at_level = at_eps(select(known, metric="rmse"))
    trained = rmse["arm"].isin(list(params.components["arms"]))  # else nothing is in or out of distribution
    inside = in_distribution(rmse["gamma"], rmse["eps"])
    means = {"mean_rmse_clipped": "rmse_clipped", "mean_psnr": "psnr", "mean_ssim": "ssim"}
    return {
        "mean_rmse": mean(rmse, over=["gamma"]),
        "rmse_in_distribution": mean(rmse[trained & inside], over=["gamma"]),
        "rmse_out_of_distribution": mean(rmse[trained & ~inside], over=["gamma"]),
        "rmse_at_eps": mean(at_level[at_level["arm"].isin(list(params.components["arms"]))]),
        **{name: mean(sweep(known, metric, params), over=["gamma"]) for name, metric in means.items()},
        "longest_step": _largest(select(known, metric="step_length")),
        "bias_at_eps": mean(at_eps(select(known, metric="rmse_bias"))),
        "variance_at_most": mean(whole_sweep(known, "rmse_variance", [most])),
    }


def _largest(rows: pd.DataFrame) -> pd.Series:
    check_named(rows, CELL, over=["layer"])
    return rows.groupby(CELL)["value"].max()


def _descending(losses: pd.DataFrame, first: pd.Series) -> pd.Series:
    check_named(losses, [*CELL, "layer"])
    from_cap = losses.join(first.rename("first"), on=CELL)
    from_cap = from_cap[from_cap["layer"] >= from_cap["first"]].sort_values("layer")
    steps = from_cap.groupby(CELL)["value"].diff().dropna()
    falls = (steps < 0).groupby([from_cap.loc[steps.index, key] for key in CELL]).all()
    # A layer whose loss is no finite number has no row, and what lies about it is no step.
    cells = from_cap.groupby(CELL).agg(layers_there=("layer", "size"), first=("first", "first"))
    whole = cells["layers_there"] == cells.index.get_level_values("layers") - cells["first"] + 1
    return falls & whole.reindex(falls.index)
