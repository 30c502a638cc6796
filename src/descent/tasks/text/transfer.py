"""Text cells on each kind of test text, and on kinds that training has not seen: MNLI by genre, and mismatched."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int64
from torch import nn

from descent import paths
from descent.analysis.select import TRAINED, TRANSFER, UNSEEN
from descent.cells import Cell
from descent.components import load as component
from descent.config import Params
from descent.runner import scores
from descent.runner.fingerprint import digest
from descent.runner.items import Item
from descent.runner.scores import Measured, Scoring
from descent.tasks.common.items import of_model
from descent.tasks.common.shifted import apply_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.text.data import Tokens, load
from descent.tasks.text.sweep import sweep
from descent.training.devices import autocast

SPLITS = {"test": "", "elsewhere": UNSEEN}  # those that test, and what their kinds are marked with
UNNAMED = "of no kind"  # where the source does not say


def apart(dataset: str) -> bool:
    """Whether a data set's file says that its test texts are of several kinds."""
    return bool(getattr(component("tasks.text.datasets", dataset), "GROUP", ""))


def of_all(params: Params) -> pd.DataFrame:
    """The rows of every model in use on the kinds of text of each data set that tells them apart.

    There are none where its source names no kind at all, as MNLI without its field: they would repeat the ordinary
    scores.

    Raises:
        UserError: cells that are missing or stale, or prepared data that are missing.
    """
    asked = []
    for name in filter(apart, params.text.datasets):
        for model in params.text.models:
            tokens = load(paths.prepared_folder(params, "text", name, model))
            if any(map(any, _told(tokens)["groups"].values())):  # a text whose kind is not told has an empty name
                asked.append((item := of_model(params, "text", name, model), scoring(params, tokens, item)))
    tables = scores.evaluate("text by kind", asked)
    return pd.concat(tables) if tables else pd.DataFrame()


def scoring(params: Params, tokens: Tokens, item: Item) -> Scoring:
    """How the cells of a text item are scored on every kind, each at its own level of training."""
    evaluation = params.text.evaluation
    return Scoring(
        profile=params.profile,
        measure=partial(_measure, params, tokens, item.feed.device),
        problem=params.held_to,
        definitions={
            TRANSFER: {
                "evaluation": evaluation.model_dump(exclude={"shifts", "gammas", "energies"}),
                "kinds": _told(tokens)["kinds_digest"],
                "code": digest((__name__, f"descent.shifts.{TRAINED}")),
            },
        },
        elements=item.feed.elements_at(evaluation.batch),
        inputs=sum(len(tokens.split(split)) for split, _ in kinds(tokens)),
    )


def kinds(tokens: Tokens) -> Iterable[tuple[str, dict[str, Int64[np.ndarray, " texts"]]]]:
    """The splits that test, each with the numbers of its texts by what results call their kind."""
    meta = _told(tokens)
    for split, mark in ((split, mark) for split, mark in SPLITS.items() if split in meta["texts"]):
        if names := meta["groups"].get(split):
            own = np.load(tokens.folder / f"{split}_groups.npy")
            yield (
                split,
                {(name or UNNAMED) + mark: np.flatnonzero(own == place) for place, name in enumerate(names)},
            )
        else:
            yield split, {UNNAMED + mark: np.arange(meta["texts"][split])}


def _told(tokens: Tokens) -> dict[str, Any]:
    return json.loads((tokens.folder / "meta.json").read_text())


def _measure(
    params: Params,
    tokens: Tokens,
    device: torch.device,
    net: nn.Module,
    stack: Sequence[Cell],
    shifts: Sequence[str],
    progress: Callable[[int], Any],
) -> Measured:
    own = [cell.eps for cell in stack]
    rows = [[] for _ in stack]
    levels = sorted(set(own))
    apply = apply_of(params, TRAINED)
    how = Sweeping(params.text.evaluation, device, progress)
    for split, found in kinds(tokens):
        with autocast(device, params.precision_of("text")):
            hits = sweep(net.to(device), tokens, levels, apply, own, how, split).hits
        for index, cell in enumerate(stack):
            right = hits[levels.index(cell.eps), index].mean(axis=0)
            place = {"split": "test", "gamma": cell.eps, "layer": cell.layers, "metric": "accuracy"}
            rows[index] += [
                place | {"tested": kind, "value": float(right[numbers].mean())} for kind, numbers in found.items()
            ]
    yield TRANSFER, rows
