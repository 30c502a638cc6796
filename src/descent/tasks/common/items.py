"""What stages train and score: all arms of a model on a data set, or a study; how params.yaml sets each cell."""

import json
from functools import partial
from typing import Any

from descent import paths
from descent.cells import Cell, grid, searched, study_cells
from descent.components import check, load, of_task
from descent.config import Params
from descent.errors import UserError
from descent.runner.followers import in_turn, twin
from descent.runner.items import Feed, Item, once
from descent.schema import Positive, Schema, validated
from descent.study import RATE
from descent.training.arm import Setting
from descent.training.devices import choose


class Rate(Schema):
    lr: Positive


def feed(params: Params, task: str, dataset: str, model: str) -> Feed:
    """How the cells of a model on a data set are made and fed.

    Raises:
        UserError: an unknown name, prepared data that are missing, or a section that is not right.
    """
    check(f"tasks.{task}.datasets", dataset, f"{task} data set")
    check("models", model, f"{task} model")
    if params.task_of(model) != task:
        raise UserError(f"{model} is a model of {params.task_of(model)}, not of {task}")
    data = of_task(task, "data").load(paths.prepared_folder(params, task, dataset, model))
    return of_task(task, "feed").feed(params, data, model, choose(params.device))


def of_model(params: Params, task: str, dataset: str, model: str) -> Item:
    """All arms, depths, noise levels and seeds of a model on a data set."""
    made = feed(params, task, dataset, model)
    cells = grid(params, task, dataset, model)
    settings, followers = _apart({cell: setting(params, cell) for cell in cells})
    known = settings
    rounds = partial(once, settings)
    search = getattr(params.section(task), "search", None)
    if search is not None and search.arms:
        from descent.runner.search import rank, trials  # its library takes a second to load

        known = {cell: own for cell, own in settings.items() if not searched(params, cell)}
        rounds = partial(trials, settings, search, partial(rank, tolerance=made.tolerance))
    rounds = partial(in_turn, rounds, settings.keys(), followers)
    name = f"{task}-{dataset}-{model}"
    runs = paths.runs_folder(task, dataset, model)
    return Item(name, runs, cells, known, made, rounds)


def of_study(params: Params, name: str) -> list[Item]:
    """The cells of a study, an item for each reading of its model; none where it is left out."""
    return [_of_reading(own, name, cells) for own, cells in readings(params, name)]


def readings(params: Params, name: str) -> list[tuple[Params, list[Cell]]]:
    """The cells of a study, those together whose models have the same settings, with parameters that have these
    and the study's epochs.

    None where its data set or model is not in use.

    Raises:
        UserError: as Params.studied, or settings that the model does not have.
    """
    study = params.studied(name)
    alike: dict[str, tuple[Params, list[Cell]]] = {}
    for cell in study_cells(params, name):
        values = study.reading(cell.varied)
        key = json.dumps(values, sort_keys=True)
        if key not in alike:
            own = params.trained_for(study.model, study.times).read_as(study.model, values)
            settings_by_arm(own, study.model, f"study.{name}: models.{study.model}")
            alike[key] = (own, [])
        alike[key][1].append(cell)
    return list(alike.values())


def _of_reading(params: Params, name: str, cells: list[Cell]) -> Item:
    study = params.studied(name)
    made = feed(params, study.task, study.dataset, study.model)  # checks the budget, which has the rate
    settings = {cell: setting(params, cell, study.replaced(cell.arm, cell.varied)) for cell in cells}
    known, followers = _apart(settings)
    rounds = partial(in_turn, partial(once, known), known.keys(), followers)
    return Item(f"study-{name}", paths.study_runs_folder(name), cells, known, made, rounds)


def _apart(settings: dict[Cell, Setting]) -> tuple[dict[Cell, Setting], dict[Cell, Setting]]:
    """The cells whose settings stand in params.yaml, and those that follow cells of another arm."""
    followers = {cell: own for cell, own in settings.items() if twin(cell) is not None}
    return {cell: own for cell, own in settings.items() if cell not in followers}, followers


def given(params: Params, cell: Cell) -> bool:
    """Whether params.yaml has the cell's setting: neither a search nor a cell of another arm chooses it."""
    return not searched(params, cell) and twin(cell) is None


def setting(params: Params, cell: Cell, overrides: dict[str, Any] | None = None) -> Setting:
    """How params.yaml has a cell trained.

    Raises:
        UserError: a section holds an unknown key, a wrong type or a rate that is none, a warm-up leaves no epoch
            to the duals, or the profile has no budget for the model.
    """
    values = params.objective(cell.arm, cell.dataset, cell.model, overrides)
    budget = params.model_budget(cell.model)
    where = f"objectives.{cell.arm} of {cell.model} on {cell.dataset}"
    if RATE not in budget:  # of a study that runs alone: what is in use has been asked for
        grids = f"profiles.{params.profile}.{params.task_of(cell.model)}.models"
        raise UserError(f"{grids} says nothing of {cell.model}, which {cell.experiment} trains: give it a budget")
    rate = validated(Rate, {RATE: values.pop(RATE, budget[RATE])}, where)
    found = validated(load("arms", cell.arm).Settings, values, where)
    warmup, epochs = getattr(found, "warmup_epochs", 0), budget["epochs"] * budget.get("parts", 1)
    if warmup >= epochs:
        raise UserError(f"{where}: warmup_epochs {warmup} leaves none of the {epochs} epochs to the duals")
    if getattr(found, "margin_start", 0.0) > getattr(found, "margin", 0.0) and epochs == 1:
        more = "set epochs higher, or of texts cut it in `parts`"
        raise UserError(f"{where}: margin_start gives way by the epoch, and there is one: {more}")
    return Setting(cell.arm, rate.lr, found)


def settings_by_arm(params: Params, model: str, where: str = "") -> dict[str, Any]:
    """models.<model> as each arm's cells have it, against the schema in the model's file.

    Args:
        where: what the error calls it; models.<model> unless told.

    Raises:
        UserError: the section is not right.
    """
    schema = load("models", model).Settings
    where = where or f"models.{model}"
    return {
        arm: validated(schema, params.model_settings(model, arm), where)
        for arm in sorted(params.components["arms"])
    }


def budget_of(params: Params, model: str) -> Any:
    """The profile's budget of a model, against the schema in the model's file.

    Raises:
        UserError: the section is not right.
    """
    where = f"profiles.{params.profile}.{params.task_of(model)}.models.{model}"
    return validated(load("models", model).Budget, params.model_budget(model), where)
