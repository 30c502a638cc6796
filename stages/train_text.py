"""python -m stages.train_text <dataset> <model> <method>: all cells of one matrix item, trial after trial."""

import sys

from descent import config as params
from descent import errors
from descent.runner.items import train
from descent.tasks.text import items as text
from descent.tasks.text.data import load
from descent.training.devices import choose


def main(*words: str) -> None:
    """Write data/runs/text/<dataset>-<model>-<method>/."""
    values = params.load()
    text.check_names(values, *words)
    train(text.item(values, load(text.tokens_folder(values, *words[:2])), choose(values.device), *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
