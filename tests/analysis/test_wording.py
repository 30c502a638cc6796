"""Numbers and verdicts in words."""

import numpy as np

from descent.analysis import wording


def test_numbers_are_written_for_a_reader() -> None:
    shown = [wording.written(0.12345, unit) for unit in ("percent", "points", "plain")]
    assert shown == ["12.3 %", "12 points", "0.123"] and wording.written(np.nan, "plain") == "–"  # noqa: RUF001
    assert [wording.signed(value) for value in (1.23, -0.04, np.nan)] == ["+1.2", "+0.0", "–"]  # noqa: RUF001
