"""python -m stages.evaluate_lm <method>: loss and token accuracy over the gamma sweep, and completions."""

import sys
from pathlib import Path

from descent import errors, params
from descent.cells import LM, scores_file
from descent.datasets.instructions import load
from descent.devices import choose
from descent.evaluation import completions, lm, scores
from descent.experiments.lm import check_name, item


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
