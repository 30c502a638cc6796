"""python -m stages.parameters <part>: the parameters of a published run, whole; no stage of the DAG."""

import sys

from descent import config, errors
from descent.published import rerun


def main(part: str) -> None:
    """Print them as a params.yaml, with the `local_data` and `device` of this checkout's."""
    if part == rerun.ALL:
        raise errors.UserError("one part has parameters, not all of them: name it, as data/evidence/RUNS.md does")
    here = config.load()
    (folder,) = rerun.chosen(here, [part])
    print(rerun.whole(rerun.of_part(folder, here)), end="")


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
