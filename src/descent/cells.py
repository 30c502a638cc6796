"""A cell is one trained model: what it is, which ones params.yaml asks for, what defines it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError
from descent.study import Study

WHY = ("experiment", "varied")  # of a cell's identity: why it is trained, which does not change its weights
NAMED = (*WHY, "model")  # and under which name of the same code and settings
# Maps that learn nothing, and their labels. In the results table they stand where arms stand, with no layers.
REFERENCES = {
    "identity": "noisy input",
    "zero": "zero output",
    "frame_mean": "mean of the frames",
    "tv_chambolle": "total variation",
    "nl_means": "non-local means",
}


@dataclass(frozen=True)
class Cell:
    """The identity of one trained model, the same words in folders, stages, columns and figures."""

    experiment: str  # the task (video | text | lm), or the name of the study
    dataset: str
    model: str
    arm: str
    layers: int
    eps: float
    seed: int  # of text cells also the number of the trial
    varied: str = ""  # the value that a study gives to what it varies

    @property
    def name(self) -> str:
        """The cell's folder within that of its data set and model, or of its study."""
        stem = f"{self.arm}-L{self.layers}-eps{self.eps}-seed{self.seed}"
        return f"{stem}-{self.varied}" if self.varied else stem


def headline(params: Params, task: str) -> float:
    """The training noise level that a task's figures and metrics show."""
    return float(params.eps if task == "video" else params.section(task).eps)


def grid(params: Params, task: str, dataset: str, model: str) -> list[Cell]:
    """The cells of a model on a data set: arms x layers x seeds x noise levels, the headline level among these."""
    levels = params.budget.grids(task)
    layers = depths(params, model)
    return [
        Cell(task, dataset, model, arm, depth, eps, seed)
        for arm in params.arms
        for depth in sorted(set(layers))
        for seed in sorted(set(levels.seeds))
        for eps in sorted({*map(float, levels.eps), headline(params, task)})
    ]


def depths(params: Params, model: str) -> list[int]:
    """The depths at which a grid trains a model.

    Raises:
        UserError: the profile in use says nothing of them.
    """
    if "layers" not in (budget := params.model_budget(model)):
        where = f"profiles.{params.profile}.{params.task_of(model)}.models.{model}"
        raise UserError(f"params.yaml, {where}: layers is missing, the depths to train it at, e.g. [3]")
    return budget["layers"]


def searched(params: Params, cell: Cell) -> bool:
    """Whether trials choose a cell's setting: in the grid of a task, of an arm that its search varies, all but the
    first seed's, which is the value in use."""
    task = params.task_of(cell.model)
    search = getattr(params.section(task), "search", None)
    if cell.experiment not in TASKS or search is None or not search.arms.get(cell.arm):
        return False
    return cell.seed != min(params.budget.grids(task).seeds)


def reference_cells(params: Params, dataset: str, model: str) -> list[Cell]:
    """The maps that learn nothing, as measured on the inputs and in the units of a video model; single frames have
    no mean."""
    single = params.components["models"][model]["INPUTS"] == "frames"
    names = [name for name in REFERENCES if not (single and name == "frame_mean")]
    return [Cell("video", dataset, model, name, 0, 0.0, 0) for name in names]


def study_depth(params: Params, study: Study) -> int:
    """The number of layers of a study's cells: without its own it is as deep as the model goes."""
    return study.layers or max(depths(params, study.model))


def study_cells(params: Params, name: str) -> list[Cell]:
    """The cells of a study, all seeds.

    None where the study's data set or model is not in use. Without `layers` they are as deep as the model goes.

    Raises:
        UserError: as Params.studied.
    """
    study = params.studied(name)
    if not params.runs(study):
        return []
    depth = study_depth(params, study)
    return [
        Cell(name, study.dataset, study.model, arm, depth, float(study.eps), seed, varied)
        for seed in sorted(set(study.seeds))
        for arm, varied in study.trained()
    ]


def fingerprint(cell: Cell, definition: dict[str, Any]) -> str:
    """A hexadecimal name for all that the cell's weights depend on.

    Args:
        cell: the identity; the arm, seed, depth and noise level enter through it. Why it is trained (`experiment`,
            `varied`) does not, so a study takes the cells that it shares with a task's grid; nor does the name of
            the model, so that names of one code and one setting share cells.
        definition: resolved parameters, digest of the prepared data, digest of the code.
    """
    identity = {key: value for key, value in asdict(cell).items() if key not in NAMED}
    content = json.dumps([identity, definition], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
