"""The figures and tables of a part, drawn by as many processes as there are cores."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from descent.analysis import results
from descent.config import Params
from descent.figures.parts import catalogue, drawing
from descent.io import processes
from descent.paths import RESULTS


def draw(names: Sequence[str], params: Params) -> None:
    """Draw these of the catalogue from RESULTS; the first failure ends all.

    The processes are forked, with all that is imported and before anything is read: readers start threads.

    Raises:
        UserError: as `drawing.draw`; an unknown name; a killed process.
    """
    for name in names:
        catalogue.module(name)
    shares = [names[first :: processes.cores()] for first in range(min(processes.cores(), len(names)))]
    if len(shares) < 2:
        _draw(names, params)
        return
    pool = ProcessPoolExecutor(len(shares), get_context("fork"), processes.begin, (os.getpid(),))
    with processes.working(pool, "a process that draws was killed; free some memory and run again"):
        with processes.unheard():
            waiting = [pool.submit(processes.carrying, _draw, share, params) for share in shares]
        for future in waiting:
            future.result()


def _draw(names: Sequence[str], params: Params) -> None:
    table = results.read(RESULTS, params.profile)
    for name in names:
        drawing.draw(catalogue.module(name), table, params)
