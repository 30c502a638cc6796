"""python -m stages.train_video <experiment> <dataset> <model> <method>: all cells of one matrix item."""

import sys

from descent import errors, params
from descent.datasets.video import load
from descent.devices import choose
from descent.experiments import video
from descent.training.items import train


def main(*words: str) -> None:
    """Write data/runs/<experiment>/<dataset>-<model>-<method>/."""
    values = params.load()
    video.check_names(values, *words)
    train(video.item(values, load(video.prepared_folder(words[1])), choose(values.device), *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
