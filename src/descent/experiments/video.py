"""What a video matrix item trains and scores: the cells, what defines them, how they are built and fed."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from descent.cells import infeasible_cells, runs_folder, video_cells
from descent.closure import digest
from descent.datasets.video import Prepared
from descent.errors import UserError
from descent.params import VIDEO_MODELS, Params
from descent.schema import PrimalDual
from descent.training.denoising import Denoising
from descent.training.items import Item, once
from descent.training.settings import Setting

EXPERIMENTS = {"video": video_cells, "infeasible": infeasible_cells}


def prepared_folder(dataset: str) -> Path:
    """Where preprocess_video writes a data set."""
    return Path("data/prepared") / dataset


def problem(params: Params, experiment: str, model: str) -> PrimalDual:
    """The constrained problem of an experiment: the model's, with the values its own section replaces."""
    overrides = params.infeasible.primal_dual if experiment == "infeasible" else None
    return params.constraints(model, overrides, "infeasible.primal_dual" if overrides else "")


def check_names(params: Params, experiment: str, dataset: str, model: str, method: str) -> None:
    """Raises UserError for an experiment, data set, model or method that params.yaml does not know."""
    for word, known in (
        (experiment, EXPERIMENTS),
        (dataset, params.budget.data),
        (model, VIDEO_MODELS),
        (method, ("constrained", "unconstrained")),
    ):
        if word not in known:
            raise UserError(f"unknown name {word!r}; known: {', '.join(known)}")


def item(
    params: Params,
    prepared: Prepared,
    device: torch.device,
    experiment: str,
    dataset: str,
    model: str,
    method: str,
) -> Item:
    """One video matrix item."""
    cells = EXPERIMENTS[experiment](params, dataset, model, method)
    module, budget = import_module(f"descent.models.{model}"), params.budget.video
    rates = getattr(budget, model)
    setting = Setting(rates.lr)
    if method == "constrained":
        setting = Setting(rates.lr, rates.dual_lr, problem(params, experiment, model))
    settings = dict.fromkeys(cells, setting)
    return Item(
        name=f"{experiment}-{dataset}-{model}-{method}",
        runs=runs_folder(experiment, dataset, model, method),
        cells=cells,
        settings=settings,
        rounds=partial(once, settings),
        definition=_definition(params, prepared, model, method),
        build=partial(module.build, params),
        task=partial(Denoising, params, prepared, device),
        epochs=budget.epochs,
        report=params.video.report,
        tolerance=params.video.tolerance,
        training=params.training,
        device=device,
        elements=budget.batch * budget.tokens * module.width(params),
        seeds_apart=False,
    )


def _definition(params: Params, prepared: Prepared, model: str, method: str) -> dict[str, Any]:
    section = getattr(params.models, model).model_dump()
    if "dictionaries" in section:
        section["dictionaries"] = section["dictionaries"][method]
    video = params.video
    budget = {"tokens", "batch", "epochs", "epoch_sequences", "validation_sequences", "atoms"}
    return {
        "data": prepared.digest,
        "code": digest(["descent.training.items", __name__, f"descent.models.{model}"]),
        "model": section,
        "video": video.model_dump(include={"noise_scale", "patch_loss", "tolerance", "report"}),
        "patch": video.frame.patch,
        "budget": params.budget.video.model_dump(include=budget),
        "training": params.training.model_dump(exclude={"checkpoint_seconds", "stack_elements"}),
    }
