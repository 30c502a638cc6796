"""Which steps an estimate takes for each other, and that stale data are not taken for prepared ones."""

from pathlib import Path

import pytest

from descent.cells import Cell
from descent.config import Params
from descent.costs.data import prepared
from descent.costs.steps import kind
from descent.tasks.common.items import setting
from tests.fakes.core import small_params

CELL = Cell("video", "ucsd", "dust", "constrained", 3, 0.13, 0)


def kind_of(params: Params, **changes: object) -> tuple[object, ...]:
    cell = Cell(**vars(CELL) | changes)
    return kind(params, cell, setting(params, cell))


@pytest.mark.parametrize(
    "changes",
    [
        {"models.dust.step": "current"},
        {"objectives.constrained.dual_forward": "fresh"},
        {"objectives.constrained.resilience": "decay"},
    ],
)
def test_steps_of_another_reading_or_solver_are_timed_by_themselves(changes: dict[str, object]) -> None:
    assert kind_of(small_params(changes)) != kind_of(small_params())


def test_seeds_noise_and_numbers_of_the_objective_take_no_time() -> None:
    own = kind_of(small_params())
    assert kind_of(small_params(), seed=7, eps=0.5) == own
    assert kind_of(small_params({"objectives.constrained.dual_lr": 0.125})) == own
    assert kind_of(small_params(), layers=2) != own


@pytest.mark.parametrize("text", ["[]", "null", "{}", "{", '{"profile": "another"}'])
def test_data_that_do_not_say_what_they_are_count_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data/prepared/ucsd"
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(text)
    assert prepared(small_params(), "video", "ucsd", "dust") is None
