"""python -m stages.train_lm <method>: one arm of the language model."""

import sys

from descent import config as params
from descent import errors
from descent.runner.items import train
from descent.tasks.lm import items as lm
from descent.tasks.lm.data import load
from descent.training.devices import choose


def main(method: str) -> None:
    """Write data/runs/lm/alpaca-causal_lm-<method>/."""
    values = params.load()
    lm.check_name(method)
    train(lm.item(values, load(), choose(values.device), method))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
