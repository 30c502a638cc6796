"""python -m stages.evaluate_text <dataset> <model> <method>: accuracy and loss over the gamma sweep."""

import sys

from descent import errors, params
from descent.cells import scores_file
from descent.datasets.text import load
from descent.devices import choose
from descent.evaluation.scores import evaluate
from descent.evaluation.text import scoring
from descent.experiments import text


def main(*words: str) -> None:
    """Write data/scores/text/<dataset>-<model>-<method>.parquet."""
    values = params.load()
    text.check_names(values, *words)
    tokens = load(text.tokens_folder(values, *words[:2]))
    item = text.item(values, tokens, choose(values.device), *words)
    evaluate(item, scoring(values, tokens, item), scores_file("text", *words))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
