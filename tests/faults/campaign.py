"""python -m tests.faults.campaign: every case, then interruptions; goes on where an earlier run ended."""

import hashlib
import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from tests.faults import interruptions
from tests.faults.bounded import bounded
from tests.faults.cases import every

ROOT = Path(__file__).resolve().parents[2]
DONE = ROOT / ".faults" / "done.jsonl"
CORES = 2


def main() -> None:
    """Run what no earlier run of the same code has finished; print one table; fail where a case fails."""
    state = _code()
    found = _finished(state)
    cases = [str(case) for case in every()]
    missing = [name for name in cases if name not in found]
    DONE.parent.mkdir(exist_ok=True)
    with DONE.open("a") as file, ProcessPoolExecutor(CORES, get_context("spawn")) as pool:
        runs = {pool.submit(_one, name): name for name in missing}
        for run in tqdm(as_completed(runs), total=len(runs), unit="case"):
            found[runs[run]] = run.result()
            file.write(json.dumps([state, runs[run], run.result()]) + "\n")
            file.flush()
    told = {name: found[name] for name in cases} | interruptions.campaign(DONE.parent / state)
    _print(told)
    sys.exit(any(told.values()))


def _one(name: str) -> str:
    [case] = [case for case in every() if str(case) == name]
    return bounded(case)


def _code() -> str:
    """A name for the code that the cases meet, and for the cases."""
    total = hashlib.sha256()
    for folder in ("src", "stages", "tests/faults", "tests/fakes"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            total.update(file.read_bytes())
    return total.hexdigest()[:16]


def _finished(state: str) -> dict[str, str]:
    """What earlier runs of this code found, by the case's name; cases that failed are met again."""
    lines = map(json.loads, DONE.read_text().splitlines()) if DONE.exists() else ()
    return {name: found for code, name, found in lines if code == state and not found}


def _print(told: dict[str, str]) -> None:
    """Counts by kind, and every case that did not end as it must."""
    kinds = Counter(name.partition(":")[0] for name in told)
    failed = Counter(name.partition(":")[0] for name, found in told.items() if found)
    for name, found in told.items():
        if found:
            print(f"FAILED  {name}\n        {found}")
    print(f"{'kind':<44}{'cases':>7}{'as they must':>14}")
    for kind, count in kinds.items():
        print(f"{kind:<44}{count:>7}{count - failed[kind]:>14}")
    print(f"{'all':<44}{len(told):>7}{len(told) - sum(failed.values()):>14}")


if __name__ == "__main__":
    main()
