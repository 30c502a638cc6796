"""Whether what is to be trained can be tested, and on how many inputs."""

from descent.analysis.select import TRAINED
from descent.components import TASKS, of_task
from descent.config import Params
from descent.errors import UserError
from descent.runner.items import Item
from descent.tasks.common.shifted import levels_of


class UntestableError(UserError):
    """What is to be trained cannot be tested as params.yaml has it."""


def inputs(params: Params, task: str, data: object, item: Item) -> int:
    """How many inputs a cell is tested on, one counted again at every level of every shift.

    Raises:
        UntestableError: a level of a shift that these data cannot have.
    """
    experiment = item.cells[0].experiment
    eps = {cell.eps for cell in item.cells}
    studied = experiment not in TASKS
    if studied and not params.studied(experiment).tested:
        return 0
    try:
        scored = of_task(task, "evaluate").scoring(params, data, item)
        shifts = [shift for shift in scored.definitions if shift == TRAINED or not studied]
        return scored.inputs * sum(len(levels_of(params, task, shift, eps)) for shift in shifts)
    except UserError as error:
        raise UntestableError(str(error)) from error
