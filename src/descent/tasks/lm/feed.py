"""How the cells of a language model are made and fed."""

from functools import partial

import torch

from descent.config import Params
from descent.models.parts.inputs import LMInputs
from descent.runner.items import Feed
from descent.tasks.common import feeding
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.lm.batches import InstructionTask
from descent.tasks.lm.data import Instructions

LEARNS = {
    "tolerance",
    "selection",
    "length_pool",
    "validation_batch",
    "optimizer",
    "readout_layers",
    "readout_tokens",
}


def feed(params: Params, data: Instructions, model: str, device: torch.device) -> Feed:
    """Cells train one by one."""
    lm = params.lm
    settings = settings_by_arm(params, model)
    budget = budget_of(params, model)
    inputs = LMInputs(data.vocabulary, data.begin, data.end, data.max_tokens, params.local_data)
    facts = {"data": data.digest, "lm": lm.model_dump(include=LEARNS), "max_tokens": data.max_tokens}
    return Feed(
        build=partial(feeding.build, model, settings, budget, inputs),
        task=partial(InstructionTask, data, budget, lm, device),
        definition=lambda cell: feeding.definition(params, "lm", model, settings, budget, cell, **facts),
        batch=budget.batch,
        passes=budget.epochs,
        parts=budget.parts,
        selection=lm.selection,
        tolerance=lm.tolerance,
        training=params.training,
        device=device,
        elements=None,
        seeds_apart=True,
        primal=lm.optimizer,
    )
