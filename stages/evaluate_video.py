"""python -m stages.evaluate_video <experiment> <dataset> <model> <method>: the gamma sweep of its cells."""

import sys

from descent import errors, params
from descent.cells import scores_file
from descent.datasets.video import load
from descent.devices import choose
from descent.evaluation.scores import evaluate
from descent.evaluation.video import scoring
from descent.experiments import video


def main(*words: str) -> None:
    """Write data/scores/<experiment>/<dataset>-<model>-<method>.parquet."""
    values = params.load()
    video.check_names(values, *words)
    prepared = load(video.prepared_folder(words[1]))
    item = video.item(values, prepared, choose(values.device), *words)
    evaluate(item, scoring(values, prepared, item, words[0]), scores_file(*words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
