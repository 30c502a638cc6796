"""Numbers and verdicts in words."""

import numpy as np

from descent.analysis import wording


def test_numbers_are_written_for_a_reader() -> None:
    shown = [wording.written(0.12345, unit) for unit in ("percent", "points", "plain")]
    assert shown == ["12.3 %", "12 points", "0.123"] and wording.written(np.nan, "plain") == "–"  # noqa: RUF001
    assert [wording.signed(value) for value in (1.23, -0.04, np.nan)] == ["+1.2", "+0.0", "–"]  # noqa: RUF001


def test_a_share_has_its_interval_in_brackets_where_that_is_known() -> None:
    none = (np.nan, np.nan)
    assert wording.bracketed(0.0123, (0.01, 0.015)) == "+1.23 [+1.00, +1.50]"
    assert wording.bracketed(0.0123, (0.01, 0.015), "%") == "+1.23 % [+1.00 %, +1.50 %]"
    assert wording.bracketed(-0.5, none, wording.unit_of("text")) == "-50.00 points"
    assert wording.bracketed(np.nan, none, "%") == wording.UNKNOWN
