"""Made-up results; figures of these tests have the names and looks of the tests' parameters."""

import pandas as pd
import pytest

from descent.config import Params
from descent.figures.parts import style
from tests.fakes.results import fake_params, fake_results


@pytest.fixture(autouse=True)
def look() -> None:
    style.use(fake_params())


@pytest.fixture(scope="package")
def params() -> Params:
    return fake_params()


@pytest.fixture(scope="package")
def made_up(params: Params) -> pd.DataFrame:
    return fake_results(params)


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()
