"""On which device an estimate is made, and how it is carried over to one that is not there."""

import csv
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

from descent.cells import grid
from descent.components import of_task
from descent.config import Params
from descent.costs.data import standin
from descent.costs.steps import timed
from descent.errors import UserError
from descent.io.processes import cores, processor
from descent.runner.shares import share
from descent.tasks.common.items import setting
from descent.training.devices import visible

TABLE = Path("data/bench.csv")  # what `make bench` measured, by machine
REFERENCE = "reference step"  # its row by which devices are compared
CPU = torch.device("cpu")


@dataclass(frozen=True)
class AtHand:
    """What steps are timed on.

    Attributes:
        places: for stacks: a CPU's cores, the GPUs.
        factor: what its times are multiplied by.
        told: all that in words.
    """

    device: torch.device
    places: int
    factor: float = 1.0
    told: str = ""


def at_hand(params: Params) -> AtHand:
    """The device that params.yaml names.

    A GPU that is asked for and not there is stood in for by one thread of this CPU, its times multiplied by the
    ratio of the reference step in the table of measured ones.

    Raises:
        UserError: a device number that does not exist.
    """
    if params.device.startswith("cuda") and not torch.cuda.is_available():
        return _absent(params)
    found = visible(params.device)
    if found[0].type == "cpu":
        return AtHand(CPU, cores(), told=f"on this CPU ({processor()}, {cores()} cores)")
    name = torch.cuda.get_device_name(found[0])
    return AtHand(found[0], len(found), told=f"on {len(found)} x {name}")


def side_by_side(params: Params, device: torch.device, places: int, model: str) -> int:
    """How many stacks of a model are in memory at the same time, as runner.executor has them."""
    return places * (share(params.gpu_share, model) if device.type == "cuda" else 1)


def reference_seconds(params: Params, device: torch.device) -> float:
    """A constrained step of one DUST cell as the profile `paper` has it: the measure of a device.

    Raises:
        UserError: params.yaml has no such profile.
    """
    if "paper" not in params.profiles:
        raise UserError("devices are compared by a step of profile paper, and params.yaml has none")
    paper = params.model_copy(update={"profile": "paper", "arms": ["constrained"]})
    cell = grid(paper, "video", "ucsd", "dust")[-1]
    with tempfile.TemporaryDirectory() as folder:
        data = standin(paper, "ucsd", "dust", Path(folder))
        feed = of_task("video", "feed").feed(paper, data, "dust", device)
        return timed(feed, [cell], [setting(paper, cell)]).seconds


def _absent(params: Params) -> AtHand:
    with TABLE.open() as file:
        known = [row for row in csv.DictReader(file) if row["measure"] == REFERENCE and row["device"] != "cpu"]
    if not known:
        told = (
            f"device {params.device} is not there, and {TABLE} has no step measured on one (run `make bench` "
            f"where it is): times of ONE thread of this CPU ({processor()}) instead"
        )
        return AtHand(CPU, 1, told=told)
    row = min(known, key=lambda row: row["precision"] != params.training.precision)  # of another where it must be
    torch.set_num_threads(1)  # as the parts are timed, in the one place that there is
    here = reference_seconds(params, CPU)
    factor = float(row["value"]) / here
    told = (
        f"device {params.device} is not there: times of one thread of this CPU times {factor:.3g}, the ratio of "
        f"the reference step on {row['device']} ({row['value']} s in {row['precision']}, {TABLE}) to the one here "
        f"({here:.3g} s in {params.training.precision})"
    )
    return AtHand(CPU, 1, factor, told)
