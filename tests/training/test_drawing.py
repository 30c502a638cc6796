"""Batches drawn ahead: the same ones in the same order, at most a few too early, on other threads."""

import threading
import time
from pathlib import Path

import pytest

from descent.training import loop
from descent.training.drawing import AHEAD, drawn_in_turn
from tests.fakes.core import fit, same, small_params, write_prepared
from tests.fakes.stacks import stack


@pytest.mark.parametrize("steps", [1, 2, 5, 11])
def test_what_is_drawn_ahead_comes_in_the_same_order(steps: int) -> None:
    threads: list[int] = []
    drawn: list[int] = []

    def draw(step: int) -> int:
        threads.append(threading.get_ident())
        drawn.append(step)
        return step**2

    seen = []
    for number in drawn_in_turn(draw, steps, ahead=True):
        seen.append(number)
        assert len(drawn) <= len(seen) + AHEAD, "so many ahead, and no more in memory"
    assert seen == [*drawn_in_turn(lambda step: step**2, steps, ahead=False)] == [step**2 for step in range(steps)]
    assert drawn[0] == 0 and sorted(drawn) == [*range(steps)] and threading.get_ident() not in threads


def test_the_first_is_drawn_before_any_other_begins() -> None:
    done: list[int] = []

    def draw(step: int) -> bool:
        known = 0 in done
        time.sleep(0.02 * (step == 0))
        done.append(step)
        return known

    assert [*drawn_in_turn(draw, 6, ahead=True)] == [False] + 5 * [True]


def test_the_next_ones_are_drawn_side_by_side() -> None:
    together = threading.Barrier(AHEAD, timeout=20)
    assert len([*drawn_in_turn(lambda step: step and together.wait(), AHEAD + 1, ahead=True)]) == AHEAD + 1


def test_what_drawing_fails_of_arrives() -> None:
    with pytest.raises(ZeroDivisionError):
        [*drawn_in_turn(lambda step: 1 // (2 - step), 5, ahead=True)]


def test_a_run_whose_batches_are_drawn_ahead_is_the_same_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared, cells = write_prepared(tmp_path / "ucsd"), stack()
    _, plain = fit(small_params(), prepared, cells, tmp_path / "plain.pt")
    began: list[bool] = []

    def always(draw: object, steps: int, ahead: bool) -> object:
        began.append(ahead)
        return drawn_in_turn(draw, steps, ahead=True)

    monkeypatch.setattr(loop, "drawn_in_turn", always)
    _, ahead = fit(small_params(), prepared, cells, tmp_path / "ahead.pt")
    assert same(plain, ahead)
    assert began and not any(began), "a CPU draws in turn"
