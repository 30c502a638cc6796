"""python -m stages.download <task> <dataset>: bring one raw data set to data/raw/<dataset>."""

import sys
from pathlib import Path

from descent import config, errors
from descent.components import of_task


def main(task: str, dataset: str) -> None:
    """Generate, unpack, download or point to the data set, as the profile in use says."""
    params = config.load()
    raw = of_task(task, "raw")
    raw.fetch(dataset, params.source(task, dataset), params.local_data, Path("data/raw") / dataset)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
