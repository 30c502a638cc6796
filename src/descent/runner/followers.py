"""Arms whose settings are made from another arm's finished cells, which train first."""

from collections.abc import Callable, Collection
from dataclasses import replace

from descent.cells import Cell
from descent.components import load
from descent.errors import UserError
from descent.runner import store
from descent.runner.items import Rounds, next_round
from descent.runner.stored import Stored
from descent.training.arm import Setting


def twin(cell: Cell) -> Cell | None:
    """The cell of the same setting and seed that this one follows; None where its arm follows none."""
    leader = getattr(load("arms", cell.arm), "FOLLOWS", None)
    return None if leader is None else replace(cell, arm=leader)


def in_turn(rounds: Callable[[], Rounds], others: Collection[Cell], followers: dict[Cell, Setting]) -> Rounds:
    """The rounds of the other cells, then one with the followers of those whose names were sent.

    Raises:
        UserError: a twin is not among the other cells.
    """
    if apart := [cell for cell in followers if twin(cell) not in others]:
        raise UserError(_untwinned(min(apart, key=lambda cell: cell.arm), others))
    trained: dict[Cell, str] = {}
    asked = rounds()
    settings = next(asked, None)
    while settings:
        names = yield settings
        trained |= names
        settings = next_round(asked, names)
    known = {cell: setting for cell, setting in followers.items() if twin(cell) in trained}
    yield {cell: _following(setting, trained[twin(cell)]) for cell, setting in known.items()}


def _untwinned(cell: Cell, others: Collection[Cell]) -> str:
    arm, leader = cell.arm, load("arms", cell.arm).FOLLOWS
    if any(other.arm == leader for other in others):
        return (
            f"study.{cell.experiment}: {arm} takes its weights from the cell of {leader} with the same value of "
            f"what is varied, and one of the two alone is varied: take {arm} out"
        )
    return (
        f"{arm} takes its weights from the cells of {leader}, and there are none: add {leader} to `arms` (or "
        f"to the study), or take {arm} out"
    )


def _following(setting: Setting, leader: str) -> Setting:
    """With the learning rate of the twin, by its name in the store, and values made from its history."""
    stored = Stored(store.folder(leader))
    values = setting.values.following(stored.history, stored.record["diverged"])
    return replace(setting, lr=stored.record["setting"]["lr"], values=values)
