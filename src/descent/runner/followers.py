"""Arms whose settings are made from another arm's finished cells, which train first."""

import json
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from descent.cells import Cell
from descent.components import load
from descent.errors import UserError
from descent.runner import store
from descent.runner.items import Rounds
from descent.training.arm import Setting


def twin(cell: Cell) -> Cell | None:
    """The cell of the same setting and seed that this one follows; None where its arm follows none."""
    leader = getattr(load("arms", cell.arm), "FOLLOWS", None)
    return None if leader is None else replace(cell, arm=leader)


def in_turn(rounds: Callable[[], Rounds], followers: dict[Cell, Setting]) -> Rounds:
    """The rounds of the other cells, then one with the followers, whose twins are known by then.

    Raises:
        UserError: a twin is not among the cells of the other rounds.
    """
    trained: dict[Cell, str] = {}
    others = rounds()
    settings = next(others, None)
    while settings:
        names = yield settings
        trained |= names
        try:
            settings = others.send(names)
        except StopIteration:
            settings = None
    yield {cell: _following(cell, setting, trained) for cell, setting in followers.items()}


def _following(cell: Cell, setting: Setting, trained: dict[Cell, str]) -> Setting:
    """With the twin's learning rate, and values made from its history."""
    leader = twin(cell)
    if leader not in trained:
        raise UserError(
            f"{cell.arm} takes its weights from the cells of {leader.arm}, and there are none: "
            f"add {leader.arm} to `arms` (or to the study), or take {cell.arm} out"
        )
    place = store.folder(trained[leader])
    record = json.loads((place / "cell.json").read_text())
    values = setting.values.following(pd.read_csv(place / "history.csv"), record["diverged"])
    return replace(setting, lr=record["setting"]["lr"], values=values)
