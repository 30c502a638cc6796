"""python -m stages.estimate: what the profile in use costs, from a few timed steps on the device at hand."""

from descent import config, errors
from descent.costs import table


def main() -> None:
    """Print cells, steps, time, memory and disk by part, less what the store has."""
    for line in table.lines(config.load()):
        print(line, flush=True)


if __name__ == "__main__":
    errors.run(main)
