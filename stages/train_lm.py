"""python -m stages.train_lm <method>: one arm of the language model."""

import sys

from descent import errors, params
from descent.datasets.instructions import load
from descent.devices import choose
from descent.experiments import lm
from descent.training.items import train


def main(method: str) -> None:
    """Write data/runs/lm/alpaca-causal_lm-<method>/."""
    values = params.load()
    lm.check_name(method)
    train(lm.item(values, load(), choose(values.device), method))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
