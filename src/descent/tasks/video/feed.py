"""How the cells of a video model on a data set are made and fed."""

from functools import partial

import torch

from descent.components import load
from descent.config import Params
from descent.models.parts.inputs import VideoInputs
from descent.runner.items import Feed
from descent.tasks.common import feeding
from descent.tasks.common.items import budget_of, settings_by_arm
from descent.tasks.video.batches import Inputs, task_of
from descent.tasks.video.data import Prepared
from descent.training.schema import Optimizer

# Of the budget, what batches of these inputs have no use for.
UNREAD = {"patches": frozenset(), "frames": frozenset({"tokens"})}


def feed(params: Params, prepared: Prepared, model: str, device: torch.device) -> Feed:
    """One stack learns from sequences of patches or whole frames, as the model's INPUTS says."""
    module = load("models", model)
    video = params.video
    settings = settings_by_arm(params, model)
    budget = budget_of(params, model)
    inputs = VideoInputs(video.frame.patch, params.local_data)
    scale = sigma(params, prepared)
    facts = {
        "data": prepared.digest,
        "video": video.model_dump(include={"noise_scale", "patch_loss", "tolerance", "selection"}),
        "patch": video.frame.patch,
        "sigma": scale,
    }
    return Feed(
        build=partial(feeding.build, model, settings, budget, inputs),
        task=partial(task_of(model), prepared, budget, scale, video.patch_loss, device),
        definition=lambda cell: feeding.definition(
            params, "video", model, settings, budget, cell, UNREAD[module.INPUTS], **facts
        ),
        batch=budget.batch,
        passes=budget.epochs,
        selection=video.selection,
        tolerance=video.tolerance,
        training=params.training,
        device=device,
        elements=feeding.elements(module, settings, budget, inputs, budget.tokens),
        seeds_apart=False,
        primal=Optimizer(kind=budget.optimizer, weight_decay=0.0),
    )


def sigma(params: Params, prepared: Prepared) -> float:
    """The noise scale in [0, 1] units: the data set's own (the paper's words) or one number for all."""
    scale = params.video.noise_scale
    return prepared.sigma if scale == "dataset" else float(scale)


def tested_inputs(params: Params, model: str, prepared: Prepared) -> Inputs:
    """What a model is tested on of a data set."""
    return task_of(model).inputs(prepared, budget_of(params, model), "test")
