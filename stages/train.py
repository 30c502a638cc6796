"""python -m stages.train <task> <dataset> [model ...]: every cell of the models in use, or of these."""

import sys

from descent import components, config, errors, paths
from descent.runner import executor
from descent.runner.announced import announce
from descent.runner.items import train
from descent.tasks.common import shifted
from descent.tasks.common.items import of_model


def main(task: str, dataset: str, *models: str) -> None:
    """Write data/runs/<task>/<dataset>/<model>/."""
    params = config.load()
    executor.use(params)
    components.check_task(task)
    shifted.check(params, task)
    names = models or params.section(task).models
    items = [of_model(params, task, dataset, model) for model in names]
    paths.runs_folder(task, dataset).mkdir(parents=True, exist_ok=True)
    announce(params, task, dataset, *names)
    train(f"{task}-{dataset}", items)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
