"""python -m stages.ahead <task> <dataset> <model ...> | <study ...>: what training these is about to take."""

import sys

from descent import config, errors
from descent.costs.ahead import line


def main(*words: str) -> None:
    """Print one line, or none where nothing is left to train."""
    found = line(config.load(), *words)
    if found is not None:
        print(found, flush=True)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
