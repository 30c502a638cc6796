"""python -m stages.evaluate <task> <dataset>: every model and arm over the levels of every shift."""

import sys

from descent import config, errors, paths
from descent.analysis import results
from descent.runner import executor
from descent.tasks.common import scored


def main(task: str, dataset: str) -> None:
    """Write data/scores/<task>/<dataset>.parquet, <dataset>-looks/ and, of a language model, -completions/."""
    params = config.load()
    executor.use(params)
    results.write(scored.of_dataset(params, task, dataset), paths.scores_file(task, dataset))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
