"""What a model reads, for an estimate: the prepared data where they are, else a stand-in of their size."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from descent import paths
from descent.components import of_task
from descent.config import Params


def prepared(params: Params, task: str, dataset: str, model: str) -> Any | None:
    """The prepared data of the profile in use; None where there are none."""
    folder = paths.prepared_folder(params, task, dataset, model)
    try:
        profile = json.loads((folder / "meta.json").read_text())["profile"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return of_task(task, "data").load(folder) if profile == params.profile else None


def resident(params: Params, dataset: str, model: str, data: Any | None, free: int | None) -> int:
    """Bytes of training data that every stack of a model keeps on a GPU; of texts none.

    Args:
        data: the prepared data; None where they are not there.
        free: bytes that the GPU has left; 0 of a CPU, None where nobody knows.
    """
    module = import_module(f"descent.costs.standins.{params.task_of(model)}")
    return module.resident(params, dataset, data, free) if hasattr(module, "resident") else 0


def standin(params: Params, dataset: str, model: str, folder: Path, shrink: int = 1) -> Any:
    """Data of the size of the profile's source, written into a folder; their vocabulary narrowed `shrink` times.

    Raises:
        UserError: the size of the data set or of the vocabulary is not known.
    """
    task = params.task_of(model)
    import_module(f"descent.costs.standins.{task}").write(params, dataset, model, folder, shrink)
    return of_task(task, "data").load(folder)
