"""How much of training counts as its end, by which one sees whether it has settled."""

TAIL = 0.25


def tail(epochs: int) -> int:
    """How many of so many epochs, the last ones, tail statistics go over: a quarter, and two at least."""
    return max(2, round(TAIL * epochs))
