"""A cell is one trained model: what it is, where its files are, what defines it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from descent.config import Params

WHY = ("experiment", "varied")  # of a cell's identity: why it is trained, which does not change its weights
LM = ("alpaca", "causal_lm")  # the one data set and model of the language model's experiment
ABLATIONS = ("alpha", "dual_lr", "resilience")


@dataclass(frozen=True)
class Cell:
    """The identity of one trained model, the same words in folders, stages, columns and figures."""

    experiment: str  # video | infeasible | text | lm | alpha | dual_lr | resilience (the last three: ablations)
    dataset: str
    model: str
    method: str
    layers: int
    eps: float
    seed: int  # of text cells also the number of the trial
    varied: str = ""  # the value that an ablation gives to what it is named after

    @property
    def name(self) -> str:
        """The cell's file stem inside the folder of its stage."""
        stem = f"L{self.layers}-eps{self.eps}-seed{self.seed}"
        return f"{stem}-{self.varied or self.method}" if self.experiment in ABLATIONS else stem


def runs_folder(experiment: str, dataset: str, model: str, method: str) -> Path:
    """Where the training stage of this matrix item writes its cells."""
    return Path("data/runs") / experiment / f"{dataset}-{model}-{method}"


def scores_file(experiment: str, dataset: str, model: str, method: str) -> Path:
    """Where the evaluation stage of this matrix item writes its rows."""
    return Path("data/scores") / experiment / f"{dataset}-{model}-{method}.parquet"


def video_cells(params: Params, dataset: str, model: str, method: str) -> list[Cell]:
    """All cells of one video matrix item: (grid.eps and eps) x layers x seeds, deepest last."""
    grid, layers = params.budget.video, params.budget.video.of(model).layers
    depths = layers if isinstance(layers, list) else [layers]
    return [
        Cell("video", dataset, model, method, depth, eps, seed)
        for depth in sorted(set(depths))
        for seed in sorted(set(grid.seeds))
        for eps in sorted({*map(float, grid.eps), float(params.eps)})
    ]


def infeasible_cells(params: Params, dataset: str, model: str, method: str) -> list[Cell]:
    """The one cell of Figure 11, asked for more than it can give, in one of the two arms."""
    asked = params.infeasible
    return [Cell("infeasible", dataset, model, method, asked.layers, float(asked.eps), asked.seed)]


def text_cells(params: Params, dataset: str, model: str, method: str) -> list[Cell]:
    """All cells of one text matrix item: trials x layers x (grid.eps and text.eps); trial t has the seed t."""
    budget, trials = getattr(params.budget.text, model), range(params.budget.text.trials)
    layers = budget.layers if isinstance(budget.layers, list) else [budget.layers]
    return [
        Cell("text", dataset, model, method, depth, eps, trial)
        for trial in trials
        for depth in sorted(set(layers))
        for eps in sorted({*map(float, params.budget.text.eps), float(params.text.eps)})
    ]


def lm_cells(params: Params, dataset: str, model: str, method: str) -> list[Cell]:
    """The cells of the language model in one arm: one a seed."""
    layers, eps = params.budget.lm.layers, float(params.lm.eps)
    return [Cell("lm", dataset, model, method, layers, eps, seed) for seed in sorted(set(params.lm.seeds))]


def ablation_cells(params: Params, experiment: str) -> list[Cell]:
    """The cells of one ablation: the unconstrained arm, and the constrained one at every value, all seeds.

    `resilience` has the values `none` and the one in use, for Figure 12.
    """
    asked, grid = params.ablation, params.budget.ablation
    layers = getattr(params.budget.text, asked.model).layers
    depth = max(layers) if isinstance(layers, list) else layers
    used = params.text_constraints(asked.model, asked.dataset).resilience
    values = sorted({"none", used}) if experiment == "resilience" else sorted(set(getattr(grid, experiment)))
    arms = [("unconstrained", ""), *(("constrained", str(value)) for value in values)]
    return [
        Cell(experiment, asked.dataset, asked.model, method, depth, float(asked.eps), seed, varied)
        for seed in range(grid.seeds)
        for method, varied in arms
    ]


def fingerprint(cell: Cell, definition: dict[str, Any]) -> str:
    """A hexadecimal name for all that the cell's weights depend on.

    Args:
        cell: the identity; the seed, depth and noise level enter through it. Why it is trained (`experiment`,
            `varied`) does not, so an ablation takes the cells that it shares with a main experiment.
        definition: resolved parameters, digest of the prepared data, digest of the code.
    """
    identity = {key: value for key, value in asdict(cell).items() if key not in WHY}
    content = json.dumps([identity, definition], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
