"""What a step's products are counted as, and how many steps Table 3 has: against numbers worked out by hand."""

import pytest
import torch

from descent import config
from descent.config import Params
from tests.bench import rate, steps
from tests.bench.steps import CELLS, PIXELS, Size, arm, dust, stepper
from tests.fakes.core import PARAMS, small_params

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
    monkeypatch.setattr(rate, "per_second", lambda call: next(paces))
    values = config.load(PARAMS)
    found = rate.measured(SIZE, values, False, matrices=1e9)
    assert found["steps"] == CELLS * 50 and found["gain"] == CELLS * 50 / 100
    assert found["hours"] == pytest.approx(rate.steps_of_grid(values) / (CELLS * 50) / 3600)
    assert found["share"] == pytest.approx(products(SIZE, 1) * CELLS * 50 / 1e9)


@pytest.mark.parametrize(
    ("device", "rows"),
    [
        ("cpu", ["float32 none"]),
        ("cuda", ["float32 none", "tf32 none", "bf16 none", "tf32 kernels", "tf32 graphs"]),
    ],
)
def test_a_gpu_is_measured_in_every_precision_and_compiled_in_the_quickest(
    device: str, rows: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    paces = {"float32": 1.0, "tf32": 3.0, "bf16": 2.0}

    def measured(size: Size, values: Params, how: str | bool, matrices: float) -> dict[str, float]:
        pace = paces[values.training.precision]
        assert matrices == pace, "of the same precision"
        return {"steps": pace, "gain": 1.0, "share": 1.0, "hours": 1.0}

    def record(measure: str, of: str, value: float, limit: str, device: torch.device, precision: str) -> None:
        found.append(f"{precision} {of.rpartition(' ')[2]}")

    for module in (rate, steps):
        monkeypatch.setattr(module, "device", lambda: torch.device(device))
    monkeypatch.setattr(rate.config, "load", small_params)
    monkeypatch.setattr(rate, "matrix_rate", lambda size, cells, precision: paces[precision])
    monkeypatch.setattr(rate, "measured", measured)
    monkeypatch.setattr(rate, "record", record)
    rate.main()
    assert [*dict.fromkeys(found)] == rows
