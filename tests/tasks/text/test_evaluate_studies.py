"""The rows that a study of texts gives: of its own constraints, under one shift, shared where they can be."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis.select import TRAINED, measured
from descent.errors import UserError
from descent.tasks.text.data import Tokens
from tests.fakes.text import BUDGET, SHORT, scored, text_params, train_text


def test_a_stale_or_missing_cell_is_refused_and_a_study_is_scored(tokens: Tokens) -> None:
    with pytest.raises(UserError, match="is missing: run `dvc repro`"):
        scored("ut_text")
    train_text(text_params(SHORT), "ut_text")
    rates = {f"{BUDGET}.models.ut_text.arms": {"constrained": {"dual_lr": 0.06}}}
    for changes in ({"objectives.constrained.models.ut_text.alpha": 0.3}, rates):
        with pytest.raises(UserError, match="trained with other parameters"):
            scored("ut_text", **changes)
    item = train_text(text_params(SHORT), "alpha")
    table = scored("alpha")
    assert set(table["experiment"]) == {"alpha"} and set(table["varied"]) == {"", "0.05", "0.1"}
    alpha = table.query("metric == 'alpha'").set_index("varied")["value"].to_dict()
    assert alpha == {"0.05": 0.05, "0.1": 0.1} and len(item.cells) == 3


def test_a_study_is_scored_under_the_shift_of_training_alone(tokens: Tokens) -> None:
    shifts = {f"{BUDGET}.shifts": [TRAINED, "laplace"]}
    for word in ("ut_text", "alpha"):
        train_text(text_params(SHORT | shifts), word)
    assert set(measured(scored("ut_text", **shifts))["shift"]) == {TRAINED, "laplace"}
    assert set(measured(scored("alpha", **shifts))["shift"]) == {TRAINED}


def test_a_study_is_held_to_the_constraints_that_it_varies(tokens: Tokens) -> None:
    train_text(text_params(SHORT), "alpha")
    table = scored("alpha").query("metric in ('loss', 'violation') and split == 'test' and gamma == 0.4")
    for varied, alpha in (("", 0.1), ("0.05", 0.05), ("0.1", 0.1)):
        own = table[table["varied"] == varied].pivot(index="layer", columns="metric", values="value")
        ratios = (own["loss"] / own["loss"].shift()).iloc[1:]
        np.testing.assert_allclose(own["violation"].iloc[1:], ratios - (1 - alpha), atol=1e-6)


def test_experiments_that_share_cells_share_their_scores(tokens: Tokens) -> None:
    train_text(text_params(SHORT), "ut_text")
    main = scored("ut_text")
    files = set(Path(".cells/scores").iterdir())
    train_text(text_params(SHORT), "dual_lr")
    table = scored("dual_lr")
    assert len(set(Path(".cells/scores").iterdir()) - files) == 1, "the other value"
    why = ["experiment", "varied"]
    same = table[table["varied"] == "0.05"].drop(columns=why).reset_index(drop=True)
    shared = main.query("eps == 0.4 and arm == 'constrained'").drop(columns=why).reset_index(drop=True)
    pd.testing.assert_frame_equal(same, shared)
    assert set(table["experiment"]) == {"dual_lr"} and set(main["varied"]) == {""}
