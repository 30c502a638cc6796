"""What libraries raise becomes one message; a full disk and our own mistakes stay what they are."""

import errno
from typing import NoReturn

import pytest

from descent.errors import UserError
from descent.io import hub
from descent.io.failures import reason, told


def raising(error: BaseException) -> NoReturn:
    raise error


def test_an_answer_is_passed_on() -> None:
    assert hub.answer(lambda: 7, "a number", "count") == 7


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("no route\nto the host"), "no route"),
        (ValueError(), "ValueError"),
        (Exception(" "), "Exception"),
    ],
)
def test_the_reason_is_the_first_line_or_the_kind(error: Exception, said: str) -> None:
    assert reason(error) == said
    with pytest.raises(UserError) as met:
        hub.answer(lambda: raising(error), "the weights of a/b", "Go on without.")
    assert str(met.value) == f"cannot get the weights of a/b from the Hugging Face hub ({said}).\nGo on without."


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_full_disk_and_an_interruption_are_left_alone(error: BaseException) -> None:
    with pytest.raises(type(error)):
        told(lambda: raising(error), "it failed", "")
