"""python -m stages.evaluate_text <dataset> <model> <method>: accuracy and loss over the gamma sweep."""

import sys

from descent import config as params
from descent import errors
from descent.cells import scores_file
from descent.runner.scores import evaluate
from descent.tasks.text import items as text
from descent.tasks.text.data import load
from descent.tasks.text.evaluate import scoring
from descent.training.devices import choose


def main(*words: str) -> None:
    """Write data/scores/text/<dataset>-<model>-<method>.parquet."""
    values = params.load()
    text.check_names(values, *words)
    tokens = load(text.tokens_folder(values, *words[:2]))
    item = text.item(values, tokens, choose(values.device), *words)
    evaluate(item, scoring(values, tokens, item), scores_file("text", *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
