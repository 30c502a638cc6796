"""What an arm of the language model trains and scores: the cells, what defines them, how they are fed."""

from functools import partial
from typing import Any

import torch

from descent.cells import LM, Cell, lm_cells, runs_folder
from descent.config import Params
from descent.errors import UserError
from descent.io.downloads import local
from descent.io.folders import content
from descent.models import causal_lm
from descent.runner.fingerprint import digest
from descent.runner.items import Item, once
from descent.tasks.lm.batches import InstructionTuning
from descent.tasks.lm.data import Instructions
from descent.training.settings import Setting

METHODS = ("constrained", "unconstrained")
TRAINS = {
    "tolerance",
    "report",
    "length_pool",
    "validation_batch",
    "optimizer",
    "readout_layers",
    "readout_tokens",
}


def check_name(method: str) -> None:
    """Raises UserError for a method that there is not."""
    if method not in METHODS:
        raise UserError(f"unknown name {method!r}; known: {', '.join(METHODS)}")


def setting(params: Params, method: str) -> Setting:
    """How the cells of an arm train."""
    budget = params.budget.lm
    if method == "unconstrained":
        return Setting(budget.lr)
    return Setting(budget.lr, budget.dual_lr, params.lm_constraints())


def item(params: Params, data: Instructions, device: torch.device, method: str) -> Item:
    """One arm of the language model: one cell a seed, one after another."""
    cells = lm_cells(params, *LM, method)
    settings: dict[Cell, Setting] = {cell: setting(params, method) for cell in cells}
    return Item(
        name=f"lm-{method}",
        runs=runs_folder("lm", *LM, method),
        cells=cells,
        settings=settings,
        rounds=partial(once, settings),
        definition=_definition(params, data),
        build=partial(causal_lm.build, params, data),
        task=partial(InstructionTuning, params, data, device),
        epochs=params.budget.lm.epochs,
        report=params.lm.report,
        tolerance=params.lm.tolerance,
        training=params.training,
        device=device,
        elements=None,
        seeds_apart=True,
        primal=params.lm.optimizer,
    )


def _definition(params: Params, data: Instructions) -> dict[str, Any]:
    """The depth, noise level and seed enter with the cell, the rates and constraints with its setting."""
    path = params.budget.lm.weights.path
    return {
        "data": data.digest,
        "files": content(local(params.local_data, path)) if path else None,
        "code": digest(["descent.runner.items", __name__]),
        "budget": params.budget.lm.model_dump(include={"weights", "lora", "batch", "epochs"}),
        "lm": params.lm.model_dump(include=TRAINS),
        "max_tokens": data.max_tokens,
        "training": params.training.model_dump(exclude={"checkpoint_seconds", "stack_elements"}),
    }
