"""What an arm gains over the baseline under each shift by itself, with the protocol's averages and intervals.

The score of a cell under a shift is the mean over its levels of ln RMSE (video) or of accuracy, on every resample
of the test items. The gain of a pair of one setting and seed is the difference of its two scores; the estimate is
the mean over seeds of the trimmed mean over settings, its interval that of `verdicts.Estimate`.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from descent.analysis import effects, telling
from descent.analysis.evidence import Evidence
from descent.analysis.scorecard import estimated
from descent.analysis.select import select
from descent.analysis.shifts import NUMBERS, others
from descent.analysis.summary import best_of_search
from descent.cells import headline
from descent.components import TASKS
from descent.config import Params

ALL = ""  # the column `shift` of the mean over shifts
COLUMNS = ["experiment", "model", "shift", "arm", *NUMBERS, "tells"]


def table(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """COLUMNS: every arm but the baseline, by model and shift and, as ALL, over the shifts that tell (telling).

    Cells of the headline training level; one that diverged scores as if it had learned nothing. `low` and `high`
    are NaN for one seed; a model without scores has no row. Of a search of text each arm has its best trial.
    `tells`: whether the shift does, or ALL's; where none does, ALL is the mean over all that fit the model.
    """
    evidence = Evidence(best_of_search(results, params), params)
    rows = [row for task in TASKS for row in _of_task(evidence, task)]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"seeds": int, "settings": int})


def _of_task(evidence: Evidence, task: str) -> Iterator[dict[str, object]]:
    params = evidence.params
    name, sign = effects.SCORES[task]
    named = others(params, task)
    items = min(evidence.items(task).values(), default=0)
    models = params.section(task).models
    counted = telling.by_model(evidence, task)
    tells = {(row.model, row.shift) for row in telling.table(evidence, task).itertuples() if row.tells}
    alone = {shift: {model: [shift] for model in models} for shift in named}
    by_shift = {shift: sign * evidence.under_shifts(task, name, own) for shift, own in alone.items()}
    tested = select(evidence.results, experiment=task, metric=f"{name}_replicate")
    fitting = set(zip(tested["model"], tested["shift"], strict=True))  # lost cells have scores under all shifts
    for model in models:
        known = {shift: effects.of(own, [model], headline(params, task)) for shift, own in by_shift.items()}
        known = {key: own for key, own in known.items() if (model, key) in fitting and own.notna().any(axis=None)}
        averaged = [own for shift, own in known.items() if shift in counted[model]]
        whole = {ALL: sum(averaged) / len(averaged)} if averaged else {}
        for shift, own in {**known, **whole}.items():
            for arm in params.arms:
                if arm != params.comparison.baseline:
                    found = _against(own, arm, params.comparison.baseline, items)
                    told = any((model, one) in tells for one in (known if shift == ALL else [shift]))
                    yield {"experiment": task, "model": model, "shift": shift, "arm": arm, "tells": told} | found


def _against(scored: pd.DataFrame, arm: str, baseline: str, items: int) -> dict[str, float]:
    """NUMBERS of an arm against the baseline; NaN where no seed is common to all settings."""
    names = scored.index.get_level_values("arm")
    mine, theirs = (scored[names == name].droplevel("arm") for name in (arm, baseline))
    known = estimated(effects.as_pairs(mine - theirs), items)
    if known is None:
        return dict.fromkeys(NUMBERS, np.nan) | {"seeds": 0.0, "settings": 0.0}
    found, settings = known
    numbers = (*found.numbers(), float(found.seeds), float(settings))
    return dict(zip(NUMBERS, numbers, strict=True))
