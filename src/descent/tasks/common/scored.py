"""What evaluation stages write: the rows of all models on a data set, or of a study."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from descent import paths
from descent.analysis.select import TRAINED
from descent.components import check, check_task, of_task
from descent.config import Params
from descent.io.folders import atomic_folder
from descent.runner import acting, scores
from descent.runner.items import Item
from descent.runner.scores import Scoring
from descent.tasks.common.items import of_model, of_study


def of_dataset(params: Params, task: str, dataset: str) -> pd.DataFrame:
    """The rows of every model in use on a data set, under every shift, and what the task scores beside them.

    Beside them it writes the small arrays of pictures of single inputs, a folder a model.

    Raises:
        UserError: an unknown name, or cells that are missing or stale.
    """
    check_task(task)
    check(f"tasks.{task}.datasets", dataset, f"{task} data set")
    items = [of_model(params, task, dataset, model) for model in params.section(task).models]
    beside = of_task(task, "evaluate").beside(params, dataset, items)
    tables = scores.evaluate(f"{task}-{dataset}", _asked(params, task, items), beside)
    tables += [acting.rows(item, params.profile) for item in items]
    with atomic_folder(paths.looks_folder(task, dataset)) as folder:
        for item in items:
            own = folder / item.cells[0].model
            own.mkdir()
            of_task(task, "look").write(params, _data(params, task, item), item, own)
    return pd.concat(tables) if tables else pd.DataFrame()


def of_studies(params: Params, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The rows of each study, all scored side by side; none where its data set or model is not in use.

    Raises:
        UserError: as of_dataset.
    """
    items = [(name, item) for name in names for item in of_study(params, name)]
    tables = scores.evaluate("studies", [(item, _of_study(params, name, item)) for name, item in items])
    found = {name: [pd.DataFrame()] for name in names}
    for (name, item), table in zip(items, tables, strict=True):
        found[name] += [table, acting.rows(item, params.profile)]
    return {name: pd.concat(rows) for name, rows in found.items()}


def _of_study(params: Params, name: str, item: Item) -> Scoring:
    """Under the shift of training alone: no figure, table or claim asks more of a study's cells.

    Of a study that is not `tested` what training and validation say, and no test data are looked at.
    """
    study = params.studied(name)
    [(_, scoring)] = _asked(params, study.task, [item])
    alone = replace(scoring, definitions={TRAINED: scoring.definitions[TRAINED]})
    return alone if study.tested else scores.untested(alone)


def _asked(params: Params, task: str, items: Sequence[Item]) -> list[tuple[Item, Scoring]]:
    scoring = of_task(task, "evaluate").scoring
    return [(item, scoring(params, _data(params, task, item), item)) for item in items]


def _data(params: Params, task: str, item: Item) -> object:
    cell = item.cells[0]
    return of_task(task, "data").load(paths.prepared_folder(params, task, cell.dataset, cell.model))
