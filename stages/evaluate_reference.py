"""python -m stages.evaluate_reference <dataset>: the identity and the zero map on the same sweep."""

import sys

from descent import config as params
from descent import errors
from descent.tasks.video.evaluate import evaluate_references


def main(dataset: str) -> None:
    """Write data/scores/reference/<dataset>.parquet."""
    evaluate_references(params.load(), dataset)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
