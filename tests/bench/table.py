"""data/bench.csv: what was measured, by machine and precision; measured again, a row takes its older one's place.

`python -m tests.bench.table` has the README quote it.
"""

import csv
import platform
import re
from pathlib import Path
from typing import get_args

import torch

from descent.costs.devices import TABLE, processor
from descent.io.folders import write_text
from descent.io.processes import cores
from descent.report.markdown import pipe
from descent.schema import Precision

BLOCK = re.compile(r"(<!-- bench (?P<of>\w+) -->\n).*?(<!-- /bench -->)", re.DOTALL)
LIMIT = re.compile(r"(?P<how>at most|at least|above) (?P<limit>[\d.]+)(?P<gpu> on (a GPU|one (?P<kind>\w+)))?")
MISSED = " ✗"
WHICH = ("measure", "setting", "processor", "cores", "device", "precision", "torch")
EXACT = "float32"  # of what is measured beside training, whatever that is set to
NONE = ""  # where no product is measured


def record(
    measure: str, setting: str, value: float, limit: str, device: torch.device, precision: str, path: Path = TABLE
) -> None:
    """Write one number, with what it should reach, the kind of machine and the precision that its products had; no
    machine is named."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    row = {"measure": measure, "setting": " ".join(setting.split()), "value": f"{value:.3g}", "to_reach": limit}
    row |= {"processor": processor(), "cores": str(cores()), "device": name, "precision": precision}
    row |= {"torch": torch.__version__, "python": platform.python_version()}
    rows = []
    if path.exists():
        with path.open() as file:
            rows = [old for old in csv.DictReader(file) if any(old[key] != row[key] for key in WHICH)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*row], lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, row])


def of_cpus(path: Path = TABLE) -> str:
    """The rows of CPUs as Markdown, one for each measure, setting and machine."""
    told = [
        [row["measure"], row["setting"], _value(row), row["to_reach"], f"{row['processor']}, {row['cores']} cores"]
        for row in _rows(path)
        if row["device"] == "cpu"
    ]
    return pipe(["measured", "of", "value", "to reach", "machine"], told)


def of_gpus(path: Path = TABLE) -> str:
    """The rows of GPUs, one for each measure, setting and card, with a column for each precision."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in _rows(path):
        if row["device"] != "cpu":
            own = tuple(row[key] for key in ("measure", "setting", "to_reach", "device"))
            found.setdefault(own, {})[row["precision"]] = _value(row)
    told = [
        [measure, setting, *(values.get(precision, "") for precision in get_args(Precision)), limit, card]
        for (measure, setting, limit, card), values in found.items()
    ]
    return pipe(["measured", "of", *get_args(Precision), "to reach", "on"], told)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return [*csv.DictReader(file)]


def _value(row: dict[str, str]) -> str:
    return row["value"] + MISSED * _misses(row)


def _misses(row: dict[str, str]) -> bool:
    """Whether a value is not what it should reach, on the kind of device that this is asked of."""
    asked = LIMIT.fullmatch(row["to_reach"])
    if asked is None or (asked["gpu"] and row["device"] == "cpu"):
        return False
    if asked["kind"] and asked["kind"] not in row["device"]:
        return False
    value, limit = float(row["value"]), float(asked["limit"])
    return {"at most": value > limit, "at least": value < limit, "above": value <= limit}[asked["how"]]


def quote(readme: Path = Path("README.md"), path: Path = TABLE) -> None:
    """Put both tables between the README's markers."""
    text, tables = readme.read_text(encoding="utf-8"), {"cpus": of_cpus, "gpus": of_gpus}
    write_text(readme, BLOCK.sub(lambda found: f"{found[1]}{tables[found['of']](path)}\n{found[3]}", text))


if __name__ == "__main__":
    quote()
