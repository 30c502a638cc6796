"""Bring one raw text data set to data/raw/<dataset>."""

import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.text import raw as text_sources


def main(dataset: str) -> None:
    """Generate, read or download the data set, as the profile in use says."""
    values = params.load()
    if dataset not in values.budget.texts:
        raise errors.UserError(f"unknown text data set {dataset!r}; known: {', '.join(values.budget.texts)}")
    text_sources.fetch(dataset, values.budget.texts[dataset], values.local_data, Path("data/raw") / dataset)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
