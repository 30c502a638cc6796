"""What other people's libraries raise, as one message for a user."""

from collections.abc import Callable
from typing import TypeVar

from descent.errors import UserError, full

Answer = TypeVar("Answer")


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
