"""A cell is one trained model: what it is, where its files are, what defines it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from descent.params import Params


@dataclass(frozen=True)
class Cell:
    """The identity of one trained model, the same words in folders, stages, columns and figures."""

    experiment: str  # video | infeasible
    dataset: str
    model: str
    method: str
    layers: int
    eps: float
    seed: int

    @property
    def name(self) -> str:
        """The cell's file stem inside the folder of its stage."""
        return f"L{self.layers}-eps{self.eps}-seed{self.seed}"


def runs_folder(experiment: str, dataset: str, model: str, method: str) -> Path:
    """Where the training stage of this matrix item writes its cells."""
    return Path("data/runs") / experiment / f"{dataset}-{model}-{method}"


def scores_file(experiment: str, dataset: str, model: str, method: str) -> Path:
    """Where the evaluation stage of this matrix item writes its rows."""
    return Path("data/scores") / experiment / f"{dataset}-{model}-{method}.parquet"


def video_cells(params: Params, dataset: str, model: str, method: str) -> list[Cell]:
    """All cells of one video matrix item: (grid.eps and eps) x layers x seeds, deepest last."""
    grid = params.budget.video
    return [
        Cell("video", dataset, model, method, layers, eps, seed)
        for layers in sorted(set(grid.layers))
        for seed in sorted(set(grid.seeds))
        for eps in sorted({*map(float, grid.eps), float(params.eps)})
    ]


def infeasible_cells(params: Params, dataset: str, model: str, method: str) -> list[Cell]:
    """The one cell of Figure 11, asked for more than it can give, in one of the two arms."""
    asked = params.infeasible
    return [Cell("infeasible", dataset, model, method, asked.layers, float(asked.eps), asked.seed)]


def fingerprint(cell: Cell, definition: dict[str, Any]) -> str:
    """A hexadecimal name for all that the cell's weights depend on.

    Args:
        cell: the identity; the seed, depth and noise level enter through it.
        definition: resolved parameters, digest of the prepared data, digest of the code.
    """
    content = json.dumps([asdict(cell), definition], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
