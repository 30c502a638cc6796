"""The Hugging Face hub: what its libraries raise when it cannot be reached or lacks something, as one message."""

from collections.abc import Callable

from descent.io.failures import Answer, told


def answer(load: Callable[[], Answer], what: str, advice: str) -> Answer:
    """What `load` returns.

    Args:
        load: a call of one of the hub's libraries and nothing else.
        what: what is asked for, as in "the tokenizer of a/b".
        advice: what a user can do without the hub.

    Raises:
        UserError: there is no answer, or no such repository, revision or part.
    """
    return told(load, f"cannot get {what} from the Hugging Face hub", advice)
