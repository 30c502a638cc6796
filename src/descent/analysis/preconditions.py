"""What must hold before a claim is judged (P1-P10): each a function that returns one sentence why not, or nothing.

P3 to P5, P9 and P10 are asked of each model on each data set, P6 and P8 of each model: where one fails, the model
is left out of the claim there. They look at cells and not at effects, so that leaving out does not choose among
results. P1, P2 and P7 are asked of the claim.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pandas as pd

from descent.analysis import telling, tuning, twice
from descent.analysis.case import Case
from descent.analysis.claims import Claim
from descent.analysis.effects import pretrained
from descent.analysis.enforced import ENOUGH, enforced
from descent.analysis.keys import PAIR, PLACE, SEEDLESS, VARIANT, tuples
from descent.analysis.learned import learned
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.analysis.solved import solved
from descent.analysis.trials import HYPERPARAMETERS

SYNTHETIC = "synthetic data"
NOTHING = "nothing to compare"
UNKNOWN_SIZE = "the number of parameters is not in the results"
PLATEAU = 0.01  # P4: what twice the epochs may still lower f_L by
Check = Callable[[Case], str]


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
    """Why the claim leaves out a model on a data set (P3 to P6, P8 to P10), by PLACE; empty where it does not."""
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
    by = [*PLACE, "eps"]
    asked = (
        *checks,
        claim.experiment,
        claim.enforced,
        claim.compares,
        claim.capacity,
        claim.shifts,
        *tuples(case.pairs.drop_duplicates(by), by),
    )
    return case.evidence.once(asked, lambda: _sentence(check(case) for check in checks))


def _sentence(said: Iterable[str]) -> str:
    return "; ".join(filter(None, said))


def real_data(case: Case) -> str:
    """P1: no data set of the claim is generated."""
    params = case.evidence.params
    names = list(case.pairs["dataset"].unique()) or params.section(case.task).datasets
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
    each = [set(rows) for _, rows in test.dropna(subset="effect").groupby(VARIANT)["seed"]]
    return sorted(set.intersection(*each)) if each else []


def common(pairs: pd.DataFrame) -> pd.DataFrame:
    """A claim's pairs of the seeds that every setting has."""
    return pairs[pairs["seed"].isin(common_seeds(pairs))]


def plateau(case: Case) -> str:
    """P4: in the studies plateau_* twice the epochs lower f_L on validation by less than 1 % in each arm."""
    evidence = case.evidence
    dataset, model = case.pairs[PLACE].iloc[0]
    longer = twice.cells(select(evidence.cells, trained=True, model=model, dataset=dataset))
    if longer.empty:
        return f"no study of twice the epochs of {model} on {dataset}"
    said = []
    for arm in evidence.params.comparison.arms:
        own = longer[longer["arm"] == arm]
        if truth(own["diverged"]).any():
            said.append(f"{arm} {model} diverged in twice the epochs")
        elif truth(own["diverged" + twice.BEFORE]).any():
            said.append(f"{arm} {model} diverged in the epochs that are doubled")
        elif not own["twin"].any():
            said.append(f"twice the epochs of {arm} {model} are missing")
        elif not own["twin"].all():
            said.append(f"twice the epochs of {arm} {model} are in part of cells that the grid lacks")
        elif not (mean := own["lower"].mean()) < PLATEAU:
            said.append(f"twice the epochs lower f_L of {arm} {model} by {mean:.1%}")
    return "; ".join(said)


def standing(case: Case) -> str:
    """P10: enough cells of the baseline did not diverge: a lost one scores as if it had learned nothing, for which
    constraints would take credit. Of ours P3 asks it."""
    baseline = case.of_arm("baseline")
    if not case.claim.compares or not len(baseline) or (~baseline["lost"]).mean() >= ENOUGH:
        return ""
    name, lost = case.evidence.params.comparison.baseline, int(baseline["lost"].sum())
    return f"{lost} of {len(baseline)} {name} cells are lost; {1 - ENOUGH:.0%} may be"


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
    values = case.cells.groupby(["experiment", *SEEDLESS])[HYPERPARAMETERS].nunique()
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


OF_PLACE = (enforced, solved, plateau, learned, standing)
OF_MODEL = (tried, equal_arms)
