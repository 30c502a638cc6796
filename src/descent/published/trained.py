"""The cells of all published parts: what they are, whether their loss descends, how their constraints hold."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from descent.analysis.lost import truth
from descent.analysis.wording import UNKNOWN, known
from descent.components import TASKS
from descent.config import Params
from descent.published import files, parts
from descent.published.markdown import listed, pipe
from descent.published.sections import weighted

FORMS = {"difference": "differences", "ratio": "ratios", "log": "logarithms of ratios"}
DUALS = {"adam": "Adam", "sgd": "plain ascent", "nupi": "nuPI"}
RESILIENCE = {"slacks": "slacks", "decay": "dual weight decay", "none": "no resilience"}
PAPERS = "differences, Adam, slacks or dual weight decay, no margin"
SAME = ["dataset", "arm", "layers", "eps", "seed"]  # with one loss: a cell that two models share


def compared(cells: pd.DataFrame, params: Params) -> str:
    """Tasks, models, their data sets and depths of the cells of a programme's grids, in words."""
    grid = _trained(cells)
    words = []
    for (task, model), own in grid.groupby(["experiment", "model"]):
        words.append(f"{task}: {weighted(params, model)} on {listed(_trained_on(own, params))}")
    return "; ".join(words)


def _trained_on(own: pd.DataFrame, params: Params) -> list[str]:
    """Data sets with their depths: `UCSD (L = 3 5)`."""
    sets = own.groupby("dataset")["layers"].unique()
    return [f"{params.label(name)} (L = {' '.join(map(str, sorted(depths)))})" for name, depths in sets.items()]


def descending(cells: pd.DataFrame, params: Params) -> str:
    """Of each model on which data sets it was trained, and how many cells of the two arms have a loss that falls
    from the first constrained layer to the last, on validation data; cells that two models share count once, and
    one that diverged descends nowhere."""
    grid = each_once(_trained(cells))
    rows = []
    for (_, model), own in grid.groupby(["experiment", "model"]):
        counts = []
        for arm in params.comparison.arms:
            cells_of = own[own["arm"] == arm]
            held = truth(cells_of["descending"]) & ~truth(cells_of["diverged"])
            counts.append(f"{held.sum()} of {len(held)}")
        rows.append([_of_task(model, params), listed(_trained_on(own, params)), *counts])
    told = "Cells whose loss falls at every layer that is asked to, on validation data:"
    header = ["model", "trained on", *(params.label(arm) for arm in params.comparison.arms)]
    return f"{told}\n\n{pipe(header, rows)}"


def descent(cells: pd.DataFrame, places: Collection[tuple[str, str]], params: Params) -> str:
    """The same of all models together, in sentences: of our arm in how many the loss falls, and of the baseline
    apart where a verdict rests on them, and where it falls in none of a model, which a count over all would hide.

    Args:
        places: the data sets and models that the tested primary claims rest on.
    """
    own = each_once(_trained(cells))
    own = own.assign(held=truth(own["descending"]) & ~truth(own["diverged"]))
    ours, theirs = (own[own["arm"] == arm] for arm in params.comparison.arms)
    ever = theirs["model"].map(theirs.groupby("model")["held"].any()).astype(bool)
    behind = pd.Series([place in places for place in zip(theirs["dataset"], theirs["model"], strict=True)])
    behind = behind.set_axis(theirs.index).astype(bool)
    some, none, rest = theirs[behind], theirs[~behind & ~ever], theirs[~behind & ever]
    names = "; ".join(params.label(model) for model in sorted(none["model"].unique()))
    said = [f"{some['held'].sum()} of the {len(some)} behind a verdict"] if len(some) else []
    said += [f"none of {len(none)} ({names})"] if len(none) else []
    said += [f"{rest['held'].sum()} of {len(rest)}" + (" others" if said else "")] if len(rest) else []
    return (
        "Every layer lowers the loss, on validation data, in "
        f"**{ours['held'].sum()} of {len(ours)} {params.label(params.comparison.ours)} models**, and, "
        f"unasked, of plain training's (*ERM*) in {listed(said)}."
    )


def solvers(folders: Sequence[Path], places: Collection[tuple[str, str]], params: Params) -> str:
    """How the constrained models that verdicts rest on were trained, in a sentence: the form of the constraints,
    the duals' optimiser and the resilience, each with the models that had it.

    Args:
        places: as of descent.
    """
    found: dict[str, dict[str, None]] = {}
    gone = parts.replaced(folders)
    for number, folder in enumerate(folders):
        own = files.params(folder)
        trained = {(dataset, model) for _, dataset, model in own.places if (dataset, model, number) not in gone}
        for dataset, model in sorted(trained.intersection(places)):
            problem = own.problem(dataset, model)
            words = (
                f"{FORMS[problem.constraint]}, {DUALS[problem.dual_optimizer]}, {RESILIENCE[problem.resilience]}"
            )
            found.setdefault(words, {})[params.label(model)] = None
    told = [f"{words} ({listed(list(models))})" for words, models in found.items()]
    return f"Constraints behind the verdicts: {'; '.join(told)}; the paper's: {PAPERS}." if told else ""


