"""How the cells of a text model on a data set are made and fed."""

from functools import partial

import torch

from descent.components import load
from descent.config import Params
from descent.models.parts.inputs import TextInputs
from descent.runner.items import Feed
from descent.tasks.common import feeding
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.text.batches import ClassificationTask
from descent.tasks.text.data import Tokens


def feed(params: Params, tokens: Tokens, model: str, device: torch.device) -> Feed:
    """One stack is of one seed, whose texts differ in length from another's."""
    module = load("models", model)
    text = params.text
    settings = settings_by_arm(params, model)
    budget = budget_of(params, model)
    facts = {
        name: getattr(tokens, name) for name in ("name", "tokenizer", "vocabulary", "pad", "classes", "max_tokens")
    }
    inputs = TextInputs(**facts, local_data=params.local_data)
    given = {
        "data": tokens.digest,
        "text": text.model_dump(include={"tolerance", "selection", "length_pool", "validation_batch"}),
        "classes": tokens.classes,
        "max_tokens": tokens.max_tokens,  # the positions of an encoder with random weights
    }
    return Feed(
        build=partial(feeding.build, model, settings, budget, inputs),
        task=partial(ClassificationTask, tokens, budget, text.length_pool, text.validation_batch, device),
        definition=lambda cell: feeding.definition(params, "text", model, settings, budget, cell, **given),
        batch=budget.batch,
        passes=budget.epochs,
        parts=budget.parts,
        selection=text.selection,
        tolerance=text.tolerance,
        training=params.training,
        device=device,
        elements=feeding.elements(module, settings, budget, inputs, tokens.max_tokens),
        seeds_apart=True,
    )
