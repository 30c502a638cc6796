"""One thin entry per kind of stage: parse the identity, load params.yaml, call the library, save."""

import atexit
import os
import signal
import sys

ROOM = 2**24  # bytes
AGAIN = "activate the project's environment (source .venv/bin/activate; `make setup` makes it) and run that again"
CLEAN = "remove Python's copies (find src stages tests .venv -name __pycache__ -exec rm -r {} +)"
if sys.version_info < (3, 11):  # noqa: UP036 -- it may be any Python that reads this
    sys.exit(
        f"\n{sys.executable} is Python {sys.version_info[0]}.{sys.version_info[1]}, and 3.11 is needed: {AGAIN}"
    )


def _told(kind, error, trace) -> None:
    """One sentence where this Python has not what the project needs: another is first on PATH than dvc's own; and
    where it reads half of a module."""
    if issubclass(kind, ModuleNotFoundError) and not (error.name or "").startswith(("descent", "stages")):
        print(f"\n{sys.executable} has no {error.name}: {AGAIN}", file=sys.stderr)
    elif issubclass(kind, EOFError) and "marshal" in str(error):
        print(f"\na full disk left a half-written module: {CLEAN}, and run that again", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _told
# On a full disk older Pythons (cpython #126606) keep half of a module's compiled copy, and cannot read it again.
_disk = os.statvfs(os.path.dirname(__file__))  # noqa: PTH120 -- pathlib takes longer to import than all the rest
sys.dont_write_bytecode |= _disk.f_bavail * _disk.f_frsize < ROOM
# The code of the working folder, never an installed copy: `dvc exp run --temp` runs in a folder of its own.
sys.path.insert(0, "src")
# Read when torch loads: threads that wait for each other sleep. Spinning, they take the core from whoever they
# wait for as soon as anything else runs on the machine, and a step takes forty times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Apple's library crashes in the fork of a process in which it has started threads.
os.environ.setdefault("VECLIB_MAXIMUM_THREADS", "1")

# While an entry imports what it needs (`python -m` has not named it yet) nothing has begun, and an exception would
# only show where the imports are; errors.run takes over, or whoever else imports stages.
if sys.argv[0] == "-m":
    _theirs = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})  # until heard
    from descent.interruption import end, last  # here: a handler that imports would meet what is being imported

    atexit.register(last)  # before all others, and so called after them

    for _number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(_number, end)
    signal.pthread_sigmask(signal.SIG_SETMASK, _theirs)
