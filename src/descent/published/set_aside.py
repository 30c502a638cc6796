"""The user's params.yaml while `make programme` runs with a published part's in its place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from descent.errors import UserError
from descent.io.folders import write_text

FILE = Path("params.yaml")
KEPT = Path("params.yaml.kept")  # the user's, while FILE is a part's; git ignores it
MARK = f"# of a published part, while `make programme` runs it: change {KEPT}, which is yours\n"


@contextmanager
def replaced(content: str, name: str) -> Iterator[None]:
    """FILE holds this while the part of this name runs, and then what it did before.

    That lies in KEPT meanwhile, from where `restore` takes it if this run is killed; what a user changes meanwhile
    stays.

    Raises:
        UserError: another runs here; or, at the end, that FILE was changed.
    """
    with _alone():
        write_text(KEPT, FILE.read_text(encoding="utf-8"))
        try:
            write_text(FILE, MARK + content)
            yield
        finally:
            if FILE.read_text(encoding="utf-8") == MARK + content:
                KEPT.replace(FILE)
        if KEPT.exists():
            raise UserError(
                f"{FILE} was changed while {name} ran, and stays as it is now; what it was before is {KEPT}: "
                "move it back, or remove it"
            )


def restore() -> None:
    """Put back the user's params.yaml, which a run that was killed has left in KEPT.

    Raises:
        UserError: another runs here; or FILE is no part's any more, and whose it is only its user knows.
    """
    if not KEPT.exists():
        return
    with _alone():
        if FILE.exists() and not FILE.read_text(encoding="utf-8").startswith(MARK):
            raise UserError(
                f"a run of `make programme` was killed and {FILE} has been changed since; what it was before that "
                f"run is {KEPT}: move it back, or remove it"
            )
        KEPT.replace(FILE)
        print(f"{FILE} is yours again, which a run that was killed had left in {KEPT}")


@contextmanager
def _alone() -> Iterator[None]:
    """Two at a time would take each other's params.yaml for the user's."""
    try:
        with FileLock(f"{KEPT}.lock", timeout=0):
            yield
    except Timeout:
        raise UserError("another `make programme` runs in this checkout: wait for its end") from None
