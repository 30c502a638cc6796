"""What a step's products are counted as, and how many steps Table 3 has: against numbers worked out by hand."""

import pytest

from descent import config
from tests.bench import rate
from tests.bench.steps import CELLS, PIXELS, Size, arm, dust, stepper
from tests.fakes.core import PARAMS

SIZE = Size(256, 2, 4, 5)


def products(size: Size, cells: int) -> int:
    values, model = config.load(PARAMS), dust(size, cells, shared=False)
    return rate.work(stepper(model, arm(values, "constrained", size, cells), size, values, cells))


def test_the_products_of_a_step_grow_as_their_matrices_do() -> None:
    """Every product has one factor of size cells x batch; a forward alone has of each layer the product of all
    tokens with the dictionary and its transpose, and a training step at most three times a forward's products."""
    one = products(SIZE, 1)
    assert products(SIZE, 3) == 3 * one and products(Size(256, 2, 8, 5), 1) == 2 * one
    tokens = SIZE.batch * SIZE.tokens
    forward = 2 * 2 * tokens * SIZE.atoms * PIXELS * SIZE.layers
    assert 2 * forward < one < 12 * forward


def test_table_3_has_180_cells_of_60_epochs_of_1024_steps() -> None:
    assert rate.steps_of_grid(config.load(PARAMS)) == 180 * 60 * 1024


def test_a_stacks_pace_is_that_of_all_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    paces = iter([100.0, 50.0])  # single steps and a stack's steps a second
    monkeypatch.setattr(rate, "per_second", lambda call, seconds: next(paces))
    values = config.load(PARAMS)
    found = rate.measured(SIZE, values, False, matrices=1e9)
    assert found["gain"] == CELLS * 50 / 100
    assert found["hours"] == pytest.approx(rate.steps_of_grid(values) / (CELLS * 50) / 3600)
    assert found["share"] == pytest.approx(products(SIZE, 1) * CELLS * 50 / 1e9)
