"""How many stacks share a GPU of this host, and how many threads each has."""

from collections.abc import Mapping

from descent.io.processes import cores


def share(shares: Mapping[str, float], model: str) -> int:
    """How many stacks of a model train on one GPU at the same time."""
    return max(1, int(1 / shares.get(model, shares["default"]) + 1e-9))


def threads(planned: int) -> int:
    """How many threads a stack has; `planned`: those of all items of a stage."""
    return max(1, cores() // planned)
