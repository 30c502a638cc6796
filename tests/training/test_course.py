"""How a training is cut in epochs: passes over the data, or parts of one."""

import pytest

from descent.errors import UserError
from descent.training.loop import Course
from tests.fakes.core import small_params


def course(passes: int, parts: int) -> Course:
    return Course(passes=passes, parts=parts, selection="final", tolerance=0.0, training=small_params().training)


@pytest.mark.parametrize("steps", [9, 10, 17, 702])
@pytest.mark.parametrize("parts", [1, 2, 3, 7, 9])
def test_the_parts_of_a_pass_are_all_its_steps_and_as_long_as_one_another(parts: int, steps: int) -> None:
    one = course(3, parts)
    spans = [one.span(epoch, steps) for epoch in range(one.epochs)]
    assert len(spans) == 3 * parts
    assert [number for span in spans for number in span] == [*range(3 * steps)]
    assert {len(span) for span in spans} <= {steps // parts, -(-steps // parts)}
    assert [spans[parts * turn].start for turn in range(3)] == [0, steps, 2 * steps], "no part lies in two passes"


@pytest.mark.parametrize("parts", [1, 3, 4])
def test_the_share_of_a_training_that_is_done_counts_steps_and_not_epochs(parts: int) -> None:
    one = course(2, parts)
    shares = [one.share(one.span(epoch, 5).stop, 5) for epoch in range(one.epochs)]
    steps = {1: [5, 10], 3: [1, 3, 5, 6, 8, 10], 4: [1, 2, 3, 5, 6, 7, 8, 10]}[parts]
    assert shares == pytest.approx([number / 10 for number in steps], abs=1e-12)


def test_a_pass_cannot_be_cut_in_more_parts_than_it_has_steps() -> None:
    assert len(course(1, 5).span(4, 5)) == 1
    told = "a pass of 5 batches cannot be cut in parts: 6: .* set parts to 5 at most"
    with pytest.raises(UserError, match=told):
        course(1, 6).span(0, 5)
