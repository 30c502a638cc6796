"""Made-up results of training, controls and solvers, and the looks of their arms."""

import pandas as pd
import pytest

from descent.config import Params
from descent.figures.parts import style
from tests.fakes.results import fake_results
from tests.fakes.results_training import training_params, with_training


@pytest.fixture(scope="package")
def params() -> Params:
    return training_params()


@pytest.fixture(autouse=True)
def look(params: Params) -> None:
    style.use(params)


@pytest.fixture(scope="package")
def made_up(params: Params) -> pd.DataFrame:
    rows = with_training(fake_results(params), params)
    return rows[~rows["metric"].str.endswith("_replicate")].reset_index(drop=True)


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()
