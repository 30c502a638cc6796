"""Folders that may not be written or read, too few open files; and cells damaged after they were handed out."""

import ctypes
import resource
from collections.abc import Callable
from pathlib import Path

from descent.io.folders import atomic_folder, write_text
from descent.runner import integrity, store
from stages import check_store
from tests.fakes.core import evaluate_cells, small_params, train_cells
from tests.fakes.damage import DAMAGE
from tests.faults.case import Case
from tests.faults.cases.store import PARAMS, WORDS, project

OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
CAPABILITIES = 0x20080522  # the version of the system's call
DENIED = "Permission denied; give yourself the right"


def powerless() -> None:
    """The system's superuser writes and reads what nobody may: this process no more."""
    libc, header, own = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, own) == 0
    own[0] &= ~OVERRIDE
    assert libc.capset(header, own) == 0


def trained() -> Path:
    """A trained cell's place in the store."""
    item = train_cells(small_params(PARAMS), *WORDS)
    return store.folder(store.record(item.runs, item.cells[0])["fingerprint"])


def read_only(finished: bool) -> None:
    """A store that may be read and not written, without cells or with all of them."""
    project()
    Path(".cells").mkdir()
    if finished:
        trained()
    powerless()
    for folder in (Path(".cells/locks"), Path(".cells")):
        if folder.exists():
            folder.chmod(0o555)
    for lock in Path(".cells/locks").glob("*"):
        lock.chmod(0o444)
    trained()


def unreadable(name: str) -> None:
    """Nobody may read it, which does not make it damaged."""
    project()
    place = trained()
    powerless()
    (place / name).chmod(0)
    try:
        train_cells(small_params(PARAMS), *WORDS)
    finally:
        assert place.exists() and not list(store.root().glob(f"*{integrity.ASIDE}*")), "set aside"


def unreadable_scores() -> None:
    project()
    trained()
    evaluate_cells(small_params(PARAMS), "video", "ucsd")
    powerless()
    files = sorted((store.root() / "scores").glob("*.parquet"))
    files[0].chmod(0)
    try:
        evaluate_cells(small_params(PARAMS), "video", "ucsd")
    finally:
        assert files[0].exists(), "set aside"


def too_few_files() -> None:
    """None can be opened beside those of the terminal."""
    project()
    place = trained()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, most[1]))
    try:
        store.has(place.name)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
        assert place.exists() and not list(store.root().glob(f"*{integrity.ASIDE}*")), "set aside"


def outputs_that_may_not_be_written() -> None:
    project()
    Path("data/runs").mkdir()
    powerless()
    Path("data/runs").chmod(0o555)
    trained()


def folder_that_may_not_be_written(write: Callable[[], object]) -> Callable[[], object]:
    def act() -> None:
        Path("kept").mkdir()
        powerless()
        Path("kept").chmod(0o555)
        write()

    return act


def in_a_folder() -> None:
    with atomic_folder(Path("kept/it")):
        pass


def checked_while_written() -> None:
    """What another process writes at this moment is no damage."""
    project()
    with atomic_folder(store.root() / ("f" * 32)) as partial:
        check_store.main()
        assert partial.exists(), "set aside while it was written"


def damaged_when_handed_out(file: str, damage: Callable[[Path], object], scored: bool) -> Callable[[], object]:
    """Evaluation meets a cell of data/runs that is not what was trained, though its scores may be known."""

    def act() -> None:
        project()
        params = small_params(PARAMS)
        item = train_cells(params, *WORDS)
        if scored:
            evaluate_cells(params, "video", "ucsd")
        damage(item.runs / item.cells[0].name / file)
        evaluate_cells(params, "video", "ucsd")

    return act


HANDED_OUT = "is damaged .*run `dvc repro`|was trained with other parameters"
CASES = [
    *(
        Case(
            "between stages",
            f"{name}, {'scored already' if scored else 'handed out'}",
            damaged_when_handed_out(file, damage, scored),
            HANDED_OUT,
            alone=True,
        )
        for name, (file, damage) in DAMAGE.items()
        for scored in (False, True)
    ),
    Case("machine", "a store without cells that is read-only", lambda: read_only(False), DENIED, alone=True),
    Case("machine", "a store of all cells that is read-only", lambda: read_only(True), DENIED, alone=True),
    Case("machine", "weights that nobody may read", lambda: unreadable("weights.safetensors"), DENIED, alone=True),
    Case("machine", "a record that nobody may read", lambda: unreadable("cell.json"), DENIED, alone=True),
    Case("machine", "scores that nobody may read", unreadable_scores, "Permission denied", alone=True),
    Case("machine", "too few open files", too_few_files, "Too many open files; raise the limit", alone=True),
    Case("machine", "outputs that may not be written", outputs_that_may_not_be_written, DENIED, alone=True),
    Case(
        "machine",
        "a file in a folder that may not be written",
        folder_that_may_not_be_written(lambda: write_text(Path("kept/it.csv"), "x")),
        DENIED,
        alone=True,
    ),
    Case(
        "machine",
        "a folder in one that may not be written",
        folder_that_may_not_be_written(in_a_folder),
        DENIED,
        alone=True,
    ),
    Case(
        "machine",
        "a name of 300 characters",
        lambda: write_text(Path("n" * 300), "x"),
        "File name too long; give it a shorter name",
    ),
    Case("machine", "a store that is checked while it is written", checked_while_written, alone=True),
]
