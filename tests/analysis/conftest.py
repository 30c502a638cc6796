"""Made-up results of the demo's cells, for the tests that ask for no others."""

import pandas as pd
import pytest

from descent.config import Params
from tests.fakes.results import fake_params, fake_results


@pytest.fixture(scope="package")
def params() -> Params:
    return fake_params()


@pytest.fixture
def results(params: Params) -> pd.DataFrame:
    return fake_results(params)
