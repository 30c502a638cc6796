"""What published models must share to be laid beside each other, though they lie in two parts."""

import json
from collections.abc import Sequence
from typing import Any

from descent import paths
from descent.components import load
from descent.config import Params
from descent.schema import validated

# Of a budget: what the objective says, is told beside, or changes nothing (a pass cut in parts).
FREE = ("lr", "arms", "epochs", "layers", "parts")
INPUTS = ("frame", "length_pool")  # of a task: what becomes of prepared data on their way to a model
COMPUTED = ("compile", "stack_elements", "checkpoint_seconds")  # of training: how, and not what
TESTED = ("gammas", "noise_draws", "seed")  # of tests


def shape(own: Params, dataset: str, model: str, arm: str, digests: Sequence[str], but: Sequence[str] = ()) -> str:
    """All that makes the numbers of an arm's cells but its objective, depth and epochs: the model's settings
    without those named, budget, inputs, training, tests, and the data.

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
        section.model_dump(include={*INPUTS}),
        own.training.model_dump(exclude={*COMPUTED}),
        section.evaluation.model_dump(include={*TESTED}),
        [line for line in digests if line.endswith(f" {prepared}")],
    )
    return json.dumps(told, sort_keys=True)


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """The values but for those of these names."""
    return {name: value for name, value in values.items() if name not in names}
