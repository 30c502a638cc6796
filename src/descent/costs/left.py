"""What is left to do: the cells that are not in the store, each where it comes first."""

from collections.abc import Sequence
from pathlib import Path

from descent.cells import Cell
from descent.components import TASKS
from descent.config import Params
from descent.runner import store
from descent.runner.items import Item
from descent.tasks.common.items import given, of_model, of_study


class Left:
    """The cells of one part after another that are left; one that a grid and a study share, or two studies,
    is left where it comes first."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self.counted: set[str] = set()  # names in the store, or of what would be trained on a stand-in
        self.items: dict[str, list[Item]] = {}  # of studies, of which every reading of a model is a part

    def of_prepared(self, first: Cell, cells: Sequence[Cell]) -> list[Cell]:
        """The cells that are not in the store, and that no part before has counted."""
        if first.experiment in TASKS:
            items = [of_model(self.params, first.experiment, first.dataset, first.model)]
        else:
            if first.experiment not in self.items:
                self.items[first.experiment] = of_study(self.params, first.experiment)
            items = [item for item in self.items[first.experiment] if first in item.cells]
        names = {cell: name for item in items for cell, name in _names(item).items()}
        left = [cell for cell in cells if cell not in names or not store.folder(names[cell]).is_dir()]
        return self._first({cell: names.get(cell) for cell in left})

    def of_standin(self, item: Item, folder: Path) -> list[Cell]:
        """The cells that no part before has counted; the store cannot have one, whose data are not here.

        Args:
            item: of the stand-in, with the settings in params.yaml of all cells.
            folder: where the data would lie; stand-ins have no digest that tells one from another.
        """
        known = {cell: own for cell, own in item.settings.items() if given(self.params, cell)}
        names = {cell: f"{folder} {item.fingerprint(cell, own)}" for cell, own in known.items()}
        return self._first({cell: names.get(cell) for cell in item.cells})

    def _first(self, names: dict[Cell, str | None]) -> list[Cell]:
        """Of cells by their names those that no part before has counted, and those that have none yet."""
        found = []
        for cell, name in names.items():
            if name not in self.counted:
                found.append(cell)
            if name is not None:
                self.counted.add(name)
        return found


def _names(item: Item) -> dict[Cell, str]:
    """Names in the store of all cells whose setting is known.

    What chooses the others' (a search, or a cell of another arm) is replayed on what the store has: what follows a
    cell that is not there has no name yet.

    Raises:
        UserError: a cell follows one of an arm that is not in use.
    """
    names = {cell: item.fingerprint(cell, own) for cell, own in item.settings.items()}
    rounds = item.rounds()
    asked = next(rounds, None)
    while asked:
        own = {cell: item.fingerprint(cell, setting) for cell, setting in asked.items()}
        names |= own
        there = {cell: name for cell, name in own.items() if store.folder(name).is_dir()}
        try:
            asked = rounds.send(there)
        except (StopIteration, OSError, ValueError, LookupError):  # the last round; damage, which training mends
            break
    return names
