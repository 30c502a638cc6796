"""A results table with plausible curves, for the tests of everything downstream of evaluation."""

import math
import zlib

import pandas as pd

from descent.analysis.results import ABSENT
from descent.analysis.select import select
from descent.cells import Cell, infeasible_cells, video_cells
from descent.config import Params, load
from tests.fakes.replicates import replicate_rows
from tests.fakes.results_lm import lm_rows
from tests.fakes.results_text import text_rows

SIGMA = {"avenue": 63.0, "ucsd": 46.0, "shanghaitech": 55.0}
INTENSITY = {"avenue": 120.0, "ucsd": 106.0, "shanghaitech": 134.0}


def fake_params(**changes: object) -> Params:
    """params.yaml's demo profile with the values that expectations here count on, whatever is tuned there."""
    values = load().model_dump()
    values |= {"profile": "demo", "eps": 0.13, "method": "constrained"}
    values["profiles"]["demo"]["video"] |= {"layers": [3, 5], "eps": [0.0, 0.15], "seeds": [0]}
    weights = {"image": 32, "patch": 4, "width": 48, "heads": 3, "feedforward": 96}
    values["profiles"]["demo"]["video"]["vit"] |= {"layers": 4, "weights": {"random": weights}}
    values["primal_dual"]["ut"]["cap_layer"] = 1
    values["evaluation"]["bootstrap"] = values["text"]["evaluation"]["bootstrap"] = 20
    values["text"]["eps"] = values["ablation"]["eps"] = 0.4
    values["ablation"] |= {"dataset": "imdb", "model": "roberta"}
    values["profiles"]["demo"]["text"] |= {"eps": [0.0, 1.0], "trials": 3}
    values["profiles"]["demo"]["text"]["ut_text"]["layers"] = [3, 5]
    values["profiles"]["demo"]["text"]["roberta"]["layers"] = 8
    values["profiles"]["demo"]["ablation"] = {"alpha": [0.02, 0.1, 0.2], "dual_lr": [0.001, 0.01, 0.1], "seeds": 3}
    return Params.model_validate(values).model_copy(update=changes)


def fake_results(params: Params) -> pd.DataFrame:
    """Rows for every cell that params.yaml asks for, video first; only the constrained arm always descends."""
    video, asked = params.video, params.infeasible
    cells = [
        c
        for d in video.datasets
        for m in video.models
        for a in video.methods
        for c in video_cells(params, d, m, a)
    ]
    cells += [c for a in video.methods for c in infeasible_cells(params, asked.dataset, asked.model, a)]
    rows = [row for cell in cells for row in _cell_rows(params, cell)]
    for dataset in dict.fromkeys([*video.datasets, asked.dataset]):
        rows += _reference_rows(params, dataset)
    return pd.DataFrame(rows + text_rows(params) + lm_rows(params)).fillna(ABSENT)


def change(results: pd.DataFrame, value: float, **where: object) -> None:
    """Give the matching rows, of which there must be some, another value."""
    chosen = select(results, **where).index
    assert len(chosen)
    results.loc[chosen, "value"] = value


def _gammas(params: Params) -> list[float]:
    return sorted(
        {
            *map(float, params.evaluation.gammas),
            *map(float, params.budget.video.eps),
            params.eps,
            params.infeasible.eps,
        }
    )


def _jitter(cell: Cell, *words: object) -> float:
    """A reproducible number in [-1, 1] that differs from cell to cell."""
    identity = {key: value for key, value in vars(cell).items() if key != "varied"}  # no video cell varies
    text = repr((identity, words)).encode()
    return zlib.crc32(text) / 2**31 - 1


def _cell_rows(params: Params, cell: Cell) -> list[dict]:
    constrained, failed = (
        cell.method == "constrained",
        cell.experiment == "infeasible" and cell.method == "constrained",
    )
    identity = {"profile": params.profile, **vars(cell)}
    cap = params.constraints(cell.model).cap_layer
    bias = INTENSITY[cell.dataset] if failed else (7.5 if constrained else 6.5) + _jitter(cell, "bias")
    slope = (
        0.0 if failed else (0.62 - 0.015 * cell.layers if constrained else 0.72) + 0.04 * _jitter(cell, "slope")
    )
    slope -= 0.0 if failed else 0.6 * cell.eps
    rows = []
    for gamma in _gammas(params):
        rmse = math.hypot(bias, slope * gamma * SIGMA[cell.dataset])
        rows += [
            identity
            | {"split": "test", "gamma": gamma, "layer": cell.layers, "metric": name, "value": rmse * factor}
            for name, factor in (("rmse", 1.0), ("rmse_clipped", 0.98))
        ]
        rows += [
            identity | {"split": "test", "gamma": gamma, "layer": layer, "metric": "loss", "value": loss}
            for layer, loss in enumerate(_losses(cell, rmse))
        ]
    at_eps = {"split": "validation", "gamma": cell.eps}
    losses = _losses(cell, math.hypot(bias, slope * cell.eps * SIGMA[cell.dataset]))
    for layer, loss in enumerate(losses):
        rows.append(identity | at_eps | {"layer": layer, "metric": "validation_loss", "value": loss})
        if layer >= cap:
            bound = params.constraints(cell.model)
            violation = loss / bound.R0 - 1 if layer == cap else loss / losses[layer - 1] - (1 - bound.alpha)
            missed = {"layer": layer, "metric": "violation", "value": violation}
            rows += [identity | at_eps | missed, identity | at_eps | missed | {"split": "test"}]
    feasible = float(constrained and not failed)
    swept = [row for row in rows if row["metric"] == "rmse" and row["gamma"] in params.evaluation.gammas]
    scores = {"descending": constrained}
    for name, inside in (("in", True), ("out_of", False)):
        chosen = [row["value"] for row in swept if (row["gamma"] <= cell.eps + 1e-9) == inside]
        scores[f"rmse_{name}_distribution"] = sum(chosen) / len(chosen)
    rows += replicate_rows(params, identity, scores, items=5)
    states = {"feasible": feasible, "diverged": 0.0, "epoch": 17.0}
    last = {"layer": cell.layers}
    rows.append(identity | at_eps | last | {"split": "test", "metric": "feasible", "value": feasible})
    return rows + [identity | at_eps | last | {"metric": name, "value": value} for name, value in states.items()]


def _losses(cell: Cell, rmse: float) -> list[float]:
    """f_0 ... f_L ending at the last layer's RMSE: geometric when constrained, with a bump when not."""
    last = 256 * (rmse / 255) ** 2
    if cell.method == "constrained":
        return [last / 0.72 ** (cell.layers - layer) for layer in range(cell.layers + 1)]
    bumps = [1 + 0.6 * abs(_jitter(cell, layer)) * (layer % 2) for layer in range(cell.layers)]
    return [5.0 * bump / (1 + 0.2 * layer) for layer, bump in enumerate(bumps)] + [last]


def _reference_rows(params: Params, dataset: str) -> list[dict]:
    rows = []
    for gamma in _gammas(params):
        for name, rmse in (("identity", gamma * SIGMA[dataset]), ("zero", INTENSITY[dataset])):
            identity = dict(
                profile=params.profile, experiment="video", dataset=dataset, model=name, method="reference"
            )
            identity |= dict(layers=0, eps=0.0, seed=0, split="test", gamma=gamma, layer=0)
            values = {"rmse": rmse, "rmse_clipped": rmse, "loss": 256 * (rmse / 255) ** 2}
            rows += [identity | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows
