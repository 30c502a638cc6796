"""python -m stages.train_text <dataset> <model> <method>: all cells of one matrix item, trial after trial."""

import sys

from descent import errors, params
from descent.datasets.text import load
from descent.devices import choose
from descent.experiments import text
from descent.training.items import train


def main(*words: str) -> None:
    """Write data/runs/text/<dataset>-<model>-<method>/."""
    values = params.load()
    text.check_names(values, *words)
    train(text.item(values, load(text.tokens_folder(values, *words[:2])), choose(values.device), *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
