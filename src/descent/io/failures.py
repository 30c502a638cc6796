"""What other people's libraries raise, as one message for a user."""

from collections.abc import Callable
from tokenize import TokenError
from typing import TypeVar
from zipfile import BadZipFile

from descent.errors import UserError, full

Answer = TypeVar("Answer")
# What readers raise of a damaged file: of a table (Arrow's errors are such), and of an array or its JSON.
UNREAD = (OSError, ValueError, KeyError, TypeError, NotImplementedError)
UNOPENED = (EOFError, ValueError, KeyError, TypeError, AttributeError, BadZipFile, TokenError)


def reason(error: BaseException) -> str:
    """The first line of what an error says; its kind where it says nothing."""
    said = str(error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def told(load: Callable[[], Answer], failed: str, advice: str) -> Answer:
    """What `load` returns.

    Args:
        load: a call of a library and nothing else; some raise plain Exception for a file that they cannot read.
        failed: what the message begins with.

    Raises:
        UserError: `load` raised an error: what failed, the library's reason, the advice.
    """
    try:
        return load()
    except Exception as error:
        if full(error):
            raise
        raise UserError(f"{failed} ({reason(error)}).\n{advice}") from None
