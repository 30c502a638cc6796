"""What the three tasks' feeds have in common: building a stack by its arm, and what defines its cells."""

from collections.abc import Sequence, Set
from types import ModuleType
from typing import Any

import torch
from torch import nn

from descent.cells import Cell
from descent.components import load
from descent.config import Params
from descent.errors import UserError
from descent.io.failures import reason
from descent.io.model_files import content
from descent.io.places import local
from descent.runner.fingerprint import digest
from descent.schema import Budget

COMPUTES = "descent.training.stack"  # the loop and all below it
APART = {"layers", "lr", "arms", "test_inputs"}  # of a budget: enters with the cell or its setting, or not at all


def build(model: str, settings: dict[str, Any], budget: Budget, inputs: Any, cells: Sequence[Cell]) -> nn.Module:
    """A stack of cells of one arm and depth.

    Raises:
        UserError: it cannot be built from the weights that it is to begin with.
    """
    own = settings[cells[0].arm]
    seeds = [cell.seed for cell in cells]
    places = _places(budget)
    try:
        return load("models", model).build(own, budget, inputs, cells[0].layers, seeds)
    except (UserError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # of a wrong config.json a library raises whatever it stumbles over
        if not places:
            raise
        raise UserError(
            f"{model} cannot be built from {places[0]} ({reason(error)}): get its files again"
        ) from None


def elements(model: ModuleType, settings: dict[str, Any], budget: Budget, inputs: Any, tokens: int) -> int | None:
    """Numbers in one state of one cell in training, of the widest arm; None of a model without a `width`, as one
    that a library makes, whose cells train one by one.

    Args:
        tokens: of an input, at most.
    """
    if not hasattr(model, "width"):
        return None
    return budget.batch * tokens * max(model.width(own, budget, inputs) for own in settings.values())


def definition(
    params: Params,
    task: str,
    model: str,
    settings: dict[str, Any],
    budget: Budget,
    cell: Cell,
    unread: Set[str] = frozenset(),
    **facts: Any,
) -> dict[str, Any]:
    """What a cell's weights depend on beside its identity and setting; its batches have no use for `unread`."""
    own = budget.model_dump(exclude=APART | unread)
    batches = f"descent.tasks.{task}.batches"
    return {
        "code": digest((COMPUTES, f"descent.arms.{cell.arm}", load("models", model).build.__module__, batches)),
        "files": [content(local(params.local_data, path)) for path in _places(budget)],
        "model": settings[cell.arm].model_dump(),
        "budget": own,
        "training": params.training.model_dump(exclude={"checkpoint_seconds", "stack_elements"}),
        **facts,
    }


def _places(budget: Budget) -> list[str]:
    """The folders that a budget names."""
    own = budget.model_dump(exclude=APART)
    return [source["path"] for source in own.values() if isinstance(source, dict) and source.get("path")]
