"""Stages that are interrupted again and again, alone and under DVC, make the bytes that undisturbed ones make."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from threading import Timer

from tests.faults.tiny import ALL, STAGES, Step, asked, dvc, resumed, stage, start, unlike, whole

SECONDS = 2.0  # from a signal to the end of a stage
HANG = 60  # seconds to the end of anything
PRESSED = 2  # times: between two stages what DVC loads may swallow an interruption, as it does of ours
TIMES = 3  # interruptions of a stage: one with each of the signals
DVC_TIMES = 18  # of `dvc repro`
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
POOLS = ("preprocess video ucsd", "train video ucsd", "evaluate video ucsd", "figures video")  # with workers
OURS = ("stages/", "src/descent/")  # DVC and Python may say where they were when they were interrupted


def campaign(folder: Path) -> dict[str, str]:
    """Every stage undisturbed in one project, interrupted in others; what came of it, by what was done."""
    calm = folder / "calm"
    undisturbed = [(f"undisturbed {words}", partial(whole, command=stage(words))) for words in STAGES]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(resumed, calm, undisturbed)
        alone = pool.submit(resumed, folder / "alone", list(_stages(Random(0))))
        under = pool.submit(resumed, folder / "under-dvc", list(_under_dvc(Random(1))), dvc=True)
        found = first.result() | alone.result() | under.result()
    for name in ("alone", "under-dvc"):
        found[f"the same bytes: after interruptions {name}"] = unlike(folder / name, calm)
    found["network: no stage asked it"] = asked(calm) or asked(folder / "alone")
    return found


def _stages(random: Random) -> Iterator[Step]:
    number = 0
    for words in STAGES:
        for _ in range(TIMES):
            kind, after = SIGNALS[number % len(SIGNALS)], random.uniform(0.3, 4.5)
            name = f"interruption of {' '.join(words.split()[:2])}: the {number + 1}th, {kind.name}"
            yield name, partial(interrupted, command=stage(words), number=kind, after=after)
            number += 1
        if words in POOLS:
            yield f"a worker killed in {words}", partial(worker_killed, command=stage(words))
        yield f"after its interruptions {words}", partial(whole, command=stage(words))


def worker_killed(folder: Path, command: Sequence[str]) -> str:
    """Start a stage and kill the first of its workers; what is wrong with how it ended, in words."""
    shutil.rmtree(folder / ".cells", ignore_errors=True)  # there is all to do
    process = start(folder, command)
    early: set[int] = set()  # a process that has just begun may become anything
    while process.poll() is None and not (workers := early & (early := _workers(process.pid))):
        time.sleep(0.01)
    if process.returncode is not None:
        return f"no worker was met: {process.communicate()[0][-300:]}"
    os.kill(min(workers), signal.SIGKILL)
    try:
        output, _ = process.communicate(timeout=HANG)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return f"hang: goes on {HANG} s after a worker was killed"
    if "Traceback" in output:
        return f"traceback: {output[-600:]}"
    return "" if process.returncode == 1 and "was killed" in output else f"told otherwise: {output[-300:]}"


def _workers(parent: int) -> set[int]:
    """The processes that work for a stage, but for Python's own tracker of what they share."""
    with suppress(FileNotFoundError):
        children = map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split())
        return {own for own in children if "resource_tracker" not in Path(f"/proc/{own}/cmdline").read_text()}
    return set()


def interrupted(folder: Path, command: Sequence[str], number: signal.Signals, after: float, again: int = 2) -> str:
    """Start a stage and send its group a signal while it runs; what is wrong with how it ended, in words."""
    process = start(folder, command)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        found = _signalled(process, number)
        slow = found.startswith("took") and again  # by the clock: others may have had the cores
        return interrupted(folder, command, number, after, again - 1) if slow else found
    output, _ = process.communicate()  # it was faster
    if process.returncode:
        return f"ended by itself with {process.returncode}: {output[-300:]}"
    return interrupted(folder, command, number, after / 2) if after > 0.01 else ""


def _signalled(process: subprocess.Popen, number: signal.Signals) -> str:
    began, before = time.monotonic(), _kept_waiting(process.pid)
    os.killpg(process.pid, number)
    late = Timer(HANG, os.killpg, (process.pid, signal.SIGKILL))
    late.start()
    output = process.stdout.read()  # to its end, so that no process of the group is left
    late.cancel()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    took = time.monotonic() - began - (_kept_waiting(process.pid) - before)
    process.wait()
    return _ending(process.returncode, output, took) if number != signal.SIGKILL else ""


def _kept_waiting(pid: int) -> float:
    """Seconds that a process, dead or alive, could have run and others had the cores; zero where nobody counts."""
    counted = Path(f"/proc/{pid}/schedstat")
    return int(counted.read_text().split()[1]) / 1e9 if counted.exists() else 0.0


def _ending(code: int, output: str, took: float) -> str:
    told = output.count("interrupted; what was finished is kept")
    if "Traceback" in output:
        return f"traceback: {output[-600:]}"
    if took > HANG:
        return f"hang: {took:.0f} s"
    if code == 130 and told != 1:
        return f"told {told} times: {output[-300:]}"
    if code not in (0, 130):
        # Before the interpreter runs a line of ours, the system ends it, and nothing is said.
        early = code in (-signal.SIGINT, -signal.SIGTERM) and not output
        return "" if early else f"ended with {code}: {output[-300:]}"
    return f"took {took:.1f} s" if took > SECONDS else ""


def _under_dvc(random: Random) -> Iterator[Step]:
    """Interruptions of `dvc repro`, each going on where the one before ended; of DVC alone its stage lives on.

    Ctrl-C goes to all of a terminal's group; what DVC alone hears of it, it leaves to the stage that runs.
    """
    for number in range(DVC_TIMES):
        kind = SIGNALS[number % len(SIGNALS)]
        group = kind == signal.SIGINT or number // len(SIGNALS) % 2 == 0
        name = f"interruption of dvc repro: the {number + 1}th, {kind.name} to {'its group' if group else 'dvc'}"
        yield name, partial(_repro_interrupted, number=kind, group=group, after=random.uniform(2.0, 9.0))
    yield "after its interruptions dvc.lock", partial(whole, command=stage("whole_lock"))
    yield "after its interruptions dvc repro", partial(whole, command=dvc("repro"), seconds=ALL)
    yield "after its interruptions dvc repro has nothing to do", _up_to_date


def _repro_interrupted(folder: Path, number: signal.Signals, group: bool, after: float) -> str:
    if told := whole(folder, stage("whole_lock")):  # as `make repro` begins
        return told
    log = folder.with_suffix(".log")
    with log.open("w") as output:  # no pipe: what lives on after DVC still writes to it
        process = start(folder, dvc("repro"), output)
    try:
        process.wait(after)
        return ""
    except subprocess.TimeoutExpired:
        pass
    for _ in range(PRESSED):
        (os.killpg if group else os.kill)(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(HANG / PRESSED)
            break
    else:
        os.killpg(process.pid, signal.SIGKILL)
        return f"hang: DVC goes on {HANG} s after {PRESSED} times {number.name}"
    said = log.read_text()
    ours = any(place in said.partition("Traceback")[2] for place in OURS)
    return f"traceback: {said[-900:]}" if ours else ""


def _up_to_date(folder: Path) -> str:
    status = subprocess.run(
        dvc("status"), cwd=folder, env=os.environ | {"PYTHONPATH": "src"}, capture_output=True, text=True
    )
    return "" if "up to date" in status.stdout else f"not up to date: {status.stdout[-600:]}{status.stderr[-300:]}"
