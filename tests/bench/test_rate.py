"""What a step's products are counted as, against numbers worked out by hand; what is measured where."""

import pytest
import torch

from descent import config
from descent.config import Params
from tests.bench import rate, timing
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


def test_a_stacks_pace_is_that_of_all_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    paces = iter([100.0, 50.0])  # single steps and a stack's steps a second
    monkeypatch.setattr(rate, "per_second", lambda call, seconds: next(paces))
    values = config.load(PARAMS)
    found = rate.measured(SIZE, values, False, matrices=1e9)
    assert found["steps"] == CELLS * 50 and found["gain"] == CELLS * 50 / 100
    assert found["share"] == pytest.approx(products(SIZE, 1) * CELLS * 50 / 1e9)


FAST = {"float32 False": 1.0, "float32 graphs": 2.0, "tf32 False": 3.0, "tf32 graphs": 4.0}
FAST |= {"bf16 False": 3.5, "bf16 graphs": 3.0, "tf32 both": 5.0}
PLAIN = ["float32 graphs", "tf32 graphs", "bf16 False"]


@pytest.mark.parametrize(
    ("device", "paces", "hours"),
    [
        ("cpu", {"float32 False": 1.0}, ["float32 False"]),
        ("cuda", FAST, [*PLAIN, "tf32 both"]),
        ("cuda", FAST | {"tf32 both": 3.9}, PLAIN),
    ],
)
def test_a_gpu_is_measured_in_every_precision_and_compiled_in_the_quickest(
    device: str, paces: dict[str, float], hours: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, list[str]] = {"stacks": [], "hours": []}

    def named(values: Params, how: str | bool) -> str:
        return f"{values.training.precision} {how}"

    def measured(size: Size, values: Params, how: str | bool, matrices: str) -> dict[str, float]:
        asked["stacks"].append(named(values, how))
        assert matrices == values.training.precision
        return {"steps": paces[named(values, how)], "gain": 1.0, "share": 1.0}

    for module in (rate, timing):
        monkeypatch.setattr(module, "device", lambda: torch.device(device))
    monkeypatch.setattr(rate.config, "load", small_params)
    monkeypatch.setattr(rate, "matrix_rate", lambda size, cells, precision: precision)
    monkeypatch.setattr(rate, "measured", measured)
    monkeypatch.setattr(rate, "record", lambda *row: None)
    monkeypatch.setattr(rate, "table_3", lambda values, how: asked["hours"].append(named(values, how)))
    rate.main()
    assert asked == {"stacks": [*paces], "hours": hours}
