"""Parameters and scores of the run that these tests publish."""

import pandas as pd
import pytest

from descent.analysis import results
from descent.config import Params
from tests.fakes.results import fake_params, fake_results
from tests.fakes.runs import LITTLE


@pytest.fixture(scope="package")
def params() -> Params:
    return fake_params(LITTLE)


@pytest.fixture(scope="package")
def made_up(params: Params) -> pd.DataFrame:
    rows = fake_results(params)
    return rows[rows["metric"].isin(results.METRICS)]
