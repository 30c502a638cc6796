"""python -m stages.train_video <experiment> <dataset> <model> <method>: all cells of one matrix item."""

import sys

from descent import config as params
from descent import errors
from descent.runner.items import train
from descent.tasks.video import items as video
from descent.tasks.video.data import load
from descent.training.devices import choose


def main(*words: str) -> None:
    """Write data/runs/<experiment>/<dataset>-<model>-<method>/."""
    values = params.load()
    video.check_names(values, *words)
    train(video.item(values, load(video.prepared_folder(words[1])), choose(values.device), *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
