"""Published parts once more: which the verdicts rest on, what they cost here, and each as an experiment of DVC.

A part is the params.yaml that is published beside it. It runs in a folder of its own (`dvc exp run --temp`), so
that this checkout's results stay as they are (its params.yaml is the part's until DVC has ended, which takes it
from there), and takes what is finished from this checkout's store: it may be stopped at any time.
"""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import dvc.api
import pandas as pd
import yaml

from descent import inventory
from descent.analysis.wording import written
from descent.components import TASKS
from descent.config import Params
from descent.costs import devices
from descent.costs.parts import Costs, Part
from descent.costs.table import duration, total
from descent.errors import UserError
from descent.published import files, parts, programme, set_aside
from descent.published.run_folder import ROOT

CARD = "data/scorecard.csv"
ALL = "all"  # that the primary claims are judged on
COLUMNS = f"{'part':<18}{'cells':>6}{'to do':>6}{'training':>10}{'scoring':>10}  what it holds"


def chosen(params: Params, words: Sequence[str]) -> list[Path]:
    """The published parts of these names; of `all`, or without any, those that the primary claims are judged on.

    They are of the profile in use or, where of that none is judged together, as of the demo, of the first that has
    some; by name any that was judged alone.

    Raises:
        UserError: no such part, none at all, or names beside ALL.
    """
    for profile in dict.fromkeys((params.profile, *params.profiles)):
        together, alone = programme.parted(ROOT, profile)
        if together:
            break
    known = {folder.name: folder for folder in (*together, *alone)}
    if missing := [word for word in words if word not in {ALL, *known}]:
        raise UserError(f"{ROOT} has no part {missing[0]}; it has {', '.join(known) or 'none'}")
    if ALL in words and len({*words}) > 1:
        raise UserError(f"{ALL}, or names of parts, not both: {' '.join(words)}")
    if named := [known[word] for word in words if word != ALL]:
        return named
    if not together:
        raise UserError(f"{ROOT} has no published part that claims are judged on: check the project out whole")
    return parts.resting(together)


def of_part(folder: Path, here: Params) -> Params:
    """A part's parameters, with this host's device and its user's copies of the data sets, and with the
    sections of shifts that are newer than it: in use is what its lists name, to which one may be added.

    Raises:
        UserError: copies are missing.
    """
    where = {"local_data": str(Path(here.local_data).resolve()), "device": here.device}
    found = files.params(folder)
    found = found.model_copy(update=where | {"shifts": {**here.shifts, **found.shifts}})
    inventory.present(found)
    return found


def estimated(asked: dict[Path, Params]) -> Iterable[tuple[str, Part | None]]:
    """The estimate line by line as it is known, each beside the part that it is of."""
    sums = []
    for number, (folder, params) in enumerate(asked.items()):
        at_hand = devices.at_hand(params)
        if not number:
            yield f"profile {params.profile}, {at_hand.told}", None
            yield COLUMNS, None
        found = replace(total([*Costs(params, at_hand).parts()]), name=folder.name)
        sums.append(found)
        yield f"{_line(found)}  {_holds(params)}", found
    yield _line(total(sums)), None


def run(folder: Path, params: Params) -> None:
    """The experiment `again-<part>`; params.yaml is the part's while it runs (set_aside.replaced).

    Raises:
        UserError: it ended before its end, and what it said stands above; or another runs here.
    """
    words = ["exp", "run", "--temp", "--force", "--name", experiment(folder)]
    with set_aside.replaced(whole(params), folder.name):
        ended = subprocess.run([sys.executable, "-m", "dvc", *words], check=False).returncode
    if ended:
        raise UserError(f"{folder.name} did not end; what is finished is kept: run the same command again")


def whole(params: Params) -> str:
    """Parameters as a params.yaml: with every value that an older part's lacks, since DVC finds no defaults."""
    values = params.model_dump(mode="json", exclude={"components"})
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def experiment(folder: Path) -> str:
    """The name of a part's experiment."""
    return f"again-{folder.name}"


def compared(folder: Path) -> Iterable[str]:
    """Of every claim that the part tells a number of: the published one and that of the experiment."""
    here = pd.read_csv(StringIO(dvc.api.read(CARD, rev=experiment(folder)))).set_index("claim")
    there = files.table(folder, "claims").set_index("claim").dropna(subset="estimate")
    for claim, row in there.iterrows():
        both = [row, *([here.loc[claim]] if claim in here.index else [])]  # newer code may know other claims
        told = [f"{written(one['estimate'], row['unit'])} {one['verdict']}" for one in both]
        yield f"{claim:<24}published {told[0]:<32}here {told[1] if len(told) > 1 else 'no such claim'}"


def left(parts_left: Sequence[Part]) -> str:
    """How long these take."""
    return duration(sum(part.training + part.scoring for part in parts_left))


def _line(part: Part) -> str:
    times = "".join(f"{duration(seconds):>10}" for seconds in (part.training, part.scoring))
    return f"{part.name:<18}{part.cells:>6}{part.missing:>6}{times}"


def _holds(params: Params) -> str:
    said = []
    for task in TASKS:
        section = params.section(task)
        said += [f"{', '.join(section.models)} on {', '.join(section.datasets)}"] if section.datasets else []
    return "; ".join(said)
