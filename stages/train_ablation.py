"""python -m stages.train_ablation <experiment>: alpha, dual_lr or resilience, varied in one setting."""

import sys

from descent import config as params
from descent import errors
from descent.runner.items import train
from descent.tasks.text import items as text
from descent.tasks.text.data import load
from descent.training.devices import choose


def main(experiment: str) -> None:
    """Write data/runs/ablation/<experiment>/."""
    values = params.load()
    tokens = load(text.tokens_folder(values, values.ablation.dataset, values.ablation.model))
    train(text.ablation_item(values, tokens, choose(values.device), experiment))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
