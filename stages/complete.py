"""python -m stages.complete <prompt> [cell]: what a trained language model answers; no stage of the DAG."""

import sys
from pathlib import Path

from descent import config, errors
from descent.inference import trained
from descent.inference.complete import completion


def main(instruction: str = "", cell: str = "") -> None:
    """Print the completion, and which cell it is of."""
    params = config.load()
    folder = Path(cell) if cell else trained.default(params, "lm")
    print(f"{folder}:\n{completion(params, *trained.load(params, folder, 'lm'), instruction)}")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
