"""data/bench.csv: what was measured, by machine; measured again, a row takes the place of its older one."""

import csv
import platform
from pathlib import Path

import torch

from descent.costs.devices import TABLE, processor
from descent.runner.devices import cores

WHICH = ("measure", "setting", "processor", "cores", "device", "torch")


def record(measure: str, setting: str, value: float, limit: str, device: torch.device, path: Path = TABLE) -> None:
    """Write one number, with what it should reach and the kind of machine; no machine is named."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    machine = {"processor": processor(), "cores": str(cores()), "device": name, "torch": torch.__version__}
    row = {"measure": measure, "setting": " ".join(setting.split()), "value": f"{value:.3g}", "to_reach": limit}
    row |= machine | {"python": platform.python_version()}
    rows = []
    if path.exists():
        with path.open() as file:
            rows = [old for old in csv.DictReader(file) if any(old[key] != row[key] for key in WHICH)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*row], lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, row])
