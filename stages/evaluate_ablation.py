"""python -m stages.evaluate_ablation <experiment>: accuracy and loss over the gamma sweep."""

import sys
from pathlib import Path

from descent import errors, params
from descent.datasets.text import load
from descent.devices import choose
from descent.evaluation.scores import evaluate
from descent.evaluation.text import scoring
from descent.experiments import text


def main(experiment: str) -> None:
    """Write data/scores/ablation/<experiment>.parquet."""
    values = params.load()
    tokens = load(text.tokens_folder(values, values.ablation.dataset, values.ablation.model))
    item = text.ablation_item(values, tokens, choose(values.device), experiment)
    evaluate(item, scoring(values, tokens, item), Path("data/scores/ablation") / f"{experiment}.parquet")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
