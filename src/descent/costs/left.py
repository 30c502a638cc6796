"""What is left to do: the cells that are not in the store, each where it comes first."""

from collections.abc import Sequence
from pathlib import Path

from descent.cells import Cell
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError
from descent.runner import store
from descent.runner.followers import twin
from descent.runner.items import Item
from descent.tasks.common.items import of_model, of_study


class Left:
    """The cells of one part after another that are left; one that a grid and a study share, or two studies,
    is left where it comes first."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self.counted: set[str] = set()  # names in the store, or of what would be trained on a stand-in

    def of_prepared(self, first: Cell, cells: Sequence[Cell]) -> list[Cell]:
        """The cells that are not in the store, and that no part before has counted."""
        if first.experiment in TASKS:
            item = of_model(self.params, first.experiment, first.dataset, first.model)
        else:
            item = of_study(self.params, first.experiment)
        names = {cell: _name(item, cell) for cell in cells}
        done = {name for name in names.values() if name is not None and store.folder(name).is_dir()}
        return self._first({cell: name for cell, name in names.items() if name not in done})

    def of_standin(self, item: Item, folder: Path) -> list[Cell]:
        """The cells that no part before has counted; the store cannot have one, whose data are not here.

        Args:
            item: of the stand-in, with the settings in params.yaml of all cells.
            folder: where the data would lie; stand-ins have no digest that tells one from another.
        """
        known = {cell: own for cell, own in item.settings.items() if self._in_params(cell)}
        names = {cell: f"{folder} {item.fingerprint(cell, own)}" for cell, own in known.items()}
        return self._first({cell: names.get(cell) for cell in item.cells})

    def _first(self, names: dict[Cell, str | None]) -> list[Cell]:
        """Of cells by their names those that no part before has counted, and those that have none yet."""
        found = []
        for cell, name in names.items():
            if name is None or name not in self.counted:
                found.append(cell)
                self.counted |= {name} - {None}
        return found

    def _in_params(self, cell: Cell) -> bool:
        """Whether params.yaml has the cell's setting: neither a search nor a cell of another arm chooses it."""
        search = getattr(getattr(self.params, self.params.task_of(cell.model)), "search", None)
        tried = cell.experiment in TASKS and cell.seed != 0 and search is not None and search.arms.get(cell.arm)
        return not tried and twin(cell) is None


def _name(item: Item, cell: Cell) -> str | None:
    """A cell's name in the store; of one whose setting was searched, what its record says, if it is trained."""
    if cell in item.settings:
        return item.fingerprint(cell, item.settings[cell])
    try:
        return store.record(item.runs, cell)["fingerprint"]
    except UserError:
        return None
