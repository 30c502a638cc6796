"""python -m stages.evaluate_video <experiment> <dataset> <model> <method>: the gamma sweep of its cells."""

import sys

from descent import errors, params
from descent.evaluation.video import evaluate_cells


def main(experiment: str, dataset: str, model: str, method: str) -> None:
    """Write data/scores/<experiment>/<dataset>-<model>-<method>.parquet."""
    evaluate_cells(params.load(), experiment, dataset, model, method)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
