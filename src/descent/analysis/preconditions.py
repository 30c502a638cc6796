"""What must hold before a claim is judged (P1-P8): each a function that returns one sentence why not, or nothing.

P3 to P5 are asked of each model on each data set, P6 and P8 of each model: where one fails, the model is left out
of the claim there. They look at cells and not at effects, so that leaving out does not
choose among results. P1, P2 and P7 are asked of the claim.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from descent.analysis import telling, tuning
from descent.analysis.case import Case
from descent.analysis.claims import Claim
from descent.analysis.effects import pretrained
from descent.analysis.evidence import ALIKE, RELAXED
from descent.analysis.learned import learned
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.analysis.summary import PAIR
from descent.analysis.trials import HYPERPARAMETERS
from descent.components import TASKS
from descent.primal_dual.problem import Problem
from descent.study import LONGER

SYNTHETIC = "synthetic data"
NOTHING = "nothing to compare"
UNKNOWN_SIZE = "the number of parameters is not in the results"
ENOUGH = 0.8  # P3: share of the constrained cells that are feasible and active
SETTLED = 0.25  # P3: largest standard deviation of a multiplier, as a share of its mean, that counts as settled
PLATEAU = 0.01  # P4: what twice the epochs may still lower f_L by
PLACE = ["dataset", "model"]  # where P3 to P5 are asked
Check = Callable[[Case], str]
LOSSES = ("violation", "multiplier", "validation_loss")  # P3: what a relaxed problem is checked on, by layer


def failed(case: Case) -> str:
    """Why the claim cannot be judged whatever its models do: P1, P2, P7, nothing to compare; else empty."""
    if said := real_data(case):
        return said
    if case.pairs.empty:
        return objects(case) or _absent(case)
    return _sentence([of_pairs(case.claim, case.pairs), objects(case)])


def of_pairs(claim: Claim, pairs: pd.DataFrame) -> str:
    """What of this can be told from the pairs alone: that they are whole, and P2."""
    return _sentence([complete(pairs), seeds(claim, pairs)])


def failed_by_place(case: Case) -> dict[tuple[str, str], str]:
    """Why the claim leaves out a model on a data set (P3 to P6, P8), by PLACE; empty where it does not."""
    found = {}
    for model, own in case.pairs.groupby("model", sort=False):
        of_model = _asked(replace(case, pairs=own), OF_MODEL)
        for dataset, rows in own.groupby("dataset", sort=False):
            of_place = _asked(replace(case, pairs=rows), OF_PLACE)
            found[str(dataset), str(model)] = _sentence([of_place, of_model])
    return found


def _asked(case: Case, checks: Sequence[Check]) -> str:
    """What these say; many claims ask them of the same cells in the same way, so each answer is found once."""
    claim = case.claim
    cells = case.pairs[["dataset", "model", "eps"]].drop_duplicates()
    asked = (
        *checks,
        claim.experiment,
        claim.enforced,
        claim.capacity,
        claim.shifts,
        *cells.itertuples(index=False, name=None),
    )
    answers = case.evidence.answers
    if asked not in answers:
        answers[asked] = _sentence(check(case) for check in checks)
    return answers[asked]


def _sentence(said: Iterable[str]) -> str:
    return "; ".join(filter(None, said))


def real_data(case: Case) -> str:
    """P1: no data set of the claim is generated."""
    params = case.evidence.params
    names = list(case.pairs["dataset"].unique()) or getattr(params, case.task).datasets
    generated = [name for name in names if params.source(case.task, name).generate is not None]
    return SYNTHETIC if generated else ""


def complete(pairs: pd.DataFrame) -> str:
    """No pair lacks the score of one arm."""
    gone = pairs[pairs["effect"].isna()][PAIR].drop_duplicates()
    if gone.empty:
        return ""
    first = " ".join(f"{name} {value:g}" if name == "eps" else f"{value}" for name, value in gone.iloc[0].items())
    return f"an arm is missing or has no score in {len(gone)} pairs, e.g. {first}"


def seeds(claim: Claim, pairs: pd.DataFrame) -> str:
    """P2: enough seeds that all settings have."""
    least = claim.least_seeds
    found = common_seeds(pairs)
    return "" if len(found) >= least else f"{len(found)} seeds, and {least} are needed"


def common_seeds(pairs: pd.DataFrame) -> list[int]:
    """The seeds that every setting of a claim's pairs has."""
    test = pairs[pairs["resample"] == 0]
    setting = ["dataset", "model", "layers", "eps", "varied"]
    each = [set(rows) for _, rows in test.dropna(subset="effect").groupby(setting)["seed"]]
    return sorted(set.intersection(*each)) if each else []


