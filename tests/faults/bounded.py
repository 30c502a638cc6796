"""A case in a process and a folder of its own, with limits: no bomb harms the machine, no hang lasts."""

import os
import resource
import shutil
import signal
import tempfile
import time
from pathlib import Path

from tests.faults.case import Case, hastened

SECONDS = 60
MEMORY = 3 << 30  # bytes beside what the process has when it begins
FILE = 1 << 28  # bytes of the largest file


def bounded(case: Case) -> str:
    """What came of a case, in words; empty where it is what must come."""
    folder = Path(tempfile.mkdtemp(prefix="fault-"))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _child(case, folder, writer)
    os.close(writer)
    try:
        return _awaited(child, reader)
    finally:
        os.close(reader)
        shutil.rmtree(folder, ignore_errors=True)


def _child(case: Case, folder: Path, writer: int) -> None:
    """Never returns."""
    os.setpgid(0, 0)
    os.chdir(folder)
    # What C libraries say of an abort is no message of ours; a trace of ours, of whatever process, is.
    said = os.memfd_create("said")
    os.dup2(said, 2)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        found = hastened(case, SECONDS)
    except BaseException as error:
        found = f"traceback: {type(error).__name__}: {error}"
    words = os.pread(said, 1 << 20, 0).decode(errors="replace")
    if not found and "Traceback (most recent" in words:
        found = f"traceback: printed: {words[-600:]}"
    os.write(writer, (found or "as it must").encode()[:4000])
    os._exit(0)


def _awaited(child: int, reader: int) -> str:
    """The child's word; what ended it where it has none."""
    deadline = time.monotonic() + SECONDS + 10
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"hang: no answer to the alarm after {SECONDS} s"
        time.sleep(0.01)
    said = os.read(reader, 4096).decode(errors="replace")
    if not said:
        return f"crash: ended by signal {os.WTERMSIG(ended[1])}"
    return "" if said == "as it must" else said
