"""The rows that a text item gives under other shifts: of their energy, and measured no shift twice."""

import pandas as pd
import pytest

from descent.analysis.select import TRAINED, measured
from descent.tasks.text import evaluate as evaluation
from descent.tasks.text.data import Tokens
from descent.tasks.text.sweep import TextSweep
from tests.fakes.text import BUDGET, SHORT, scored, text_params, train_text


def test_of_a_stack_that_was_ended_the_shifts_that_were_done_are_kept_and_a_new_one_is_measured_alone(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured_shifts: list[str] = []
    original = evaluation.sweep

    def ended(*arguments: object) -> TextSweep:
        measured_shifts.append(arguments[3].name)
        if len(measured_shifts) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(evaluation, "sweep", ended)
    every = [TRAINED, "laplace", "uniform"]
    three = {f"{BUDGET}.shifts": every}
    train_text(text_params(SHORT | three), "ut_text")
    with pytest.raises(KeyboardInterrupt):
        scored("ut_text", **three)
    scored("ut_text", **three)
    assert measured_shifts[3:] == ["uniform", *every], "what was left of the first arm, and the second one"
    table = scored("ut_text", **{f"{BUDGET}.shifts": [*every, "sparse"]})
    assert measured_shifts[7:] == ["sparse", "sparse"] and set(measured(table)["shift"]) == {*measured_shifts}


def test_other_shifts_of_embeddings_have_the_levels_of_their_energy_and_do_harm(tokens: Tokens) -> None:
    shifts = ["uniform", "laplace", "sparse", "token_dropout"]
    evaluation = {"text.evaluation": {"shifts": ["gaussian", *shifts]}}
    train_text(text_params(SHORT), "ut_text")
    table = scored("ut_text", **evaluation)
    plain = scored("ut_text")
    pd.testing.assert_frame_equal(table.query("shift == 'gaussian'").reset_index(drop=True), plain)
    rows = table.query("shift != 'gaussian' and metric == 'loss' and layer == layers")
    assert set(rows["shift"]) == set(shifts)
    energies = text_params(evaluation).text.evaluation.energies
    for shift, own in rows.groupby("shift"):
        assert sorted(own["gamma"].unique()) == energies, shift
    losses = rows.pivot(index=["shift", "arm", "eps"], columns="gamma", values="value")
    assert losses.nunique(axis=1).eq(len(energies)).all(), "every level has its own noise"
    by_shift = losses.groupby(["arm", "eps"]).nunique()
    assert by_shift.eq(len(shifts)).all(axis=None), "and every shift"
