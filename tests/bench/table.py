"""data/bench.csv: what was measured, by machine and precision; measured again, a row takes its older one's place.

`python -m tests.bench.table` has the README quote it.
"""

import csv
import platform
import re
from pathlib import Path

import torch

from descent.costs.devices import TABLE, processor
from descent.io.folders import write_text
from descent.report.markdown import pipe
from descent.runner.devices import cores

BLOCK = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)
LIMIT = re.compile(r"(?P<how>at most|at least|above) (?P<limit>[\d.]+)(?P<gpu> on a GPU)?")
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


def quoted(path: Path = TABLE) -> str:
    """The table as Markdown, a row for each measure, setting, precision and machine."""
    with path.open() as file:
        rows = [*csv.DictReader(file)]
    told = [
        [
            *(row["measure"], row["setting"], row["precision"]),
            *(row["value"] + MISSED * _misses(row), row["to_reach"], _machine(row)),
        ]
        for row in rows
    ]
    return pipe(["measured", "of", "in", "value", "to reach", "machine"], told)


def _misses(row: dict[str, str]) -> bool:
    """Whether a value is not what it should reach, on the kind of device that this is asked of."""
    asked = LIMIT.fullmatch(row["to_reach"])
    if asked is None or (asked["gpu"] and row["device"] == "cpu"):
        return False
    value, limit = float(row["value"]), float(asked["limit"])
    return {"at most": value > limit, "at least": value < limit, "above": value <= limit}[asked["how"]]


def _machine(row: dict[str, str]) -> str:
    return f"{row['processor']}, {row['cores']} cores" if row["device"] == "cpu" else row["device"]


def quote(readme: Path = Path("README.md"), path: Path = TABLE) -> None:
    """Put the table between the README's markers."""
    text = readme.read_text(encoding="utf-8")
    write_text(readme, BLOCK.sub(lambda found: f"{found[1]}{quoted(path)}\n{found[2]}", text))


if __name__ == "__main__":
    quote()
