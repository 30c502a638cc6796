"""python -m stages.evaluate_studies [name ...]: the cells of every study in use, or of these."""

import sys

from descent import config, errors, paths
from descent.analysis import results
from descent.runner import executor
from descent.tasks.common import scored


def main(*names: str) -> None:
    """Write data/scores/study/<name>.parquet; without rows where the study is left out."""
    params = config.load()
    executor.use(params)
    paths.study_scores_folder().mkdir(parents=True, exist_ok=True)
    for name, rows in scored.of_studies(params, names or params.studies).items():
        results.write(rows, paths.study_scores_file(name))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
