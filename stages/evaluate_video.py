"""python -m stages.evaluate_video <experiment> <dataset> <model> <method>: the gamma sweep of its cells."""

import sys

from descent import config as params
from descent import errors
from descent.cells import scores_file
from descent.runner.scores import evaluate
from descent.tasks.video import items as video
from descent.tasks.video.data import load
from descent.tasks.video.evaluate import scoring
from descent.training.devices import choose


def main(*words: str) -> None:
    """Write data/scores/<experiment>/<dataset>-<model>-<method>.parquet."""
    values = params.load()
    video.check_names(values, *words)
    prepared = load(video.prepared_folder(words[1]))
    item = video.item(values, prepared, choose(values.device), *words)
    evaluate(item, scoring(values, prepared, item, words[0]), scores_file(*words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
