"""Which cells train together: those of one depth, arm and rate, as many as fit."""

import json
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
import torch
from torch import nn

from descent.arms import constrained, unconstrained
from descent.cells import Cell
from descent.runner import stacks, store
from descent.runner.stacks import plan
from descent.schema import Schema
from descent.training.arm import Setting
from descent.training.loop import Run
from descent.training.stack import Recipe
from tests.fakes.core import small_params, small_problem

CONSTRAINED = constrained.Settings(**small_problem().model_dump())


def asked(lr: float = 0.1, values: Schema | None = CONSTRAINED) -> Setting:
    """The setting of a constrained cell, or of one of the other arm."""
    arm = "constrained" if values is not None else "unconstrained"
    return Setting(arm, lr, values or unconstrained.Settings())


def test_stacks_are_cells_of_one_depth_as_many_as_fit() -> None:
    cells = [
        Cell("video", "ucsd", "dust", "constrained", layers, float(eps), 0)
        for layers, count in ((2, 5), (3, 1), (5, 2))
        for eps in range(count)
    ]
    settings = dict.fromkeys(cells, asked())
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=29)] == [2, 2, 2, 1, 1]
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=1000)] == [5, 2, 1]
    assert [len(stack) for stack in plan(cells, settings, elements=10, limit=3)] == [1] * 8
    stacks = plan(cells, settings, 10, 29)
    assert sorted(map(str, cells)) == sorted(str(cell) for stack in stacks for cell in stack)
    costs = [sum(cell.layers for cell in stack) for stack in stacks]
    assert costs == sorted(costs, reverse=True), "the longest first"
    assert plan([], {}, 10, 29) == []


def test_cells_of_another_rate_arm_or_where_asked_seed_do_not_share_a_stack() -> None:
    arms = (("constrained", 0.1), ("constrained", 0.2), ("unconstrained", 0.1))
    settings = {
        Cell("text", "imdb", "ut_text", arm, 3, eps, seed): asked(
            lr, CONSTRAINED if arm == "constrained" else None
        )
        for seed in (0, 1)
        for (arm, lr), values in zip(arms, (CONSTRAINED, CONSTRAINED, None), strict=True)
        for eps in ((0.0, 0.5) if lr == 0.1 else (0.25,))
    }

    def grouped(seeds_apart: bool) -> set[frozenset[tuple]]:
        stacks = plan(list(settings), settings, 1, 1000, seeds_apart)
        assert sorted(map(str, settings)) == sorted(str(cell) for stack in stacks for cell in stack)
        return {frozenset((cell.arm, settings[cell].lr, cell.seed) for cell in stack) for stack in stacks}

    assert grouped(seeds_apart=False) == {frozenset({(*arm, 0), (*arm, 1)}) for arm in arms}
    assert grouped(seeds_apart=True) == {frozenset({(*arm, seed)}) for seed in (0, 1) for arm in arms}


def test_cells_that_differ_in_numbers_of_the_objective_alone_share_a_stack() -> None:
    cells = [Cell("alpha", "imdb", "ut_text", "constrained", 3, 0.4, 0, varied) for varied in "abcde"]
    changes = [
        {},
        {"alpha": 0.5},
        {"dual_lr": 1.0, "rho": 9.0, "R0": 3.0},
        {"resilience": "none"},
        {"cap_layer": 1},
    ]
    values = [CONSTRAINED.model_copy(update=change) for change in changes]
    settings = {cell: asked(values=own) for cell, own in zip(cells, values, strict=True)}
    assert plan(cells, settings, 1, 1000) == [cells[:3], [cells[3]], [cells[4]]]


def test_a_stacks_seconds_are_all_of_its_epochs_also_beside_a_lost_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a cell took is its share of the stack's time, however early it was lost."""
    monkeypatch.chdir(tmp_path)
    cells = [Cell("video", "ucsd", "dust", "unconstrained", 2, 0.1, seed) for seed in (0, 1)]
    loss, norm = torch.ones(2, 3), torch.ones(2)
    run = Run(
        alive=torch.tensor([True, False]),
        missed=torch.zeros(2),
        score=torch.ones(2),
        epoch=torch.tensor([4, 1]),
        weights={"w": torch.zeros(2, 1)},
        history=[
            {"loss_train": loss, "grad_norm": norm, "alive": torch.tensor([True, epoch < 2])}
            | {"seconds": torch.tensor(10.0)}
            for epoch in range(4)
        ],
    )
    monkeypatch.setattr(stacks, "train_stack", lambda *_: run)
    how = {"passes": 4, "selection": "final", "tolerance": 0.0, "training": small_params().training}
    recipe = Recipe(build=nn.Identity, task=list, device=torch.device("cpu"), **how)
    names = {cell: f"{number:032d}" for number, cell in enumerate(cells)}
    told: list[tuple] = []
    settings = {cell: asked(values=None) for cell in cells}
    stacks.work(names, recipe, settings, cells, lambda *own: told.append(own))
    records = [json.loads((store.folder(name) / "cell.json").read_text()) for name in names.values()]
    assert [record["made_by"]["seconds"] for record in records] == [40.0, 40.0]
    assert [record["diverged"] for record in records] == [False, True]
    histories = [pd.read_csv(store.folder(name) / "history.csv") for name in names.values()]
    assert [log["epoch"].max() for log in histories] == [4, 3]
    assert told == [(4 * stacks.TICKS * len(cells), True)], "no epoch of it was seen here"


@pytest.mark.parametrize(("cut", "expected"), [(1, [180, 200]), (3, [540, 600])])
def test_what_is_told_of_a_pass_counts_the_epochs_that_it_is_cut_in(cut: int, expected: list[int]) -> None:
    """Of a pass of five batches: its last batch, and the next pass's first."""
    told: list[int] = []
    task = stacks.Told(Mock(steps=5, batch=lambda *place: place), cut, told.append)
    assert [task.batch(1, 4), task.batch(2, 0)] == [(1, 4), (2, 0)]
    assert told == expected and stacks.TICKS == 100
