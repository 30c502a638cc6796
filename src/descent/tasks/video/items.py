"""What a video matrix item trains and scores: the cells, what defines them, how they are built and fed."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from descent.cells import infeasible_cells, runs_folder, video_cells
from descent.config import VIDEO_MODELS, Params
from descent.errors import UserError
from descent.io.downloads import local
from descent.io.folders import content
from descent.runner.fingerprint import digest
from descent.runner.items import Item, once
from descent.schema import PrimalDual
from descent.tasks.video.batches import Noisy
from descent.tasks.video.data import Prepared
from descent.tasks.video.frames import FrameDenoising
from descent.tasks.video.sequences import Denoising
from descent.training.settings import Setting

EXPERIMENTS = {"video": video_cells, "infeasible": infeasible_cells}
TASKS: dict[str, type[Noisy]] = {"ut": Denoising, "dust": Denoising, "vit": FrameDenoising}


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
    module, budget = import_module(f"descent.models.{model}"), params.budget.video.of(model)
    rates, width = getattr(params.budget.video, model), module.width(params)
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
        task=partial(TASKS[model], params, prepared, device),
        epochs=budget.epochs,
        report=params.video.report,
        tolerance=params.video.tolerance,
        training=params.training,
        device=device,
        elements=None if width is None else budget.batch * budget.tokens * width,
        seeds_apart=False,
    )


def _definition(params: Params, prepared: Prepared, model: str, method: str) -> dict[str, Any]:
    """The depth, noise level and seed enter with the cell, the rates and constraints with its setting."""
    section = getattr(params.models, model).model_dump()
    if "dictionaries" in section:
        section["dictionaries"] = section["dictionaries"][method]
    apart = {"layers", "eps", "seeds", "test_sequences", "test_frames", "lr", "dual_lr", *VIDEO_MODELS}
    budget = params.budget.video.of(model).model_dump(exclude=apart)
    source = budget.get("weights", {}).get("path")
    video = params.video
    return {
        "data": prepared.digest,
        "files": content(local(params.local_data, source)) if source else None,
        "code": digest(["descent.runner.items", __name__, f"descent.models.{model}"]),
        "model": section,
        "video": video.model_dump(include={"noise_scale", "patch_loss", "tolerance", "report"}),
        "patch": video.frame.patch,
        "budget": budget,
        "training": params.training.model_dump(exclude={"checkpoint_seconds", "stack_elements"}),
    }
