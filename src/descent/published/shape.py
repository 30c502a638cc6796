"""What published models must share to be laid beside each other, though they lie in two parts."""

import json
from collections.abc import Sequence
from typing import Any

from descent import paths
from descent.components import load
from descent.config import Params
from descent.primal_dual.problem import Problem
from descent.schema import validated

FREE = ("lr", "arms", "epochs", "layers", "parts")  # of a budget: what an objective says, or is told beside
# Of a task: what becomes of prepared data on their way to a model, what its losses are, what steps the weights,
# which of them a cell reports and when it holds its constraints.
INPUTS = ("frame", "noise_scale", "length_pool")
HELD = (*INPUTS, "patch_loss", "readout_tokens", "readout_layers", "optimizer", "selection", "tolerance")
COMPUTED = ("compile", "stack_elements", "checkpoint_seconds")  # of training: how, and not what
TESTED = ("gammas", "noise_draws", "seed")  # of tests
OLDER = {"margin_start": Problem.model_fields["margin_start"].default}  # what parts from before it do not hold


def shape(own: Params, dataset: str, model: str, arm: str, digests: Sequence[str], but: Sequence[str] = ()) -> str:
    """All that makes the numbers of an arm's cells but its objective (with the rate of the weights), depth and
    epochs: the model's settings without those named, budget, inputs, training, tests, and the data.

    Args:
        own: the parameters of the part that holds them.
        digests: of its data sets (files.digests).

    Raises:
        UserError: models.<model> is not what today's code asks for.
    """
    schema = load("models", model).Settings  # whose defaults are what older parts do not say
    settings = validated(schema, own.model_settings(model, arm), f"models.{model}").model_dump()
    task = own.task_of(model)
    section = own.section(task)
    prepared = paths.prepared_folder(own, task, dataset, model).relative_to(paths.PREPARED)
    told = (
        without(settings, *but),
        without(own.model_budget(model), *FREE),
        section.model_dump(include={*HELD}),
        own.training.model_dump(exclude={*COMPUTED}),
        section.evaluation.model_dump(include={*TESTED}),
        [line for line in digests if line.endswith(f" {prepared}")],
    )
    return json.dumps(told, sort_keys=True)


def objective(own: Params, dataset: str, model: str, arm: str) -> dict[str, Any]:
    """What an arm minimises and how it steps its duals, with the rate of the weights; and in how many parts a pass
    is cut, where the arm does anything by the epoch."""
    values = OLDER | own.objective(arm, dataset, model)
    budget = own.model_budget(model)
    restarts = values.get("resilience") == "slacks" and values.get("restart")
    by_epoch = restarts or values.get("warmup_epochs") or values.get("margin_start")
    return {"lr": budget["lr"]} | values | ({"parts": budget.get("parts", 1)} if by_epoch else {})


def definition(own: Params) -> str:
    """All that the cells and scores of a part hang on, but for its data and seeds.

    Raises:
        UserError: as `shape`.
    """
    cells = [
        [own.shifts_of(task), shape(own, dataset, model, arm, ()), objective(own, dataset, model, arm)]
        for task, dataset, model in own.places
        for arm in own.arms
    ]
    return json.dumps([cells, {name: own.study[name] for name in own.studies}], sort_keys=True)


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """The values but for those of these names."""
    return {name: value for name, value in values.items() if name not in names}
