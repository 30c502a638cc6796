"""What evaluation kept of single inputs, of all tasks in one folder, as figures read it."""

import shutil

from descent.config import Params
from descent.errors import UserError
from descent.io.folders import atomic_folder
from descent.paths import LOOKS, looks_folder


def collect(params: Params) -> None:
    """Copy what is kept of every data set in use to data/looks, whole or not at all.

    Raises:
        UserError: that of a data set is missing.
    """
    with atomic_folder(LOOKS) as folder:
        for task in params.tasks:
            for dataset in params.section(task).datasets:
                kept = looks_folder(task, dataset)
                if not kept.is_dir():
                    raise UserError(f"{kept} is missing: run `dvc repro` to evaluate it")
                shutil.copytree(kept, folder / dataset)
