"""Bring one raw data set to data/raw/<dataset>."""

import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.video import raw as sources


def main(dataset: str) -> None:
    """Generate, unpack, download or point to the data set, as the profile in use says."""
    values = params.load()
    if dataset not in values.budget.data:
        raise errors.UserError(f"unknown video data set {dataset!r}; known: {', '.join(values.budget.data)}")
    sources.fetch(dataset, values.budget.data[dataset], values.local_data, Path("data/raw") / dataset)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
