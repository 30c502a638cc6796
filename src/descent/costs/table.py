"""The estimate in words: a line a part, and what it rests on."""

from collections.abc import Iterable, Sequence

from descent.config import Params
from descent.costs import devices, extrapolated
from descent.costs.parts import Costs, Part

RESTS_ON = (
    "Finished cells are taken off where the data are prepared, and their scoring with them, be it done or not. "
    "Models that a stage trains together fill each other's gaps, and need less time. Stacks that share a GPU "
    "count as one after another; in memory they are together, each with its data. Where steps are not replayed "
    "that time is too long. Memory is beside the 0.4 GB of Python and torch a process; disk is of cells, in the "
    "store and in data/runs, of which DVC's cache is no copy "
    "where the file system has links. Steps are timed uncompiled, and replayed where training would replay them. "
    "Downloads, preparation, tests on other data sets, figures, completions and the judge are not in it."
)
COLUMNS = (
    f"{'part':<34}{'cells':>6}{'to do':>6}{'steps':>8}{'training':>10}{'scoring':>10}{'memory':>9}{'disk':>9}"
)


def lines(params: Params) -> Iterable[str]:
    """The table, line by line as it is known.

    Raises:
        UserError: a device number that does not exist, or a size or shape that is not known.
    """
    here = devices.at_hand(params)
    yield f"profile {params.profile}, {here.told}"
    yield COLUMNS
    parts = []
    for part in Costs(params, here).parts():
        parts.append(part)
        yield _line(part)
    yield _line(total(parts))
    yield f"{beside(parts)}, timed on batches of the profile's shape. {RESTS_ON}"
    if any(part.grown for part in parts):
        yield extrapolated.RULE


def total(parts: Sequence[Part]) -> Part:
    """All parts as one, whose memory is the largest's, since they follow one another."""
    return Part(
        name="in all",
        cells=sum(part.cells for part in parts),
        missing=sum(part.missing for part in parts),
        steps=0,
        slots=0,
        grown=False,
        training=sum(part.training for part in parts),
        scoring=sum(part.scoring for part in parts),
        memory=max((part.memory for part in parts), default=0.0),
        disk=sum(part.disk for part in parts),
    )


def beside(parts: Sequence[Part]) -> str:
    """How many stacks train side by side, which depends on the model where several share a GPU."""
    found = {part.slots for part in parts} or {0}
    few = min(found)
    many = max(found)
    return f"{few} stacks side by side" if few == many else f"{few} to {many} stacks side by side, by their model"


def _line(part: Part) -> str:
    steps = f"{part.steps:,}" if part.steps else ""
    return (
        f"{part.name:<34}{part.cells:>6}{part.missing:>6}{steps:>8}{duration(part.training):>10}"
        f"{duration(part.scoring):>10}{size(part.memory):>9}{size(part.disk):>9}"
    )


def duration(seconds: float | int) -> str:
    """Seconds, minutes, hours or days, in two or three digits."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return (
                f"{seconds / length:.3g} {unit}" if seconds < 1000 * length else f"{seconds / length:,.0f} {unit}"
            )
    return f"{seconds:.2g} s"


def size(count: float | int) -> str:
    """Bytes as megabytes or gigabytes."""
    return f"{count / 1e9:.3g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"
