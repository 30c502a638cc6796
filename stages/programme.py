"""python -m stages.programme [all | part ...]: what the published verdicts rest on, and its cost once more."""

import sys

from descent import config, errors
from descent.published import rerun, set_aside


def main(*words: str) -> None:
    """Print the estimate; with words run these parts, and print what becomes of them beside what is published."""
    set_aside.restore()
    params = config.load()
    costs = []
    asked = {folder: rerun.of_part(folder, params) for folder in rerun.chosen(params, words)}
    for line, part in rerun.estimated(asked):
        print(line, flush=True)
        costs += [part] if part else []
    if not words:
        print("`make programme RUN=all`, or RUN with names of parts, runs them; what is finished is kept")
    for number, (folder, own) in enumerate(asked.items() if words else ()):
        print(f"== {folder.name}: part {number + 1} of {len(asked)}, about {rerun.left(costs[number:])} left")
        rerun.run(folder, own)
        print("\n".join(rerun.compared(folder)), flush=True)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
