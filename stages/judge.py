"""python -m stages.judge: win rates of the constrained arm's completions, by a judge that must be paid for."""

import json
from pathlib import Path

from descent import config as params
from descent import errors
from descent.tasks.lm.judge import win_rates


def main() -> None:
    """Write data/judge.json: by gamma, the win rate and the length-controlled one, in percent."""
    values = params.load()
    rates = win_rates(Path("data/completions"), values.lm.completions.gammas, values.lm.judge)
    Path("data/judge.json").write_text(json.dumps(rates, indent=1) + "\n")


if __name__ == "__main__":
    errors.run(main)
