"""Whether published parts measured alike what the pairs of one claim say together."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from descent.analysis.claims import CLAIMS
from descent.components import TASKS
from descent.errors import UserError
from descent.published import files

MEASURED = ("gammas", "noise_draws", "seed", "bootstrap")  # of an evaluation
SHIFTED = ("energies", "shifts")  # of one beside these, where a claim is about shifts
HELD = ("eps", "tolerance", "selection", "noise_scale", "patch_loss")  # of a task
TESTED = ("test_clips", "frames_per_clip", "test_texts", "test_skip", "instructions")  # of a data set's source

Values = dict[str, Any]


def check(claim: str, pairs: pd.DataFrame, folders: Sequence[Path]) -> None:
    """Effects of one claim are means over the same levels and resamples, of arms chosen by one rule; those of one
    data set over the same test items of one copy, those of one model of one size of frames, and under shifts means
    over the same shifts at the same levels.

    What an effect under shifts is a mean over depends on its model in any case: those that tell of it (of a part
    that was published before P8 all).

    Args:
        pairs: of the claim, with their `model` and the number of their `part`.

    Raises:
        UserError: they are not.
    """

    def parts(own: pd.DataFrame) -> list[Path]:
        return [folders[part] for part in sorted(set(own["part"]))]

    _same(claim, parts(pairs), _measures)
    for dataset, own in pairs.groupby("dataset"):
        _same(claim, parts(own), partial(_tested, str(dataset)))
        _same_data(claim, str(dataset), parts(own))
    for _, own in pairs.groupby("model"):
        of_model = parts(own)
        _same(claim, of_model, _inputs)
        if CLAIMS[claim].shifts:
            _same(claim, of_model, _shifts)


def _same(claim: str, folders: Sequence[Path], asked: Callable[[str, Values], Values]) -> None:
    first, *others = (asked(claim, files.values(folder)) for folder in folders)
    for folder, other in zip(folders[1:], others, strict=True):
        for key in sorted({*first, *other}):
            if first.get(key) != other.get(key):
                raise UserError(
                    f"{folders[0]} and {folder} hold pairs of {claim} and differ in {key}: publish one of them "
                    "again with the other's"
                )


def _same_data(claim: str, dataset: str, folders: Sequence[Path]) -> None:
    """What was prepared of a data set in one way has one digest: of other copies resamples are other items."""
    known: dict[tuple[str, str], tuple[str, Path]] = {}
    for folder in folders:
        prepared = _prepared(claim, dataset, files.values(folder))
        for line in files.digests(folder):
            digest, name = line.split()
            if name.partition("/")[0] != dataset:
                continue
            before, first = known.setdefault((prepared, name), (digest, folder))
            if digest != before:
                raise UserError(
                    f"{first} and {folder} hold pairs of {claim} and were made from other copies of {name} "
                    "(data.sha256): publish one of them again with the other's"
                )


def _prepared(claim: str, dataset: str, params: Values) -> str:
    """How a data set was cut and stored, so that models of unlike frames may have copies of their own."""
    task, budgets = _task(claim, params), params["profiles"][params["profile"]]
    source = {name: value for name, value in budgets["data"][dataset].items() if value and name != "path"}
    return json.dumps([_inputs(claim, params), source, budgets[task].get("max_tokens")], sort_keys=True)


def _measures(claim: str, params: Values) -> Values:
    """What the scores are that a claim is judged by, by the key in params.yaml."""
    task = _task(claim, params)
    section = params[task]
    found = {"comparison": params["comparison"]} | ({"eps": params["eps"]} if task == "video" else {})
    found |= {f"{task}.{key}": section.get(key) for key in HELD}
    return found | {f"{task}.evaluation.{key}": section["evaluation"].get(key) for key in MEASURED}


def _tested(dataset: str, claim: str, params: Values) -> Values:
    """Which items of a data set are tested, as far as its source says."""
    section = f"profiles.{params['profile']}.data.{dataset}"
    source = params["profiles"][params["profile"]]["data"][dataset]
    return {f"{section}.{key}": source.get(key) or None for key in TESTED}


def _inputs(claim: str, params: Values) -> Values:
    """What a model sees."""
    task = _task(claim, params)
    return {f"{task}.frame": params[task].get("frame")}


def _shifts(claim: str, params: Values) -> Values:
    """Which shifts, and what is said of each."""
    task = _task(claim, params)
    profile = params["profile"]
    section = params[task]["evaluation"]
    own = params["profiles"][profile][task].get("shifts")
    found = {f"{task}.evaluation.{key}": section.get(key) for key in SHIFTED}
    told = {f"shifts.{name}": params["shifts"].get(name) for name in own or section["shifts"]}
    return found | {f"profiles.{profile}.{task}.shifts": own} | told


def _task(claim: str, params: Values) -> str:
    found = CLAIMS[claim].experiment
    while found not in TASKS:  # a study, which says its task or which other one it is like
        own = params["study"][found]
        found = own.get("task") or own["like"]
    return found
