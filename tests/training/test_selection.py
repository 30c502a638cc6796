"""Which epoch's weights a cell reports."""

import math

import pytest
import torch
from torch import nn

from descent.training.loop import Course, Run, _select
from tests.fakes.core import small_params


def chosen(selection: str, epochs: list[tuple[float, float]], alive_until: int = 99) -> tuple[int, float]:
    """The reported epoch, and the weights kept (which say the epoch they are of)."""
    course = Course(passes=99, selection=selection, tolerance=0.02, training=small_params().training)
    model = nn.Module()
    model.theta = nn.Parameter(torch.zeros(2, 1))
    run = Run(
        alive=torch.ones(2, dtype=torch.bool),
        missed=torch.full((2,), torch.inf),
        score=torch.full((2,), torch.inf),
        epoch=torch.zeros(2, dtype=torch.int64),
        weights={"theta": torch.zeros(2, 1)},
    )
    for epoch, (worst, last) in enumerate(epochs, start=1):
        run.alive[0] = epoch <= alive_until
        model.theta.data.fill_(epoch)
        _select(model, run, torch.tensor([worst, 0.0]), torch.tensor([last, -epoch]), course, epoch)
    assert run.epoch[1] == len(epochs) == run.weights["theta"][1], "a neighbour that improves every time"
    return int(run.epoch[0]), run.weights["theta"][0].item()


#          worst, f_L
EPOCHS = [(0.5, 1.0), (0.01, 3.0), (0.0, 2.0), (0.3, 0.5), (0.02, 2.5)]


@pytest.mark.parametrize(("selection", "expected"), [("feasible", 3), ("best", 4), ("final", 5)])
def test_the_reported_epoch_is_the_one_that_params_asks_for(selection: str, expected: int) -> None:
    assert chosen(selection, EPOCHS) == (expected, expected)


def test_among_infeasible_epochs_the_least_violation_is_reported() -> None:
    assert chosen("feasible", [(0.5, 1.0), (0.2, 9.0), (0.4, 0.1)]) == (2, 2)
    assert chosen("feasible", [(0.03, 1e-6), (0.02, 9999.0)]) == (2, 2), (
        "any feasible epoch beats an infeasible one"
    )


def test_small_differences_of_the_violation_count() -> None:
    assert chosen("feasible", [(0.50005, 1.0), (0.50001, 1.0)]) == (2, 2)


@pytest.mark.parametrize(("selection", "expected"), [("feasible", 3), ("best", 1), ("final", 3)])
def test_a_dead_cell_reports_nothing_new(selection: str, expected: int) -> None:
    assert chosen(selection, EPOCHS, alive_until=3) == (expected, expected)


@pytest.mark.parametrize("selection", ["feasible", "best", "final"])
def test_an_epoch_without_a_number_is_not_reported(selection: str) -> None:
    bad = [(0.0, 2.0), (math.nan, math.nan)]
    assert chosen(selection, bad) == (1, 1)
