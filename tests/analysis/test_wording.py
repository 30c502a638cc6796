"""Numbers and verdicts in words."""

import numpy as np

from descent.analysis import wording


def test_numbers_are_written_for_a_reader() -> None:
    shown = [wording.written(0.12345, unit) for unit in ("percent", "points", "plain")]
    assert shown == ["12.3 %", "12 points", "0.123"] and wording.written(np.nan, "plain") == "–"  # noqa: RUF001
    assert [wording.signed(value) for value in (1.23, -0.04, np.nan)] == ["+1.2", "+0.0", "–"]  # noqa: RUF001
    assert wording.written(0.01, "points") == "1 point"


def test_a_number_and_the_ends_of_its_interval_have_the_digits_that_its_width_can_tell() -> None:
    told = [
        wording.with_interval({"estimate": value, "low": low, "high": high, "unit": unit})
        for value, low, high, unit in (
            (-0.0082, -0.011, -0.00536, "percent"),
            (0.105, 0.0907, 0.12, "percent"),
            (-0.0001, -0.013, 0.012, "points"),
            (31.0, 4.0, 58.0, "plain"),
            (3.0, 3.0, 3.0, "plain"),
            (0.5, -np.inf, 0.9, "plain"),
            (0.5, np.nan, np.nan, "points"),
        )
    ]
    assert told[:4] == [
        "-0.82 % (-1.10 to -0.54)",
        "10.5 % (9.1 to 12.0)",
        "0.0 points (-1.3 to 1.2)",
        "31 (4 to 58)",
    ]
    assert told[4:] == ["3 (3 to 3)", "0.5 (-inf to 0.9)", f"50 points ({wording.UNKNOWN} to {wording.UNKNOWN})"]


def test_a_share_has_its_interval_in_brackets_where_that_is_known() -> None:
    none = (np.nan, np.nan)
    assert wording.bracketed(0.0123, (0.01, 0.015)) == "+1.23 [+1.00, +1.50]"
    assert wording.bracketed(0.0123, (0.01, 0.015), "%") == "+1.23 % [+1.00 %, +1.50 %]"
    assert wording.bracketed(-0.5, none, wording.unit_of("text")) == "-50.00 points"
    assert wording.bracketed(np.nan, none, "%") == wording.UNKNOWN
