"""python -m stages.train_study <name>: the cells of a study."""

import sys

from descent import config, errors, paths
from descent.runner import executor
from descent.runner.items import train
from descent.tasks.common.items import of_study


def main(name: str) -> None:
    """Write data/runs/study/<name>/; an empty folder where the study's data set or model is not in use."""
    params = config.load()
    executor.use(params)
    item = of_study(params, name)
    if item is not None:
        train(item)
        return
    print(f"{name}: left out, as its data set or model is not in use")
    paths.study_runs_folder(name).mkdir(parents=True, exist_ok=True)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
