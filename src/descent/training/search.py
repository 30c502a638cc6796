"""The paper's protocol (5.2): trials over the dual values against as many seeds, chosen on validation data."""

import math
from collections.abc import Sequence

import numpy as np
import optuna

from descent.cells import Cell
from descent.runner.items import Rounds
from descent.tasks.text.schema import Range, Search
from descent.training.settings import Setting

optuna.logging.set_verbosity(optuna.logging.WARNING)


def trials(cells: Sequence[Cell], base: dict[Cell, Setting], search: Search) -> Rounds:
    """One round a seed, which is the number of a trial: every (depth, eps) has a study of its own.

    The first trial is the value in use; the others are proposed by a tree-structured Parzen estimator that knows
    the validation losses f_L of the trials before.

    Args:
        base: the values in use; what the search varies are multiples of them.
    """
    studies: dict[tuple[int, float], optuna.Study] = {}
    for number, seed in enumerate(sorted({cell.seed for cell in cells})):
        asked, proposed = {}, {}
        for cell in (cell for cell in cells if cell.seed == seed):
            key = (cell.layers, cell.eps)
            if key not in studies:
                studies[key] = _study(search, *key)
            study = studies[key]
            if number == 0:
                study.enqueue_trial(dict.fromkeys(_space(base[cell], search), 1.0))
            asked[cell] = study.ask()
            proposed[cell] = _propose(asked[cell], base[cell], search)
        losses = yield proposed
        for cell, trial in asked.items():
            study, loss = studies[cell.layers, cell.eps], losses[cell]
            failed = optuna.trial.TrialState.FAIL  # it diverged
            study.tell(trial, loss) if math.isfinite(loss) else study.tell(trial, state=failed)


def _study(search: Search, layers: int, eps: float) -> optuna.Study:
    """A study whose proposals depend on the setting, and not on which others are in the grid."""
    key = np.random.SeedSequence([search.seed, layers, int(np.float64(eps).view(np.uint64))])
    # The sampler's own ten trials at random would make all five a random search.
    sampler = optuna.samplers.TPESampler(
        seed=int(key.generate_state(1)[0]), n_startup_trials=search.startup_trials
    )
    return optuna.create_study(sampler=sampler)


def _space(base: Setting, search: Search) -> dict[str, Range]:
    """What is varied, by name: the dual values, or the learning rate of an unconstrained cell."""
    return {"lr": search.lr} if base.problem is None else {"dual_lr": search.dual_lr, "rho": search.rho}


def _propose(trial: optuna.Trial, base: Setting, search: Search) -> Setting:
    space = _space(base, search)
    times = {name: trial.suggest_float(name, limits.low, limits.high, log=True) for name, limits in space.items()}
    if base.problem is None:
        return Setting(lr=base.lr * times["lr"])
    problem = base.problem.model_copy(update={"rho": base.problem.rho * times["rho"]})
    return Setting(base.lr, base.dual_lr * times["dual_lr"], problem)
