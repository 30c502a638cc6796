"""P5: there is something to compare: an arm does better than what learns nothing, and noise costs something.

One of the two is enough: constraints that make an arm as bad as doing nothing are a result, and so is a baseline
that fails without them. To leave out either would favour one arm. A claim on the baseline alone asks the baseline:
that nothing descends in a map that learned nothing says nothing of training.
"""

from collections.abc import Iterable

import pandas as pd

from descent.analysis.case import Case
from descent.analysis.evidence import Evidence
from descent.analysis.keys import PLACE, SETTING
from descent.analysis.select import last_layer, select

BETTER = 0.1  # P5: by which share a denoiser beats a map that learns nothing
FALL, ABOVE = 0.05, 0.1  # P5: what the noise costs over the sweep, and what is above guessing; accuracies
UNIGRAM = 0.06  # P5: about the share of the most frequent token among the words of English text
MAPS = ("identity", "zero", "frame_mean")  # P5: of those the results have


def learned(case: Case) -> str:
    """P5: there is something to compare. Medians over seeds, of every setting and arm."""
    return _denoises(case) if case.task == "video" else _classifies(case)


def _denoises(case: Case) -> str:
    """At gamma = eps an arm's RMSE is 10 % below that of every map that learns nothing. At eps = 0 none can be:
    such settings are not asked, and a claim that has no other is not shown to compare what has learned."""
    cells = _asked(case)
    cells = cells[(noisy := cells["eps"] > 1e-9)]
    if len(noisy) and cells.empty:
        return "trained without noise, where no model errs less than the identity"
    rmse = cells["rmse_at_eps"].astype(float).mask(cells["lost"], case.evidence.zero_rmse(cells))
    own = rmse.groupby([cells[key] for key in (*SETTING, "arm")]).median()
    own = own.groupby(SETTING).min()
    maps = select(case.evidence.scores, experiment="video", metric="rmse", split="test")
    maps = maps[maps["arm"].isin(MAPS)]
    said = []
    for (dataset, model, eps), values in own.groupby([*PLACE, "eps"]):
        found = select(maps, dataset=dataset, model=model, gamma=float(eps))
        if not {"identity", "zero"} <= set(found["arm"]):
            return f"the maps that learn nothing are not measured at gamma = {eps:g} on {dataset}"
        best = found.loc[found["value"].idxmin()]
        short = values[~(values <= (1 - BETTER) * best["value"])]
        said += [f"{model} L{layers} on {dataset}" for (_, _, layers, _) in short.index]
    return f"not 10 % better than doing nothing at gamma = eps: {_few(said)}" if said else ""


def _classifies(case: Case) -> str:
    """Without noise an arm is 10 points better than the most frequent answer; the noise costs one 5 points."""
    cells, evidence = _asked(case), case.evidence
    guess = guessed(evidence, case.task, cells)
    keys = [*SETTING, "arm", "varied"]
    clean = cells["accuracy_clean"].astype(float).where(~cells["lost"], guess) - guess
    low = clean.groupby([cells[key] for key in keys]).median().groupby([*SETTING, "varied"]).max()
    low = low[~(low >= ABOVE)]
    if len(low):
        words = [f"{model} on {dataset}" for dataset, model, *_ in low.index]
        return f"not 10 points better than the most frequent answer: {_few(words)}"
    rows = last_layer(case.rows("accuracy", "test"))
    gammas = evidence.params.section(case.task).evaluation.gammas
    ends = [
        select(rows, gamma=float(end)).set_index([*keys, "seed"])["value"] for end in (min(gammas), max(gammas))
    ]
    lost = cells.set_index([*keys, "seed"])["lost"]
    fall = (ends[0] - ends[1]).reindex(lost.index).where(~lost, 0.0)  # of a guess noise costs nothing
    fall = fall.groupby(keys).median().groupby(SETTING).max()
    words = [f"{model} on {dataset}" for dataset, model, *_ in fall[~(fall >= FALL)].index]
    return f"noise costs less than 5 points over the sweep: {_few(words)}" if words else ""


def guessed(evidence: Evidence, task: str, cells: pd.DataFrame) -> pd.Series:
    """The accuracy of the most frequent answer on each row's data set."""
    known = select(evidence.scores, metric="most_frequent").groupby("dataset")["value"].max()
    return cells["dataset"].map(known if task == "text" else lambda name: UNIGRAM).astype(float)


def _asked(case: Case) -> pd.DataFrame:
    return case.cells if case.claim.enforced else case.of_arm("baseline")


def _few(words: Iterable[str]) -> str:
    words = list(dict.fromkeys(words))
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
