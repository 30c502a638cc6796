"""A full disk wherever something is written: one sentence with the path, no part left, and then it goes on."""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent.errors import sentence
from descent.figures.parts import style
from descent.io.folders import atomic_folder, write_text
from descent.runner import store
from tests.fakes.core import evaluate_cells, small_params, train_cells
from tests.fakes.damage import WORDS
from tests.faults.case import Case
from tests.faults.cases.store import PARAMS, project

NEW_USER, NEW_MOUNTS, PRIVATE = 0x10000000, 0x00020000, (1 << 18) | (1 << 14)  # of unshare(2) and mount(2)
DISK = 64 << 20  # bytes of the file system that is filled
ROOMS = (0, 40, 200, 600)  # kB left of it

Write = Callable[[], object]


def checkpoint() -> Write:
    project()
    params = small_params(PARAMS | {"training.checkpoint_seconds": 0.0})
    return lambda: train_cells(params, *WORDS)


def publish() -> Write:
    weights = {"w": torch.zeros(9999)}
    return lambda: store.publish("a1", weights, "epoch\n", {"fingerprint": "a1"})


def hand_out() -> Write:
    train = checkpoint()
    train()
    return train


def evaluate() -> Write:
    project()
    params = small_params(PARAMS)
    train_cells(params, *WORDS)
    return lambda: evaluate_cells(params, "video", "ucsd")


def draw(ending: str) -> Write:
    figure, axes = plt.subplots()
    axes.plot([1, 2])
    return lambda: style.save(figure, Path(f"figures/it.{ending}"))


def array() -> Write:
    def write() -> None:
        with atomic_folder(Path("prepared")) as folder:
            np.save(folder / "it.npy", np.zeros(99_999))

    return write


def text() -> Write:
    return lambda: write_text(Path("a/it.csv"), "x" * 999_999)


# By what is written: how it is made ready; of what path the message speaks; the bytes that no file may exceed,
# room for what processes share and too little for what is written; the largest of ROOMS that is too small for it.
PLACES: dict[str, tuple[Callable[[], Write], str, int, int]] = {
    "at a checkpoint": (checkpoint, ".cells", 5000, 40),
    "when publishing": (publish, ".cells", 3000, 40),
    "when handing out": (hand_out, "runs", 500, 0),
    "when evaluating": (evaluate, "scores", 2000, 0),
    "drawing a .pdf": (partial(draw, "pdf"), "figures/it.pdf", 500, 0),
    "drawing a .png": (partial(draw, "png"), "figures/it.png", 500, 0),
    "writing an array": (array, "prepared", 500, 600),
    "writing a text": (text, "a/it.csv", 500, 600),
}


@contextmanager
def no_file_above(most: int) -> Iterator[None]:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def left_of_the_disk(kilobytes: int) -> Iterator[None]:
    """Fill the file system of the folder worked in."""
    ballast = Path.cwd() / "ballast"
    room = os.statvfs(".")
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_bsize - (kilobytes << 10))
    try:
        yield
    finally:
        ballast.unlink()


def meet(name: str, limit: Callable[[], object], must: bool) -> None:
    """Write with too little room, then with enough.

    Args:
        must: it cannot succeed at first.
    """
    prepare, path, *_ = PLACES[name]
    write = prepare()
    sys.dont_write_bytecode = True  # as a stage does: else half a module stays in the project
    try:
        with limit():
            write()
    except Exception as error:
        told = sentence(error)
        assert told.startswith("the disk is full") and path in told, f"{type(error).__name__}: {error} ({told})"
    else:
        assert not must, "taken in silence"
    left = [str(place) for place in Path().rglob("*") if "partial" in place.name]
    assert not left, f"left behind: {left}"
    write()


def on_a_small_disk(name: str, kilobytes: int) -> None:
    """In a file system of its own, which ends with the process."""
    mounted(Path("disk"))
    os.chdir("disk")
    meet(name, partial(left_of_the_disk, kilobytes), must=kilobytes <= PLACES[name][3])


def mounted(place: Path) -> None:
    """An empty tmpfs there, for this process and its children alone.

    Raises:
        OSError: the system lets this user mount nothing.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(NEW_MOUNTS):  # not root's privileges: those of a name space of users
        _done(libc.unshare(NEW_MOUNTS | NEW_USER))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _done(libc.mount(None, b"/", None, ctypes.c_ulong(PRIVATE), None))
    place.mkdir(exist_ok=True)
    _done(libc.mount(b"none", bytes(place.resolve()), b"tmpfs", ctypes.c_ulong(0), b"size=%d" % DISK))


def _done(answer: int) -> None:
    if answer:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def may_mount() -> bool:
    """Whether this machine lets us: tried by a process of its own."""
    place = Path(mkdtemp(prefix="may-mount-"))
    child = os.fork()
    if not child:
        try:  # whatever it meets, it must not go on as a second process of tests
            mounted(place)
            os._exit(0)
        finally:
            os._exit(1)
    ended = os.waitpid(child, 0)[1]
    place.rmdir()
    return ended == 0


MAY_MOUNT = may_mount()
CASES = [
    *(
        Case("full disk", name, partial(meet, name, partial(no_file_above, most), must=True), alone=True)
        for name, (_, _, most, _) in PLACES.items()
    ),
    *(
        Case("full disk", f"{name}, {room} kB left", partial(on_a_small_disk, name, room), alone=True)
        for name in PLACES
        for room in (ROOMS if MAY_MOUNT else ())
    ),
]
