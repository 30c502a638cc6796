"""A video matrix item from parameters to an output folder of trained cells."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tqdm import tqdm

from descent.cells import Cell, fingerprint, infeasible_cells, runs_folder, video_cells
from descent.closure import digest
from descent.datasets.video import Prepared, load
from descent.devices import choose
from descent.errors import UserError
from descent.params import Params
from descent.schema import PrimalDual
from descent.training import store
from descent.training.denoising import Denoising
from descent.training.executor import train_all
from descent.training.stacks import Recipe, plan, train_stack, unfinished

EXPERIMENTS = {"video": video_cells, "infeasible": infeasible_cells}


def prepared_folder(dataset: str) -> Path:
    """Where preprocess_video writes a data set."""
    return Path("data/prepared") / dataset


def problem(params: Params, experiment: str, model: str) -> PrimalDual:
    """The constrained problem of an experiment: the model's, with the values its own section replaces."""
    overrides = params.infeasible.primal_dual if experiment == "infeasible" else None
    return params.constraints(model, overrides)


def cells(params: Params, experiment: str, dataset: str, model: str, method: str) -> list[Cell]:
    """The cells of a matrix item.

    Raises:
        UserError: an experiment, data set, model or method that params.yaml does not know.
    """
    for word, known in (
        (experiment, EXPERIMENTS),
        (dataset, params.budget.data),
        (model, type(params.models).model_fields),
        (method, ("constrained", "unconstrained")),
    ):
        if word not in known:
            raise UserError(f"unknown name {word!r}; known: {', '.join(known)}")
    return EXPERIMENTS[experiment](params, dataset, model, method)


def fingerprints(params: Params, prepared: Prepared, asked: list[Cell]) -> dict[Cell, str]:
    """Each cell's name in the store: all that its weights depend on, and nothing else."""
    first, budget, video = asked[0], params.budget.video, params.video
    model = getattr(params.models, first.model).model_dump()
    if "dictionaries" in model:
        model["dictionaries"] = model["dictionaries"][first.method]
    constrained = first.method == "constrained"
    rates = getattr(budget, first.model)
    definition: dict[str, Any] = {
        "data": prepared.digest,
        "code": digest([__name__, f"descent.models.{first.model}"], leave_out=["descent.params"]),
        "model": model,
        "problem": problem(params, first.experiment, first.model).model_dump() if constrained else None,
        "dual_lr": rates.dual_lr if constrained else None,
        "lr": rates.lr,
        "video": video.model_dump(include={"noise_scale", "patch_loss", "tolerance", "report"}),
        "patch": video.frame.patch,
        "budget": budget.model_dump(
            include={"tokens", "batch", "epochs", "epoch_sequences", "validation_sequences", "atoms"}
        ),
        "training": params.training.model_dump(exclude={"checkpoint_seconds", "stack_elements"}),
    }
    return {cell: fingerprint(cell, definition) for cell in asked}


def train_cells(params: Params, experiment: str, dataset: str, model: str, method: str) -> None:
    """Write the output folder of one matrix item: what the store has is taken, the rest is trained first.

    Raises:
        UserError: unknown names, missing data, or a stack that does not fit the GPU.
    """
    asked = cells(params, experiment, dataset, model, method)
    prepared, device = load(prepared_folder(dataset)), choose(params.device)
    names = fingerprints(params, prepared, asked)
    module, budget = import_module(f"descent.models.{model}"), params.budget.video
    recipe = Recipe(
        build=partial(module.build, params),
        task=partial(Denoising, params, prepared, device),
        problem=problem(params, experiment, model) if method == "constrained" else None,
        rates=getattr(budget, model),
        epochs=budget.epochs,
        report=params.video.report,
        tolerance=params.video.tolerance,
        settings=params.training,
        device=device,
    )
    item = f"{experiment}-{dataset}-{model}-{method}"
    with store.alone(item):
        missing = [cell for cell in asked if not store.has(names[cell])]
        elements = budget.batch * budget.tokens * module.width(params)
        limit = getattr(params.training.stack_elements, device.type)
        begun = unfinished(names, missing)
        rest = [cell for cell in missing if not any(cell in stack for stack in begun)]
        stacks = begun + plan(rest, elements, limit)
        with tqdm(total=sum(map(len, stacks)) * budget.epochs, desc=item, unit="cell epoch") as bar:
            work = partial(train_stack, names, recipe)
            train_all(stacks, work, device, len(plan(asked, elements, limit)), bar.update)
        store.hand_out(names, runs_folder(experiment, dataset, model, method))
