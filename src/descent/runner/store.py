"""Finished cells by fingerprint, beside the pipeline: an interrupted stage resumes, experiments share work.

The store is git-ignored and unknown to DVC (`persist: true` would reuse stale files). Whatever changes a cell's
numbers is in its fingerprint, so nothing stale can be taken from it; deleting it costs time alone.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, SoftFileLease, Timeout
from pydantic import ValidationError
from safetensors.torch import save_file
from torch import Tensor

from descent.cells import Cell
from descent.errors import UserError
from descent.io.folders import abandoned, atomic_folder, lasting, naming, write_text
from descent.io.places import project_root
from descent.runner import integrity
from descent.runner.stored import HISTORY, RECORD, WEIGHTS, Stored
from descent.training.arm import Setting

LEASE = 30.0  # seconds
VIEW = 90.0  # seconds that another host's files may take to be seen here
_shared = False


def root() -> Path:
    """`.cells/` of the original checkout, also when DVC runs an experiment in a temporary folder.

    Raises:
        UserError: something that is no folder stands there.
    """
    place = project_root() / ".cells"
    if (place.is_symlink() and not place.exists()) or (place.exists() and not place.is_dir()):
        raise UserError(f"{place} should be a folder, of finished cells: remove what stands there, and run again")
    return place


def folder(fingerprint: str) -> Path:
    """Where a finished cell lies."""
    return root() / fingerprint


def has(fingerprint: str) -> bool:
    """Whether a finished cell is in the store, whole; a damaged one is set aside."""
    place = folder(fingerprint)
    if not place.exists() and not place.is_symlink():
        return False
    if why := integrity.fault(place, fingerprint):
        integrity.set_aside(place, why)
    return not why


def open_stack(fingerprints: list[str]) -> Path:
    """Record that these cells are being trained together; returns where the stack's newest state lies."""
    place = _stack(fingerprints)
    write_text(place.with_suffix(".json"), json.dumps(fingerprints))
    return place.with_suffix(".pt")


def open_stacks() -> list[list[str]]:
    """The stacks that were begun and not finished, as lists of fingerprints."""
    stacks = []
    for path in sorted((root() / "stacks").glob("*.json")):
        with suppress(FileNotFoundError):  # another item's stack, finished meanwhile
            names = integrity.stacked(path)
            if names:
                stacks.append(names)
            else:
                integrity.set_aside(path, "it names no cells")
    return stacks


def close_stack(fingerprints: list[str]) -> None:
    """All cells of the stack are published: its state is needed no more."""
    place = _stack(fingerprints)
    # A killed run leaves part of a state, under either of its names (io.folders). Who writes one has the right to
    # its stack, and is at its end here; a frozen host, whose lease has ended, finds its own gone when it wakes.
    partial = place.parent.glob(f".{place.name}.pt.*")
    names = filter(abandoned, place.parent.glob(f".{place.name}.json.*"))  # written without that right
    own = (place.with_suffix(ending) for ending in (".json", ".pt"))  # what was set aside is for whoever looks
    for path in (*own, *partial, *names):
        path.unlink(missing_ok=True)


def _stack(fingerprints: list[str]) -> Path:
    return root() / "stacks" / hashlib.sha256("".join(fingerprints).encode()).hexdigest()[:32]


def await_written(places: Iterable[Path]) -> None:
    """Wait for what another host has just written: a network file system may keep its older view of a folder for
    some seconds, and what was looked for in vain before. Without other hosts there is none to wait for.

    Raises:
        UserError: some do not appear.
    """
    wanted = set(places) if _shared else set()
    until = time.monotonic() + VIEW
    while wanted:
        for parent in {place.parent for place in wanted}:
            with suppress(FileNotFoundError):  # the folder itself may be another host's
                wanted -= {*parent.iterdir()}  # asks anew, as a single name would not
        if not wanted:
            return
        if time.monotonic() > until:
            raise UserError(
                f"{len(wanted)} cells or scores of other hosts do not appear in {root()}: put the project on "
                "a file system that all hosts share, and run the same command again"
            )
        time.sleep(0.5)