def enforced(case: Case) -> str:
    """P3: enough of the constrained cells are feasible on validation data, each with some active constraint; of a
    study that varies a value, enough of each value's.

    Feasible: the row `feasible`; or, where h(u) = rho / 2 |u|^2 relaxes the problem, so that u settles at lambda /
    rho, the same with v_l - lambda_l / rho in place of v_l and multipliers that have settled.
    """
    if not case.claim.enforced:
        return ""
    ours = case.of_arm("ours").set_index([*ALIKE, "seed"])
    if ours["active"].isna().all():
        return "no row says whether the constraints were active"
    active = ours["active"].fillna(False).astype(bool) & ~ours["lost"]
    feasible = ours["feasible"].fillna(False).astype(bool) & ~ours["lost"]
    feasible |= _relaxed(case, ours[~feasible & ~ours["lost"]]).reindex(ours.index, fill_value=False)
    held = pd.DataFrame({"feasible": feasible, "active": active}).reset_index()
    return too_few(held, of_each=bool((case.pairs["varied"] != "").any()))


def too_few(cells: pd.DataFrame, of_each: bool) -> str:
    """P3: why too few cells hold and have an active constraint, in words; empty where enough do.

    Args:
        cells: `varied`, and as truths `feasible` and `active`.
        of_each: whether the claim compares values that a study varies; then it is asked of each.
    """
    groups = [own for _, own in cells.groupby("varied")] if of_each else [cells]
    own = min(groups, key=lambda group: (group["feasible"] & group["active"]).mean())
    if (own["feasible"] & own["active"]).mean() >= ENOUGH:
        return ""
    value = f" at {own['varied'].iloc[0]}" if of_each else ""
    return (
        f"{int(own['feasible'].sum())} of {len(own)} constrained cells{value} are feasible on validation data and "
        f"{int(own['active'].sum())} have an active constraint; {ENOUGH:.0%} must have both"
    )


def _relaxed(case: Case, cells: pd.DataFrame) -> pd.Series:
    """Whether infeasible cells, a row each, hold to what a relaxed problem leaves of the constraints."""
    held = pd.Series(False, cells.index)
    if cells.empty:
        return held
    params, keys = case.evidence.params, cells.index.names
    parts = [case.rows(name, "validation").set_index([*keys, "layer"])["value"].rename(name) for name in LOSSES]
    table = pd.concat(parts, axis=1).reset_index("layer").sort_values([*keys, "layer"])
    for place, cell in cells.iterrows():
        dataset, model, arm, *_, varied, _ = place
        told = params.objective(arm, dataset, model)
        told = told | ({"resilience": varied} if case.claim.experiment == RELAXED else {})
        if told.get("resilience", "none") == "none" or not cell["multiplier_oscillation"] <= SETTLED:
            continue
        rows = table.loc[[place]]
        problem = params.problem(dataset, model)
        left = rows["violation"] - _slack(rows, cell["rho"], told.get("constraint", "difference"), problem)
        held[place] = (left[rows["layer"] >= problem.cap_layer] <= getattr(params, case.task).tolerance).all()
    return held


