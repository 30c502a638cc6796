"""What is told of a sweep: rows of the results table, in the units of each model."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import nn

from descent.analysis.results import Row
from descent.cells import Cell
from descent.config import Params
from descent.tasks.video.batches import DenoisingTask
from descent.tasks.video.quality import psnr
from descent.tasks.video.sweep import Sweep

UNREAD = {"shifts", "energies", "classical_frames", "transfer"}  # of the evaluation by any one sweep of cells


class Units(NamedTuple):
    """What is reported of a mean squared error per number of a model's answers."""

    summed: int  # numbers whose squared errors f sums up
    grays: float  # gray levels in one unit of the answers


def units(params: Params, task: type[DenoisingTask], net: nn.Module) -> Units:
    """Those of a model that has learned a task."""
    black, white = net.legal
    summed = params.video.frame.patch**2 if task.loss_of(params.video.patch_loss) == "sum" else 1
    return Units(summed, 255 / (white - black))


def rows(units: Units, cell: Cell, found: Sweep, swept: Sequence[float], index: int) -> Iterable[Row]:
    """loss of every layer; of the last rmse, rmse_clipped, psnr and, if measured, ssim, at every level."""
    by_level = zip(swept, found.error[:, index], found.clipped[:, index], found.similarity[:, index], strict=True)
    for level, error, clipped, similarity in by_level:
        test = {"split": "test", "gamma": level}
        for layer, value in enumerate(error):
            yield test | {"layer": layer, "metric": "loss", "value": units.summed * value}
        black_to_white = 255 / units.grays
        last = {
            "rmse": units.grays * math.sqrt(error[-1]),
            "rmse_clipped": units.grays * math.sqrt(clipped),
            "psnr": psnr(clipped / black_to_white**2),
            "ssim": similarity,
        }
        for metric, value in last.items():
            # A PSNR without error and the SSIM of patches below a window are missing rows.
            if metric not in ("psnr", "ssim") or math.isfinite(value):
                yield test | {"layer": cell.layers, "metric": metric, "value": value}
