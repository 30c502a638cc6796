"""python -m stages.train <task> <dataset> <model>: all cells of a model on a data set, in every arm."""

import sys

from descent import config, errors
from descent.runner.items import train
from descent.tasks.common.items import of_model


def main(*words: str) -> None:
    """Write data/runs/<task>/<dataset>/<model>/."""
    train(of_model(config.load(), *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