def each_once(cells: pd.DataFrame) -> pd.DataFrame:
    """Without what two models share: cells with one loss; of a lost one, which has none, nothing says so."""
    shared = cells.duplicated(["experiment", *SAME, "validation_loss"], keep="last")
    return cells[~(shared & cells["validation_loss"].notna())]


def constraints(found: pd.DataFrame, params: Params) -> str:
    """How well the constraints hold, a row a model and its alpha (solver.by_tolerance)."""
    if found.empty:
        return ""
    rows = [
        [_of_task(row["model"], params), f"{row['alpha']:g}", row["cells"]]
        + [f"{row[share]:.0%}" for share in ("at_zero", "at_half", "at_tolerance")]
        + [known(row["worst"], "+.3f")]
        for row in found.to_dict("records")
    ]
    tolerances = " / ".join(f"{value:g}" for value in sorted({0.0, *found["tolerance"] / 2, *found["tolerance"]}))
    shares = ["violation at most 0", "half the tolerance", "the tolerance"]
    told = (
        "Constrained cells whose largest relative violation on validation data is at most so large (tolerances: "
        f"{tolerances}; one that diverged holds nothing), and the median of the largest, negative where all "
        "constraints hold to spare. Relative: of a layer to the loss before it, as alpha is; of the cap to R0."
    )
    return told + "\n\n" + pipe(["model", "alpha", "cells", *shares, "median of the largest"], rows)


def holding(found: pd.DataFrame, params: Params) -> str:
    """In how many constrained cells the solver held, a row a data set and one a task (solver.by_setting)."""
    if found.empty:
        return ""
    found = found.assign(task=found["model"].map(params.task_of))
    rows = []
    for task, own in found.groupby("task"):
        sets = [(params.label(name), part) for name, part in own.groupby("dataset")]
        rows += [_counts(name, one) for name, one in sets]
        if len(sets) > 1:
            rows.append(_counts(f"{task}, in all", own))
    told = (
        "Of the same cells, less those of studies, how many hold their constraints within the tolerance, and in "
        "how many one of them is active (where its tables tell, since 2026-11-30, one on descent: the cap's alone "
        "does not count). *Swing*: of f_0 over the last quarter of training, standard deviation over mean, in "
        "the median cell of the setting where it is largest (of one epoch there is none). *Of ERM*: the same "
        "there, without multipliers: what the draw of batches does by itself. Why on one data set hardly any "
        "hold on test data: [NOTES.md](NOTES.md)."
    )
    return told + "\n\n" + pipe(["data set", "cells", "validation", "test", "active", "swing", "of ERM"], rows)


def held_in_all(found: pd.DataFrame, params: Params) -> str:
    """In how many constrained cells of all tasks the solver held, in a sentence (solver.by_setting), with the
    data sets on whose test data less than half of them did."""
    if found.empty:
        return ""
    counts = ["cells", "validation", "test"]
    cells, held, test = found[counts].sum()
    sets = found.assign(task=found["model"].map(params.task_of)).groupby(["task", "dataset"])[counts].sum()
    few = [
        f"{own.test} of {own.cells} on {params.label(name)}"
        for (task, name), own in sets[sets["test"] < sets["cells"] / 2].iterrows()
    ]
    return (
        f"The constraints, which ask each layer for a fall by alpha, hold within the tolerance in {held} of the "
        f"{cells} on validation data, and in {test} on test data{f' ({listed(few)})' if few else ''}."
    )


def _of_task(model: str, params: Params) -> str:
    """A model with its task: some of two tasks have one name."""
    return f"{params.label(model)} ({params.task_of(model)})"


def _counts(name: str, own: pd.DataFrame) -> list[object]:
    cells = own["cells"].sum()
    counts = [f"{own[held].sum()} ({own[held].sum() / cells:.0%})" for held in ("validation", "test", "active")]
    if own["swing_f0"].isna().all():
        return [name, cells, *counts, UNKNOWN, UNKNOWN]
    worst = own.loc[own["swing_f0"].idxmax(), ["swing_f0", "swing_f0_baseline"]]
    return [name, cells, *counts, *(known(swing, ".0%") for swing in worst)]


def _trained(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["experiment"].isin(TASKS) & cells["trained"].astype(bool)]
