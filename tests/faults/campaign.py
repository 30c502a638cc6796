"""python -m tests.faults.campaign: every case, interruptions, two at once; goes on where it was ended."""

import hashlib
import json
import signal
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from tests.faults import interruptions, together
from tests.faults.bounded import bounded
from tests.faults.cases import every

ROOT = Path(__file__).resolve().parents[2]
DONE = ROOT / ".faults" / "done.jsonl"
COUNTS = ROOT / "data" / "faults.csv"
CORES = 2
CASES, LANDED = 400, 50  # at least so many cases, and interruptions among them
# What a case came to, by the first words of what was found; `silent`: bad input was taken, nothing was said.
OUTCOMES = {"traceback": ("traceback",), "hang": ("hang",), "silent": ("taken in silence", "not told")}


def main() -> None:
    """Run what no earlier run of this code has finished; print and write the counts; fail where a case fails."""
    # What runs in the background of a shell is deaf to Ctrl-C, and so would be all that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = DONE.parent / _code()
    found = _met(folder.name)
    found |= interruptions.campaign(folder)
    found |= together.campaign(folder, folder / "calm")
    for name, what in found.items():
        if what:
            print(f"FAILED  {name}\n        {what}")
    table = counts(found)
    print(table.to_string(index=False))
    table.to_csv(COUNTS, index=False)
    landed = int(table.set_index("kind").loc["all interruptions", "cases"])
    if landed < LANDED or len(found) < CASES:
        print(f"too few: {len(found)} cases, {landed} interruptions ({CASES} and {LANDED} at least)")
    sys.exit(any(found.values()) or landed < LANDED or len(found) < CASES)


def counts(found: dict[str, str]) -> pd.DataFrame:
    """A row for every kind of case and one for all: how many there are, and what they came to."""
    kinds = dict.fromkeys(name.partition(":")[0] for name in found)
    rows = [
        {"kind": kind} | _counted([what for name, what in found.items() if name.partition(":")[0] == kind])
        for kind in kinds
    ]
    landed = [what for name, what in found.items() if name.startswith("interruption of")]
    return pd.DataFrame(
        [*rows, {"kind": "all interruptions"} | _counted(landed), {"kind": "all"} | _counted([*found.values()])]
    )


def _counted(what: list[str]) -> dict[str, int]:
    came = Counter(_outcome(words) for words in what)
    return {"cases": len(what)} | {name: came[name] for name in ("as it must", *OUTCOMES, "other")}


def _outcome(what: str) -> str:
    if not what:
        return "as it must"
    return next((name for name, first in OUTCOMES.items() if what.startswith(first)), "other")


def _met(state: str) -> dict[str, str]:
    """What came of every case, by its name; those that an earlier run of this code met well are not met again."""
    found = _finished(state)
    cases = [str(case) for case in every()]
    missing = [name for name in cases if name not in found]
    DONE.parent.mkdir(exist_ok=True)
    with DONE.open("a") as file, ProcessPoolExecutor(CORES, get_context("spawn")) as pool:
        runs = {pool.submit(_one, name): name for name in missing}
        for run in tqdm(as_completed(runs), total=len(runs), unit="case", mininterval=10):
            found[runs[run]] = run.result()
            file.write(json.dumps([state, runs[run], run.result()]) + "\n")
            file.flush()
    return {name: found[name] for name in cases}


def _one(name: str) -> str:
    [case] = [case for case in every() if str(case) == name]
    return bounded(case)


def _code() -> str:
    """A name for the code that the cases meet, and for the cases."""
    total = hashlib.sha256()
    for folder in ("src", "stages", "tests/faults", "tests/fakes"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            total.update(file.read_bytes())
    for name in ("tests/params.yaml", "dvc.yaml", "constraints.txt"):
        total.update((ROOT / name).read_bytes())
    return total.hexdigest()[:16]


def _finished(state: str) -> dict[str, str]:
    """What earlier runs of this code found, by the case's name; cases that failed are met again."""
    lines = map(json.loads, DONE.read_text().splitlines()) if DONE.exists() else ()
    return {name: found for code, name, found in lines if code == state and not found}


if __name__ == "__main__":
    main()
