"""python -m stages.download <task> <dataset>: bring one raw data set to data/raw/<dataset>."""

import sys
from pathlib import Path

from descent import config, errors, inventory
from descent.components import of_task


def main(task: str, dataset: str) -> None:
    """Generate, unpack, download or point to the data set, as the profile in use says.

    First all sources of the profile are looked for, so that one that is missing is told before anything trains.
    """
    params = config.load()
    raw = of_task(task, "raw")
    source = params.source(task, dataset)
    for line in inventory.check(params, dataset):
        print(f"to be fetched: {line}", flush=True)
    raw.fetch(dataset, source, params.local_data, Path("data/raw") / dataset)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
