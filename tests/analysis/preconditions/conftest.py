"""Sound runs, for these tests to spoil."""

import pandas as pd
import pytest

from tests.fakes.evidence import Made


@pytest.fixture(scope="package")
def video() -> pd.DataFrame:
    return Made().video().table()


@pytest.fixture(scope="package")
def texts() -> pd.DataFrame:
    return Made().accuracy("text", "imdb", "distilbert").table()


@pytest.fixture
def results(video: pd.DataFrame) -> pd.DataFrame:
    return video.copy()


@pytest.fixture
def text(texts: pd.DataFrame) -> pd.DataFrame:
    return texts.copy()
