"""Tables of gains as the report tells them, from rows made by hand."""

import numpy as np
import pandas as pd

from descent.published import gains
from tests.fakes.evidence import real_params


def test_accuracy_by_kind_of_text_is_a_row_each_with_our_arm_s_gain() -> None:
    row = {"dataset": "mnli", "model": "ut_text", "tested": "fiction", "accuracy": 0.4321}
    rows = [
        row | {"arm": "constrained", "effect": 0.012, "low": -0.003, "high": 0.027},
        row | {"arm": "unconstrained", "accuracy": 0.4201, "effect": np.nan, "low": np.nan, "high": np.nan},
    ]
    ours, theirs = gains.kinds(pd.DataFrame(rows), real_params()).splitlines()[2:]
    assert ours.endswith("| fiction | 43.2 % | +1.20 points [-0.30 points, +2.70 points] |") and "MNLI" in ours
    assert theirs.endswith("| fiction | 42.0 % | – |")  # noqa: RUF001
    assert gains.kinds(pd.DataFrame(rows[:0]), real_params()) == ""


def test_gains_by_the_number_of_epochs_are_a_row_each_with_the_losses_of_both_arms() -> None:
    place = {"dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13, "seeds": 3, "lost": 1}
    gain = {"gain_out": 0.05, "gain_out_low": 0.04, "gain_out_high": 0.06}
    gain |= {"gain_in": -0.01, "gain_in_low": np.nan, "gain_in_high": np.nan}
    loss = {"validation_loss_ours": 0.0123456, "validation_loss_baseline": 0.01}
    row = place | gain | loss | {"descending_ours": 1.0, "descending_baseline": 0.25}
    rows = pd.DataFrame([row | {"epochs": 5}, row | {"epochs": 10, "gain_out": -0.02}])
    first, second = gains.by_epochs(rows, real_params()).splitlines()[2:]
    told = "| 5 | 3 | 1 | +5.00 % [+4.00 %, +6.00 %] | -1.00 % | 0.01235 | 0.01 | 100% | 25% |"
    assert first.startswith("| UCSD | UT | 3 | 0.13 | 5 |") and first.endswith(told)
    assert "| 10 | 3 | 1 | -2.00 % [" in second
    missing = {name: np.nan for name in (*gain, *loss, "descending_ours", "descending_baseline")}
    none = pd.DataFrame([row | missing | {"epochs": 5, "seeds": 0}])
    (empty,) = gains.by_epochs(none, real_params()).splitlines()[2:]
    assert empty.endswith("| 5 | 0 | 1 |" + " – |" * 6)  # noqa: RUF001
    assert gains.by_epochs(rows[:0], real_params()) == ""
