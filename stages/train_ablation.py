"""python -m stages.train_ablation <experiment>: alpha, dual_lr or resilience, varied in one setting."""

import sys

from descent import errors, params
from descent.datasets.text import load
from descent.devices import choose
from descent.experiments import text
from descent.training.items import train


def main(experiment: str) -> None:
    """Write data/runs/ablation/<experiment>/."""
    values = params.load()
    tokens = load(text.tokens_folder(values, values.ablation.dataset, values.ablation.model))
    train(text.ablation_item(values, tokens, choose(values.device), experiment))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
