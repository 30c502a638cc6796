"""python -m stages.train_video <experiment> <dataset> <model> <method>: all cells of one matrix item."""

import sys

from descent import errors, params
from descent.training.video import train_cells


def main(experiment: str, dataset: str, model: str, method: str) -> None:
    """Write data/runs/<experiment>/<dataset>-<model>-<method>/."""
    train_cells(params.load(), experiment, dataset, model, method)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
