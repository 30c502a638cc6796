"""python -m stages.parameters <part>: the parameters of a published run, whole; no stage of the DAG."""

import sys

from descent import config, errors
from descent.published import rerun


def main(part: str) -> None:
    """Print them as a params.yaml, with this checkout's copies of the data sets, or without any."""
    (folder,) = rerun.chosen(config.load(), [part])
    print(rerun.whole(rerun.of_part(folder, config.load())), end="")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
