"""Results of which these tests make parts."""

import pandas as pd
import pytest

from tests.fakes.evidence import Made
from tests.fakes.parts import GAIN


@pytest.fixture(scope="package")
def results() -> pd.DataFrame:
    made = Made().video(gain=GAIN, models=("ut", "dust_shared"), layers=(3,))
    rows = made.accuracy("text", "imdb", "distilbert").table()
    return rows.drop_duplicates([name for name in rows if name != "value"])
