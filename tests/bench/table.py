"""data/bench.csv: what was measured, by machine and precision; measured again, a row takes its older one's place.

`python -m tests.bench.table` writes it as a page, and has the README quote what should be reached.
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
from descent.published.markdown import pipe
from descent.schema import Precision

PAGE = Path("data/BENCH.md")
HEAD = """# What was measured

Written by `make bench` from [bench.csv](bench.csv), by kind of machine and precision; no machine is named. A
value that misses what it should reach is marked ✗. Of the H200's rows those were run that fit two quarters of
an hour, with torch 2.11; its reference step is that of the prototype of replayed steps (one constrained cell of
DUST, seven layers, one batch again and again), and *hours of Table 3* with `both` was not measured again after
batches came to be drawn on several threads (1.1 h before that)."""
BLOCK = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)
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


def reached(path: Path = TABLE) -> str:
    """What should be reached, and from what to what its rows are: a line for each measure and limit, a column for
    CPUs and one for each card, with how many miss it. A measure with several limits names what each is of."""
    rows = [row for row in _rows(path) if LIMIT.fullmatch(row["to_reach"])]
    kinds = sorted({row["device"] for row in rows}, key=lambda kind: (kind != "cpu", kind))
    told = []
    for line in (lines := dict.fromkeys(map(_of, rows))):
        own = [row for row in rows if _of(row) == line]
        several = [measure for measure, _ in lines].count(line[0]) > 1
        whose = f": {', '.join(dict.fromkeys(map(_whose, own)))}" if several else ""
        spans = (_span([row for row in own if row["device"] == kind]) for kind in kinds)
        told.append([line[0] + whose, line[1], *spans])
    return pipe(["measured", "to reach", *("CPUs" if kind == "cpu" else kind for kind in kinds)], told)


def _whose(row: dict[str, str]) -> str:
    """The model that a row is of: what its setting begins with."""
    return re.split(r",| of ", row["setting"])[0]


def _of(row: dict[str, str]) -> tuple[str, str]:
    return row["measure"], row["to_reach"]


def _span(rows: list[dict[str, str]]) -> str:
    """From the least to the largest, and how many miss what they should reach; nothing without rows that are asked
    to."""
    rows = [row for row in rows if _asked(row)]
    if not rows:
        return ""
    least, *_, most = sorted([row["value"] for row in rows], key=float) * 2
    missed = sum(map(_misses, rows))
    return (least if least == most else f"{least} to {most}") + (
        f" ({missed} of {len(rows)}{MISSED})" if missed else ""
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return [*csv.DictReader(file)]


def _value(row: dict[str, str]) -> str:
    return row["value"] + MISSED * _misses(row)


def _asked(row: dict[str, str]) -> re.Match[str] | None:
    """What a value should reach; nothing where this is not asked of its kind of device."""
    asked = LIMIT.fullmatch(row["to_reach"])
    if asked is None or (asked["gpu"] and row["device"] == "cpu"):
        return None
    return asked if (asked["kind"] or "") in row["device"] else None


def _misses(row: dict[str, str]) -> bool:
    asked = _asked(row)
    if asked is None:
        return False
    value, limit = float(row["value"]), float(asked["limit"])
    return {"at most": value > limit, "at least": value < limit, "above": value <= limit}[asked["how"]]


def page(path: Path = TABLE) -> str:
    """All rows, of GPUs first."""
    return f"{HEAD}\n\n## On a GPU\n\n{of_gpus(path)}\n\n## On CPUs\n\n{of_cpus(path)}\n"


def quote(readme: Path = Path("README.md"), path: Path = TABLE, whole: Path = PAGE) -> None:
    """Write the page, and what should be reached between the README's markers."""
    text = readme.read_text(encoding="utf-8")
    write_text(readme, BLOCK.sub(lambda found: f"{found[1]}{reached(path)}\n{found[2]}", text))
    write_text(whole, page(path))


if __name__ == "__main__":
    quote()
