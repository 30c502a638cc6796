"""python -m stages.judge: win rates of our arm's completions, by a judge that must be paid for."""

import json
from pathlib import Path

from descent import config, errors, paths
from descent.io.folders import write_text
from descent.tasks.lm.judge import win_rates


def main() -> None:
    """Write data/judge.json: by data set and gamma, the win rate and the length-controlled one, in percent."""
    params = config.load()
    lm = params.lm
    rates = {
        name: win_rates(paths.completions_folder(name), *params.comparison.arms, lm.completions.gammas, lm.judge)
        for name in lm.datasets
    }
    write_text(Path("data/judge.json"), json.dumps(rates, indent=1) + "\n")


if __name__ == "__main__":
    errors.run(main)
