"""python -m stages.evaluate_study <name>: the cells of a study over the levels of every shift."""

import sys

from descent import config, errors, paths
from descent.analysis import results
from descent.runner import executor
from descent.tasks.common import scored


def main(name: str) -> None:
    """Write data/scores/study/<name>.parquet; without rows where the study is left out."""
    params = config.load()
    executor.use(params)
    results.write(scored.of_one_study(params, name), paths.study_scores_file(name))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
