"""Made-up rows of the language model, as evaluation writes them."""

import math
from collections.abc import Callable

import numpy as np

from descent.cells import grid
from descent.config import Params
from tests.fakes.replicates import replicate_rows


def lm_rows(params: Params) -> list[dict]:
    """Rows for all arms; only the constrained one descends at every layer, and it stands more noise."""
    return [
        row
        for dataset in params.lm.datasets
        for model in params.lm.models
        for cell in grid(params, "lm", dataset, model)
        for row in _cell_rows(params, vars(cell))
    ]


def _cell_rows(params: Params, cell: dict) -> list[dict]:
    constrained, depth = cell["arm"] == "constrained", cell["layers"]
    held_to = params.problem(cell["dataset"], cell["model"])
    rows = []

    def add(split: str, gamma: float, layer: int, metric: str, value: float) -> None:
        place = {"split": split, "gamma": gamma, "layer": layer, "metric": metric, "value": float(value)}
        rows.append({"profile": params.profile, "bin": 0.0, **cell, **place})

    def losses(gamma: float) -> list[float]:
        last, start = 1.0 + gamma * (0.4 if constrained else 0.6), 0.95 * held_to.R0
        shares = [(layer / depth) ** (1 if constrained else 5) for layer in range(depth + 1)]
        return [start * (last / start) ** share for share in shares]

    for gamma in sorted({*map(float, params.lm.evaluation.gammas), cell["eps"]}):
        for layer, loss in enumerate(losses(gamma)):
            add("test", gamma, layer, "loss", loss)
            add("test", gamma, layer, "accuracy", math.exp(-loss / 2))
    f = losses(cell["eps"])
    for layer, loss in enumerate(f):
        missed = loss / held_to.R0 - 1 if layer == 0 else loss / f[layer - 1] - (1 - held_to.alpha)
        add("validation", cell["eps"], layer, "validation_loss", loss)
        for split in ("validation", "test"):
            add(split, cell["eps"], layer, "violation", missed)
    for split in ("validation", "test"):
        add(split, cell["eps"], depth, "feasible", constrained)
    told = {"diverged": 0, "epoch": 2, "lr": 0.001}
    told |= {"dual_lr": 0.01, "alpha": held_to.alpha, "rho": held_to.rho} if constrained else {}
    for metric, value in told.items():
        add("validation", cell["eps"], depth, metric, value)
    identity = {"profile": params.profile, **cell}
    return rows + replicate_rows(params.lm.evaluation, identity, _scores(params, cell, losses), items=40)


def _scores(params: Params, cell: dict, losses: Callable[[float], list[float]]) -> dict[str, float]:
    levels = sorted(set(map(float, params.lm.evaluation.gammas)))
    accuracy = [math.exp(-losses(level)[-1] / 2) for level in levels]
    inside = [value for level, value in zip(levels, accuracy, strict=True) if level <= cell["eps"]]
    beyond = accuracy[len(inside) :]
    return {
        "accuracy_in_distribution": sum(inside) / len(inside),
        "accuracy_out_of_distribution": sum(beyond) / len(beyond),
        "area": float(np.trapezoid(accuracy, levels)),
        "descending": 1.0,
    }
