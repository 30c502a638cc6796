"""python -m stages.train_studies [name ...]: the cells of every study in use, or of these."""

import sys

from descent import config, errors, paths
from descent.runner import executor
from descent.runner.announced import announce
from descent.runner.items import train
from descent.tasks.common import shifted
from descent.tasks.common.items import of_study


def main(*names: str) -> None:
    """Write data/runs/study/<name>/; an empty folder where the study's data set or model is not in use."""
    params = config.load()
    executor.use(params)
    paths.study_runs_folder().mkdir(parents=True, exist_ok=True)
    names = names or tuple(params.studies)
    for study in map(params.studied, names):
        if params.runs(study):
            shifted.check(params, study.task)
    announce(params, *names)
    items = {name: of_study(params, name) for name in names}
    for name, own in items.items():
        if not own:
            print(f"{name}: left out, as its data set or model is not in use")
            paths.study_runs_folder(name).mkdir(parents=True, exist_ok=True)
    train("studies", [item for own in items.values() for item in own])  # small ones share the cores


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