def _slack(rows: pd.DataFrame, rho: float, constraint: str, problem: Problem) -> pd.Series:
    """The relative violation that u = lambda / rho leaves of each layer's constraint: a difference of losses is
    relative to f_{l-1}, of the cap to R0; a ratio is relative; of a logarithm e^u stands for the ratio."""
    u, cap = rows["multiplier"] / rho, rows["layer"] == problem.cap_layer
    if constraint == "difference":
        return u / rows["validation_loss"].shift().mask(cap, problem.R0)
    if constraint == "log":
        return np.expm1(u) * np.where(cap, 1.0, 1 - problem.alpha)
    return u


def plateau(case: Case) -> str:
    """P4: in the studies plateau_* twice the epochs lower f_L on validation by less than 1 % in each arm."""
    evidence = case.evidence
    dataset, model = case.pairs[PLACE].iloc[0]
    cells = select(evidence.cells, trained=True, model=model, dataset=dataset)
    longer = cells[cells["experiment"].str.startswith(LONGER)]
    if longer.empty:
        return f"no study of twice the epochs of {model} on {dataset}"
    both = longer.merge(cells[cells["experiment"].isin(TASKS)], on=[*PAIR, "arm"], suffixes=("_longer", ""))
    lower = 1 - both["validation_loss_longer"].astype(float) / both["validation_loss"].astype(float)
    lower = lower.groupby(both["arm"]).mean()
    said = []
    lost = set(longer.loc[truth(longer["diverged"]), "arm"])
    for arm in (evidence.params.comparison.ours, evidence.params.comparison.baseline):
        if arm in lost:
            said.append(f"{arm} {model} diverged in twice the epochs")
        elif arm not in lower:
            said.append(f"twice the epochs of {arm} {model} are missing")
        elif not lower[arm] < PLATEAU:
            said.append(f"twice the epochs lower f_L of {arm} {model} by {lower[arm]:.1%}")
    return "; ".join(said)


def tried(case: Case) -> str:
    """P8: a shift at least of a claim about shifts tells of the model."""
    if not case.claim.shifts:
        return ""
    model = case.pairs["model"].iloc[0]
    if select(telling.table(case.evidence, case.task), model=model, tells=True).empty:
        return f"no shift both costs {model} something and leaves it something"
    return ""


def equal_arms(case: Case) -> str:
    """P6: equally many parameters in every pair, as many trials of the rate in either arm, and seeds that are no
    trials of a search."""
    values = case.cells.groupby(["experiment", *ALIKE])[HYPERPARAMETERS].nunique()
    searched = values[(values > 1).any(axis=1)]
    if len(searched):
        return f"seeds of {searched.index[0][3]} are trials of a search, with different hyperparameters"
    if said := tuning.uneven(case.evidence.cells, case.evidence.params, case.pairs["model"].iloc[0]):
        return said
    if not case.claim.capacity:
        return ""
    if case.cells["parameters"].isna().any():
        return UNKNOWN_SIZE
    sizes = case.cells.groupby(PAIR)["parameters"].nunique()
    uneven = sorted(set(sizes[sizes > 1].index.get_level_values("model")))
    return f"the arms differ in capacity: {', '.join(uneven)}" if uneven else ""


def objects(case: Case) -> str:
    """P7: pretrained encoders of several sizes, a pretrained language model."""
    params = case.evidence.params
    if case.name == "text_size" and sum(pretrained(params, model) for model in params.text.models) < 2:
        return "no pretrained weights of several sizes"
    random = [model for model in params.lm.models if not pretrained(params, model)]
    return f"{', '.join(random)} starts from random weights" if case.task == "lm" and random else ""


def _absent(case: Case) -> str:
    """Why a claim has no pairs."""
    evidence = case.evidence
    if case.task != "video" or select(evidence.cells, experiment="video").empty:
        return NOTHING
    if evidence.capacity.empty:
        return f"{NOTHING}: {UNKNOWN_SIZE}"
    return f"{NOTHING}: no such model whose arms have {'equal' if case.claim.capacity else 'different'} capacity"


OF_PLACE = (enforced, plateau, learned)
OF_MODEL = (tried, equal_arms)
