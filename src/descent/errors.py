"""What a user did or met that the program cannot mend: one message, no stack trace."""

import errno
import inspect
import signal
import sys
from collections.abc import Callable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of a disk, of a user's part of it, of a file
INTERRUPTED = "\ninterrupted; what was finished is kept, run the same command to go on"


NO_ROOM = ("No space left", "File too large", "os error 28", "os error 27")  # what libraries say without a number:
NO_ROOM += (" requested and ", "PytorchStreamWriter", "unexpected pos")  # Rust's, numpy's and torch's


class UserError(Exception):
    """A condition to be told in one message that says what to do."""


def run(entry: Callable[..., None], *arguments: str) -> None:
    """Call a stage's entry with its command-line words; end with one line for what a user can mend.

    Exit codes: 1 for what `sentence` tells, 2 for wrong words, 130 for an interruption (nothing is lost: see
    runner.store), be it by SIGINT or by SIGTERM.
    """
    name = sys.argv[0].rsplit("/", 1)[-1]
    for number in (signal.SIGINT, signal.SIGTERM):  # until now stages/__init__.py answered them
        signal.signal(number, signal.default_int_handler)
    _check_words(entry, arguments)
    try:
        entry(*arguments)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # once is enough
        print(INTERRUPTED, file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        if not (told := sentence(error)):
            raise
        sys.exit(f"\n{name}: {told}")


def sentence(error: BaseException) -> str:
    """What a user is told of an error; nothing of one that is a fault of the program."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory: end other programs, or lower the batch, and run the same command again"
    if full(error):
        place = getattr(error, "filename", None) or error
        return f"the disk is full ({place}): free some space and run the same command again"
    if isinstance(error, OSError) and error.errno and error.filename:
        return f"{error.filename}: {error.strerror}; mend that and run the same command again"
    return ""


def full(error: BaseException) -> bool:
    """Whether an error means that a disk, or a user's part of it, is full; not all libraries give it a number."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in FULL
    if isinstance(error, UserError):
        return False
    before = error.__context__  # a library may stumble over its own half-written file
    return any(words in str(error) for words in NO_ROOM) or (before is not None and full(before))


def _check_words(entry: Callable[..., None], words: tuple[str, ...]) -> None:
    """Ends the program where the words of the command line are too few or too many."""
    try:
        inspect.signature(entry).bind(*words)
    except TypeError as error:
        usage = (sys.modules[entry.__module__].__doc__ or "").partition("\n")[0]
        print(f"\n{error}; usage: {usage}", file=sys.stderr)
        sys.exit(2)
