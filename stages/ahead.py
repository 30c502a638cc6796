"""python -m stages.ahead <task> <dataset> <model ...> | <study ...>: what training these is about to take."""

import sys

from descent import config, errors
from descent.costs.ahead import line
from descent.costs.testable import UntestableError
from descent.runner.announced import UNTESTABLE


def main(first: str, *rest: str) -> None:
    """Print one line, or none where nothing is left; exit with UNTESTABLE where that could not be tested."""
    try:
        found = line(config.load(), first, *rest)
    except UntestableError as error:
        print(error, file=sys.stderr)
        sys.exit(UNTESTABLE)
    if found is not None:
        print(found, flush=True)


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
