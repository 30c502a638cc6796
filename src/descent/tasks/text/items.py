"""What a text matrix item or an ablation trains and scores: the cells, what defines them, how they are fed."""

from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from descent.cells import ABLATIONS, Cell, ablation_cells, runs_folder, text_cells
from descent.config import TEXT_MODELS, Params
from descent.errors import UserError
from descent.io.downloads import local
from descent.io.folders import content
from descent.runner.fingerprint import digest
from descent.runner.items import Item, once
from descent.tasks.text.batches import Classification
from descent.tasks.text.data import Tokens
from descent.training.search import trials
from descent.training.settings import Setting


def tokens_folder(params: Params, dataset: str, model: str) -> Path:
    """Where preprocess_text writes a data set in the tokens of a model."""
    return Path("data/tokens") / dataset / getattr(params.models, model).tokenizer


def check_names(params: Params, dataset: str, model: str, method: str) -> None:
    """Raises UserError for a data set, model or method that params.yaml does not know."""
    for word, known in (
        (dataset, params.budget.texts),
        (model, TEXT_MODELS),
        (method, ("constrained", "unconstrained")),
    ):
        if word not in known:
            raise UserError(f"unknown name {word!r}; known: {', '.join(known)}")


def setting(params: Params, cell: Cell, method: str) -> Setting:
    """How a cell trains in an arm, before any search; an ablation's value is in it."""
    rates = getattr(params.budget.text, cell.model)
    if method == "unconstrained":
        return Setting(rates.lr)
    problem, dual_lr = params.text_constraints(cell.model, cell.dataset), rates.dual_lr
    if cell.varied and cell.experiment == "dual_lr":
        dual_lr = float(cell.varied)
    elif cell.varied:
        value = cell.varied if cell.experiment == "resilience" else float(cell.varied)
        problem = problem.model_copy(update={cell.experiment: value})
    return Setting(rates.lr, dual_lr, problem)


def item(params: Params, tokens: Tokens, device: torch.device, dataset: str, model: str, method: str) -> Item:
    """One text matrix item: every depth, noise level and trial."""
    cells = text_cells(params, dataset, model, method)
    base = {cell: setting(params, cell, method) for cell in cells}
    searched = method == "constrained" or params.text.search.unconstrained == "lr"
    # The first trial is the value in use, so its setting is known without a search.
    known = {cell: asked for cell, asked in base.items() if cell.seed == 0} if searched else base
    rounds = partial(trials, cells, base, params.text.search) if searched else partial(once, base)
    name, runs = f"text-{dataset}-{model}-{method}", runs_folder("text", dataset, model, method)
    return _item(params, tokens, device, name, runs, cells, known, rounds)


def ablation_item(params: Params, tokens: Tokens, device: torch.device, experiment: str) -> Item:
    """One ablation: the unconstrained arm, and the constrained one at every value.

    Raises:
        UserError: there is no ablation of that name.
    """
    if experiment not in ABLATIONS:
        raise UserError(f"unknown name {experiment!r}; known: {', '.join(ABLATIONS)}")
    cells = ablation_cells(params, experiment)
    settings = {cell: setting(params, cell, cell.method) for cell in cells}
    runs = Path("data/runs/ablation") / experiment
    return _item(params, tokens, device, f"ablation-{experiment}", runs, cells, settings, partial(once, settings))


def _item(
    params: Params,
    tokens: Tokens,
    device: torch.device,
    name: str,
    runs: Path,
    cells: list[Cell],
    settings: dict[Cell, Setting],
    rounds: Any,
) -> Item:
    model = cells[0].model
    models, budget = module(model), getattr(params.budget.text, model)
    stacked = model == "ut_text"  # an encoder of the library trains alone
    return Item(
        name=name,
        runs=runs,
        cells=cells,
        settings=settings,
        rounds=rounds,
        definition=_definition(params, tokens, model),
        build=partial(models.build, params, tokens),
        task=partial(Classification, params, tokens, device),
        epochs=budget.epochs,
        report=params.text.report,
        tolerance=params.text.tolerance,
        training=params.training,
        device=device,
        elements=budget.batch * tokens.max_tokens * models.width(params) if stacked else None,
        seeds_apart=True,
    )


def module(model: str) -> ModuleType:
    """The module of models/ that builds a text model."""
    return import_module(f"descent.models.{'ut_text' if model == 'ut_text' else 'encoder'}")


def _definition(params: Params, tokens: Tokens, model: str) -> dict[str, Any]:
    """The depth, noise level and seed enter with the cell, the rates and constraints with its setting."""
    budget = getattr(params.budget.text, model).model_dump(exclude={"layers", "lr", "dual_lr"})
    text, source = params.text, budget.get("weights") or budget["embeddings"]
    return {
        "data": tokens.digest,
        "files": content(local(params.local_data, source["path"])) if source["path"] else None,
        "code": digest(["descent.runner.items", __name__, module(model).__name__]),
        "model": getattr(params.models, model).model_dump(),
        "budget": budget,
        "text": text.model_dump(include={"tolerance", "report", "length_pool", "validation_batch"}),
        "max_tokens": tokens.max_tokens,  # the positions of an encoder with random weights
        "training": params.training.model_dump(exclude={"checkpoint_seconds", "stack_elements"}),
    }