def publish(fingerprint: str, weights: dict[str, Tensor], history: str, record: dict) -> None:
    """Add a finished cell, whole or not at all."""
    if has(fingerprint):  # another item shares the cell, and was faster
        return
    with atomic_folder(folder(fingerprint)) as partial:
        save_file({name: value.contiguous() for name, value in weights.items()}, partial / WEIGHTS)
        (partial / HISTORY).write_text(history)
        (partial / RECORD).write_text(integrity.sealed(partial, record))
        lasting(partial)


def hand_out(cells: dict[Cell, str], out: Path) -> None:
    """Make a stage's output folder hold exactly these cells, replacing it in one move."""
    with atomic_folder(out) as partial:
        for cell, fingerprint in cells.items():
            shutil.copytree(folder(fingerprint), partial / cell.name)


def record(out: Path, cell: Cell) -> dict:
    """What training noted of a cell of a stage's output folder.

    Raises:
        UserError: the cell is not there, damaged, or trained with a setting that its arm does not take now.
    """
    place = out / cell.name
    try:
        found = Stored(place).record
    except FileNotFoundError:
        raise UserError(f"{place} is missing: run `dvc repro` to train it") from None
    except (NotADirectoryError, IsADirectoryError, ValueError, RecursionError) as error:
        raise UserError(_damaged(place, integrity.damage(error))) from None
    if why := integrity.fault_of_record(found):
        raise UserError(_damaged(place, why))
    try:
        Setting.recorded(found["setting"])
    except (KeyError, ValidationError):
        raise UserError(_stale(place)) from None
    return found


def check(out: Path, cell: Cell, fingerprint: str) -> None:
    """Raises UserError where the cell is missing, damaged, or trained with other parameters, data or code."""
    place = out / cell.name
    if record(out, cell)["fingerprint"] != fingerprint:
        raise UserError(_stale(place))
    if why := integrity.fault(place, fingerprint):
        raise UserError(_damaged(place, why))


def _stale(place: Path) -> str:
    return (
        f"{place} was trained with other parameters, data or code than params.yaml asks for now: "
        "run `dvc repro`, which trains what is missing (after a change of a local folder of pretrained "
        "weights `dvc repro --force` with the name of the training stage)"
    )


def _damaged(place: Path, why: str) -> str:
    return f"{place} is damaged ({why}): run `dvc repro`, which takes it from {root().name} again or trains it"


def use_leases(shared: bool) -> None:
    """Whether several hosts share the store: the rights that this process holds then end by themselves."""
    global _shared
    _shared = shared


@contextmanager
def file_lock(name: str, label: str = "") -> Iterator[None]:
    """Hold the right to train one item, or one stack, which other items may share.

    A DVC that was killed leaves its stage running; the next run waits for it and takes its cells. On one host the
    system gives the right back when its holder dies. Between hosts it cannot, and a host may freeze: there it is a
    lease, which another takes over LEASE seconds after the holder was last heard of. A holder that wakes again
    writes what the other writes: cells are published whole, and the same cell has the same bytes. Who takes either
    kind first waits for whoever has the other, as a run of this host alone and one of a cluster may meet.
    """
    place = root() / "locks" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    system = FileLock(f"{place}.lock")
    lease = SoftFileLease(f"{place}.lease", lease_duration=LEASE)
    other, own = (system, lease) if _shared else (lease, system)
    if Path(other.lock_file).exists():  # else nobody has it, and nothing need be written to find out
        _acquire(other, label or name)
        other.release()
    _acquire(own, label or name)
    try:
        yield
    finally:
        own.release()


def in_use() -> bool:
    """Whether some process has the right to an item or a stack now: a run is training.

    A lease is watched for as long as one lasts: its holder's host may be gone.
    """
    places = [*(root() / "locks").glob("*")]
    leases = [SoftFileLease(place, lease_duration=LEASE) for place in places if place.suffix == ".lease"]
    locks = [(FileLock(place), 0.0) for place in places if place.suffix == ".lock"]
    for lock, patience in [*locks, *((lease, 1.1 * LEASE) for lease in leases)]:
        try:
            lock.acquire(timeout=patience)
        except Timeout:
            return True
        lock.release()
    return False


def _acquire(lock: FileLock | SoftFileLease, label: str) -> None:
    with naming(Path(lock.lock_file)):  # which the holder's record is written into
        try:
            lock.acquire(timeout=0)
        except Timeout:
            print(f"another process trains {label}: waiting for it, its cells will be used", flush=True)
            lock.acquire()
