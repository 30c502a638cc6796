"""python -m stages.train <task> <dataset> [model ...]: every cell of the models in use, or of these."""

import sys

from descent import config, errors, paths
from descent.components import TASKS
from descent.errors import UserError
from descent.runner import executor
from descent.runner.announced import announce
from descent.runner.items import train
from descent.tasks.common import shifted
from descent.tasks.common.items import of_model


def main(task: str, dataset: str, *models: str) -> None:
    """Write data/runs/<task>/<dataset>/<model>/."""
    params = config.load()
    executor.use(params)
    if task not in TASKS:
        raise UserError(f"unknown task {task!r}; known: {', '.join(TASKS)}")
    shifted.check(params, task)
    paths.runs_folder(task, dataset).mkdir(parents=True, exist_ok=True)
    names = models or getattr(params, task).models
    items = [of_model(params, task, dataset, model) for model in names]
    announce(params, task, dataset, *names)
    train(f"{task}-{dataset}", items)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
