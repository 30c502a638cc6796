"""Figures of these tests have the names and looks of the tests' parameters."""

import pytest

from descent.figures.parts import style
from tests.fakes.results import fake_params


@pytest.fixture(autouse=True)
def look() -> None:
    style.use(fake_params())
