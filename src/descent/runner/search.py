"""The paper's protocol (5.2): trials over an arm's values against as many seeds, chosen on validation data."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import optuna

from descent.cells import Cell
from descent.errors import UserError
from descent.runner import store
from descent.runner.items import Rounds
from descent.runner.stored import Stored
from descent.schema import validated
from descent.study import RATE
from descent.training.arm import Setting
from descent.training.schema import Range, Search

optuna.logging.set_verbosity(optuna.logging.WARNING)


def rank(name: str, tolerance: float) -> float:
    """What a trial is ranked by, the smaller the better: by its violation first, then by f_L.

    A trial within the tolerance counts with f_L alone, below 0.5 once squashed to x / (1 + x) / 2; any other with
    0.5 and its violation squashed likewise. Infinite where it diverged, or a violation is no number.
    """
    stored = Stored(store.folder(name))
    loss, missed = stored.validation_loss, stored.missed(tolerance)
    if not math.isfinite(loss + missed):
        return math.inf
    return loss / (1 + loss) / 2 if missed == 0 else 0.5 + missed / (1 + missed) / 2


def trials(base: dict[Cell, Setting], search: Search, score: Callable[[str], float]) -> Rounds:
    """One round a seed, which is the number of a trial: every (arm, depth, eps) has a study of its own.

    The first trial is the value in use; the others are proposed by a tree-structured Parzen estimator that knows
    the scores of the trials before. Arms that vary nothing train as many seeds. A study of which a trial is not
    among the names that are sent is asked no more.

    Args:
        base: the values in use; what the search varies are multiples of them.
        score: of a finished cell by its name in the store, the smaller the better; infinite where it diverged.

    Raises:
        UserError: before the first round, where a range reaches what the arm does not take.
    """
    seeds = sorted({cell.seed for cell in base})
    for used in (own for cell, own in base.items() if cell.seed != seeds[0]):
        _check(used, _space(search, used.arm))
    studies: dict[tuple[str, int, float], optuna.Study] = {}
    ended: set[tuple[str, int, float]] = set()
    for number, seed in enumerate(seeds):
        open_trials: dict[Cell, optuna.Trial] = {}
        proposed: dict[Cell, Setting] = {}
        for cell in (cell for cell in base if cell.seed == seed):
            space = _space(search, cell.arm)
            if not space:
                proposed[cell] = base[cell]
                continue
            key = (cell.arm, cell.layers, cell.eps)
            if key in ended:
                continue
            if key not in studies:
                studies[key] = _study(search, cell.layers, cell.eps)
            if number == 0:
                studies[key].enqueue_trial(dict.fromkeys(space, 1.0))
            open_trials[cell] = studies[key].ask()
            proposed[cell] = _propose(open_trials[cell], base[cell], space)
        names = yield proposed
        for cell, trial in open_trials.items():
            key = (cell.arm, cell.layers, cell.eps)
            if cell not in names:
                ended.add(key)
                continue
            study = studies[key]
            result = score(names[cell])
            failed = optuna.trial.TrialState.FAIL  # it diverged
            study.tell(trial, result) if math.isfinite(result) else study.tell(trial, state=failed)


def _study(search: Search, layers: int, eps: float) -> optuna.Study:
    """A study whose proposals depend on the setting, and not on which others are in the grid."""
    key = np.random.SeedSequence([search.seed, layers, int(np.float64(eps).view(np.uint64))])
    # The sampler's own ten trials at random would make all five a random search.
    sampler = optuna.samplers.TPESampler(
        seed=int(key.generate_state(1)[0]), n_startup_trials=search.startup_trials
    )
    return optuna.create_study(sampler=sampler)


def _space(search: Search, arm: str) -> dict[str, Range]:
    """What the trials of an arm vary."""
    return {name: search.ranges[name] for name in search.arms.get(arm, [])}


def _check(base: Setting, space: dict[str, Range]) -> None:
    """Raises UserError where the arm does not take the values in use times the ends of the ranges.

    The sampler would come to such a trial in every run again, each time after the same trials.
    """
    for ends in product(*((limits.low, limits.high) for limits in space.values())):
        _multiple(base, dict(zip(space, ends, strict=True)))


def _propose(trial: optuna.Trial, base: Setting, space: dict[str, Range]) -> Setting:
    """The values in use times what the trial suggests."""
    times = {name: trial.suggest_float(name, limits.low, limits.high, log=True) for name, limits in space.items()}
    return _multiple(base, times)


def _multiple(base: Setting, times: dict[str, float]) -> Setting:
    """The values in use so many times; `lr` is the weights' rate, all others the objective's."""
    known = base.values.model_dump()
    for name in set(times) - {RATE}:
        if not isinstance(known.get(name), float):
            raise UserError(
                f"text.search.arms.{base.arm}: {name!r} is no number of this arm's, so it has no multiples"
            )
    changed = known | {name: known[name] * factor for name, factor in times.items() if name != RATE}
    values = validated(type(base.values), changed, f"a trial of {base.arm} within text.search.ranges")
    return Setting(base.arm, base.lr * times.get(RATE, 1.0), values)
