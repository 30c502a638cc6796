"""What a user did or met that the program cannot mend: one message, no stack trace."""

import errno
import inspect
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from descent import interruption

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of a disk, of a user's part of it, of a file
# What libraries say of these without a number: the system's words, Rust's, numpy's and twice torch's.
NO_ROOM = re.compile(
    r"No space left|File too large|Disk quota exceeded|os error (27|28|122)\b|\d+ requested and \d+ written"
    r"|PytorchStreamWriter failed writing|unexpected pos \d+ vs \d+"
)
# What a driver and its libraries say of a card that is full, beside torch's own error, and of one not to be had.
# A library that finds no room for its handle says that it is not initialised.
GPU_FULL = re.compile(
    r"CUDA (driver )?error: out of memory|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED"
    r"|CUBLAS_STATUS_NOT_INITIALIZED when calling .cublasCreate|CUDNN_STATUS_NOT_INITIALIZED"
    r"|CUSOLVER_STATUS_ALLOC_FAILED|CUSOLVER_STATUS_INTERNAL_ERROR, when calling .cusolverDnCreate"
    r"|Triton Error \[CUDA\]: out of memory"
)
GPU_BUSY = re.compile(r"CUDA-capable device.*busy or unavailable")
GPU_UNKNOWN = re.compile(r"no kernel image is available")
UNALLOCATED = "can't allocate memory"  # torch's words of a host that has none left; of a GPU it has an error
NO_MEMORY = "there is not enough memory: end other programs, or lower the batch, and run the same command again"
NO_GPU_MEMORY = (
    "the GPU's memory is full: end other programs on it, raise gpu_share, or lower training.stack_elements.cuda "
    "or the batch, and run the same command again"
)
GPU_TAKEN = (
    "the GPU is another program's alone, or cannot be had: look at `nvidia-smi`, end that program or name another "
    "GPU (device: cuda:1), and run the same command again"
)
GPU_TOO_OLD = (
    "this build of torch has no code for the GPU: set device: cpu in params.yaml, or install a build that has, "
    "and run the same command again"
)
CHANGED = (
    "{} was changed while this ran, and what was made is of what it said before: run the same command again (what "
    "is finished is kept)"
)
# What else a machine or a user's folders may be like. Every other OSError is a fault of the program.
ADVICE = dict.fromkeys((errno.EACCES, errno.EPERM), "give yourself the right to read and write there")
ADVICE |= dict.fromkeys((errno.EMFILE, errno.ENFILE), "raise the limit (`ulimit -n 4096`)")
ADVICE |= dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST), "remove what stands there")
ADVICE |= dict.fromkeys((errno.EIO, errno.ESTALE, errno.ETIMEDOUT), "check the disk, or the network drive")
ADVICE |= {
    errno.EROFS: "work in a folder that can be written",
    errno.ENOENT: "put it there; what a stage makes `dvc repro` makes again",
    errno.ENAMETOOLONG: "give it a shorter name",
    errno.ELOOP: "remove this link, which leads to itself",
    errno.EAGAIN: "no further process may be started: end other programs",
}


class UserError(Exception):
    """A condition to be told in one message that says what to do."""


def run(entry: Callable[..., None], *arguments: str) -> None:
    """Call a stage's entry with its command-line words; end with one line for what a user can mend.

    Exit codes: 1 for what `sentence` tells, 2 for wrong words, 130 for an interruption (nothing is lost: see
    runner.store), be it by SIGINT or by SIGTERM, 141 where who reads the output has gone (`| head`).
    """
    name = sys.argv[0].rsplit("/", 1)[-1]
    interruption.raised()
    _check_words(entry, arguments)
    before = _given()
    sys.dont_write_bytecode = True  # results may fill the disk, and half a module is kept then (stages/__init__)
    try:
        entry(*arguments)
        if sys.stdout:  # who has closed it reads nothing either
            sys.stdout.flush()
        if changed := _changed(before):
            raise UserError(CHANGED.format(changed))
        interruption.ends_at_once()
    except (KeyboardInterrupt, Exception) as error:
        if isinstance(error, KeyboardInterrupt) or interruption.pending():
            interruption.ignored()  # once is enough
            print(interruption.TOLD, file=sys.stderr)
            exec("")  # Python, which else ends by SIGINT, forgets that it passed through source, as of a dataclass
            sys.exit(130)
        if isinstance(error, BrokenPipeError) and _unread():
            sys.exit(128 + signal.SIGPIPE)
        if not (told := sentence(error)):
            raise
        sys.exit(f"\n{name}: {told}")


def sentence(error: BaseException) -> str:
    """What a user is told of an error; nothing of one that is a fault of the program."""
    if isinstance(error, UserError):
        return str(error)
    if short_of_memory(error):
        return NO_MEMORY
    if type(error).__name__ == "OutOfMemoryError" or GPU_FULL.search(str(error)):  # torch's, which is not imported
        return NO_GPU_MEMORY
    if GPU_BUSY.search(str(error)):
        return GPU_TAKEN
    if GPU_UNKNOWN.search(str(error)):
        return GPU_TOO_OLD
    if full(error):
        place = getattr(error, "filename", None) or error
        return f"the disk is full ({place}): free some space and run the same command again"
    if isinstance(error, OSError) and error.errno in ADVICE:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}; {ADVICE[error.errno]}, and run the same command again"
    return ""


def short_of_memory(error: BaseException) -> bool:
    """Whether an error means that the host, not a GPU, has too little memory, whichever library met it."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and UNALLOCATED in str(error))


def full(error: BaseException) -> bool:
    """Whether an error means that a disk, or a user's part of it, is full; not all libraries give it a number."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in FULL
    if isinstance(error, UserError):
        return False
    before = error.__context__  # a library may stumble over its own half-written file
    return bool(NO_ROOM.search(str(error))) or (before is not None and full(before))


def _given() -> dict[Path, bytes]:
    """What params.yaml and the code hold, in a stage that DVC runs: it notes beside what was made what is there
    afterwards, and would take it for theirs ever after."""
    if "DVC_STAGE" not in os.environ:
        return {}
    given = {}
    for file in (Path("params.yaml"), *Path("src").rglob("*.py"), *Path("stages").glob("*.py")):
        with suppress(OSError):  # which DVC tells, or Python
            given[file] = file.read_bytes()
    return given


def _changed(before: dict[Path, bytes]) -> str:
    """The first of these files that is another now; of code, of what this process has loaded. Empty for none."""
    now = _given()
    loaded = {
        Path(file).resolve() for module in [*sys.modules.values()] if (file := getattr(module, "__file__", None))
    }
    used = (file for file in before if file.suffix != ".py" or file.resolve() in loaded)
    return next((file.as_posix() for file in used if now.get(file) != before[file]), "")


def _unread() -> bool:
    """Whether nobody reads the output any more; what is left of it goes nowhere then, at Python's own end too."""
    try:
        print(flush=True)  # what was not taken once is not held for another try
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _check_words(entry: Callable[..., None], words: tuple[str, ...]) -> None:
    """Ends the program where the words of the command line are too few or too many."""
    try:
        inspect.signature(entry).bind(*words)
    except TypeError as error:
        usage = (sys.modules[entry.__module__].__doc__ or "").partition("\n")[0]
        print(f"\n{error}; usage: {usage}", file=sys.stderr)
        sys.exit(2)
