"""A head that answers, one that is lost, and how soon that is told."""

import socket
from types import SimpleNamespace

import pytest

from descent.errors import UserError
from descent.runner import head
from descent.runner.head import Head


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time that a test sets."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(head, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_a_head_that_answers_is_never_lost(clock: SimpleNamespace) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:  # nobody takes what is connected
        asked = Head(f"127.0.0.1:{server.getsockname()[1]}")
        for clock.seconds in range(0, 280, 7):
            assert asked.ask() == (clock.seconds > 0), "whatever hangs on a head that answers"


def test_a_lost_head_is_told_after_its_patience_and_not_before(clock: SimpleNamespace) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, and nobody listens
        address = f"127.0.0.1:{held.getsockname()[1]}"
        asked = Head(address)
        for clock.seconds in range(int(head.PATIENCE) + 1):
            assert not asked.ask()
        clock.seconds += head.OFTEN
        with pytest.raises(
            UserError, match=rf"the head of the Ray cluster at {address} was lost.*ray start --head"
        ):
            asked.ask()


def test_a_head_that_comes_back_has_its_patience_again(clock: SimpleNamespace) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        asked = Head(f"127.0.0.1:{held.getsockname()[1]}")
        clock.seconds = head.PATIENCE - 1
        asked.ask()
        held.listen()
        clock.seconds += head.OFTEN
        assert asked.ask()
    clock.seconds += head.PATIENCE - 1
    asked.ask()


def test_it_is_asked_no_more_often_than_it_is_due(clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Head("127.0.0.1:1")
    monkeypatch.setattr(head.socket, "create_connection", lambda *words, **more: pytest.fail("asked too soon"))
    clock.seconds = head.OFTEN / 2
    asked.ask()
