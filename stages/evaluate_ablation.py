"""python -m stages.evaluate_ablation <experiment>: accuracy and loss over the gamma sweep."""

import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.runner.scores import evaluate
from descent.tasks.text import items as text
from descent.tasks.text.data import load
from descent.tasks.text.evaluate import scoring
from descent.training.devices import choose


def main(experiment: str) -> None:
    """Write data/scores/ablation/<experiment>.parquet."""
    values = params.load()
    tokens = load(text.tokens_folder(values, values.ablation.dataset, values.ablation.model))
    item = text.ablation_item(values, tokens, choose(values.device), experiment)
    evaluate(item, scoring(values, tokens, item), Path("data/scores/ablation") / f"{experiment}.parquet")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
