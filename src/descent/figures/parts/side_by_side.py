"""The figures and tables of a part, drawn by as many processes as there are cores."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import pandas as pd

from descent.analysis import results
from descent.config import Params
from descent.figures.parts import catalogue, drawing
from descent.io import processes
from descent.paths import RESULTS


def draw(names: Sequence[str], params: Params) -> None:
    """Draw these of the catalogue from RESULTS; the first failure ends all.

    The processes are forked, with all that is imported and before anything is read: readers start threads. Each
    takes the next one when it is done.

    Raises:
        UserError: as `drawing.draw`; an unknown name; a killed process.
    """
    for name in names:
        catalogue.module(name)
    workers = min(processes.cores(), len(names))
    if workers < 2:
        table = results.read(RESULTS, params.profile)
        for name in names:
            drawing.draw(catalogue.module(name), table, params)
        return
    pool = ProcessPoolExecutor(workers, get_context("fork"), processes.begin, (os.getpid(),))
    with processes.working(pool, "a process that draws was killed; free some memory and run again"):
        with processes.unheard():
            waiting = [pool.submit(processes.carrying, _draw, name, params) for name in names]
        for future in waiting:
            future.result()


def _draw(name: str, params: Params) -> None:
    """In a process of a pool."""
    drawing.draw(catalogue.module(name), _table(params.profile), params)


@cache
def _table(profile: str) -> pd.DataFrame:
    """Read once by each process of a pool, which lives no longer than one call of `draw`."""
    return results.read(RESULTS, profile)
