"""python -m stages.evaluate_lm <method>: loss and token accuracy over the gamma sweep, and completions."""

import sys
from pathlib import Path

from descent import config as params
from descent import errors
from descent.cells import LM, scores_file
from descent.runner import scores
from descent.tasks.lm import completions
from descent.tasks.lm import evaluate as lm
from descent.tasks.lm.data import load
from descent.tasks.lm.items import check_name, item
from descent.training.devices import choose


def main(method: str) -> None:
    """Write data/scores/lm/alpaca-causal_lm-<method>.parquet and data/completions/<method>/."""
    values = params.load()
    check_name(method)
    data = load()
    made = item(values, data, choose(values.device), method)
    scores.evaluate(made, lm.scoring(values, data, made), scores_file("lm", *LM, method))
    completions.write(values, data, made, Path("data/completions") / method)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
