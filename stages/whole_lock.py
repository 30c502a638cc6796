"""python -m stages.whole_lock: remove what a DVC that was ended left half-written; no stage of the DAG.

DVC writes dvc.lock and its list of busy files in place, which of a long dvc.lock takes seconds. Ended meanwhile it
leaves a part that it cannot read. What was in dvc.lock comes again from DVC's cache of runs and from .cells.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from descent import errors

DVC = Path(".dvc/tmp")
WRITTEN = {Path("dvc.lock"): b"\n", DVC / "rwlock": b"}"}  # by DVC, in place; and how each ends when it is whole


def main() -> None:
    """Tell what is removed; wait for a DVC that is writing at this moment."""
    with _alone():
        for path, end in WRITTEN.items():
            if path.exists() and not path.read_bytes().endswith(end):
                path.unlink()
                print(f"{path} was cut short when DVC was ended: removed, DVC makes it again")


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock that every DVC holds while it writes; without one DVC never ran here."""
    if not (DVC / "lock").exists():
        yield
        return
    with (DVC / "lock").open("rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    errors.run(main)
