"""The training of one stack of cells: the unit of work that goes to a device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from descent.cells import Cell
from descent.components import load
from descent.training.arm import Setting
from descent.training.loop import Checkpoint, Course, Run, Task, train


@dataclass(frozen=True, kw_only=True)
class Recipe(Course):
    """How any stack of cells is made and trained; which cells, and with what settings, is not in it."""

    build: Callable[[Sequence[Cell]], nn.Module]
    task: Callable[[Sequence[Cell]], Task]
    device: torch.device


def train_stack(
    recipe: Recipe,
    stack: Sequence[Cell],
    settings: Sequence[Setting],
    checkpoint: Checkpoint,
    progress: Callable[[int, Tensor], None],
) -> Run:
    """Train cells of one depth and one arm together, from their checkpoint where there is one.

    Raises:
        UserError: as `train`, or as what loads the model's weights and the checkpoint.
    """
    first = settings[0]
    layers = stack[0].layers
    arm = load("arms", first.arm).Arm([setting.values for setting in settings], layers, recipe.device)
    return train(
        recipe.build(stack).to(recipe.device),
        recipe.task(stack),
        arm,
        course=recipe,
        lr=first.lr,
        checkpoint=checkpoint,
        progress=progress,
    )
