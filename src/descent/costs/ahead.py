"""What a long stage is about to do, in one line: what is left to train, and how long, from a few timed steps."""

from descent.components import TASKS
from descent.config import Params
from descent.costs import devices
from descent.costs.parts import Costs
from descent.costs.table import beside, duration, size, total


def line(params: Params, *words: str) -> str | None:
    """The line; None where nothing is left to train. Of a cluster, whose hosts may be any, it says no times.

    Args:
        words: a task, a data set and models, or names of studies.

    Raises:
        UserError: as Costs.
    """
    label = "-".join(words[:2]) if words[0] in TASKS else "studies"
    if params.executor == "ray":
        missing, cells = Costs(params, devices.AtHand(devices.CPU, 1)).untimed(*words)
        return f"{label}: {missing} of {cells} cells to train, on a cluster" if missing else None
    here = devices.at_hand(params)
    costs = Costs(params, here)
    parts = [*costs.of(*words)]
    whole = total(parts)
    if not whole.missing:
        return None
    left = [part for part in parts if part.missing]
    slots = beside(left)
    return (
        f"{label}: {whole.missing} of {whole.cells} cells to train, about {duration(whole.training)} "
        f"with {slots} {here.told}; {size(whole.memory)} of memory, {size(whole.disk)} of disk"
    )
