"""What a user did or met that the program cannot mend: one message, no stack trace."""

import errno
import sys
from collections.abc import Callable


class UserError(Exception):
    """A condition to be told in one message that says what to do."""


def run(entry: Callable[..., None], *arguments: str) -> None:
    """Call a stage's entry with its command-line words; end with one line for what a user can mend.

    Exit codes: 1 for a UserError or a full disk, 130 for an interruption (nothing is lost: see training.store).
    """
    try:
        entry(*arguments)
    except UserError as error:
        sys.exit(f"\n{sys.argv[0].rsplit('/', 1)[-1]}: {error}")
    except KeyboardInterrupt:
        print("\ninterrupted; what was finished is kept, run the same command to go on", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        sys.exit(f"\nthe disk is full ({error.filename or error}): free some space and run the same command again")
