"""Resamples of test texts: number 0 is the test set, the others are what single texts say they are."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import replicates
from descent.analysis.keys import CELL
from descent.analysis.select import mean, measured, select
from descent.analysis.trials import accuracy_columns
from descent.tasks.text.data import Tokens
from descent.tasks.text.evaluate import _replicates
from descent.tasks.text.sweep import TextSweep
from tests.fakes.text import BUDGET, TEXTS, cells, evaluate_text, text_params, train_text

SHORT = {f"{BUDGET}.seeds": [0], f"{BUDGET}.models.ut_text.layers": [2]}


def test_resample_0_is_the_test_set(tokens: Tokens) -> None:
    params = text_params(SHORT)
    train_text(params, "ut_text")
    known = measured(evaluate_text(params, "ut_text"))
    columns = accuracy_columns(known, params)
    names = ["area", "accuracy_in_distribution", "accuracy_out_of_distribution", "ratio_mean", "ratio_below_one"]
    for name in names:
        first = mean(select(known, metric=f"{name}_replicate", bin=0.0))
        pd.testing.assert_series_equal(first, columns[name], check_names=False, rtol=1e-6)
    losses = select(known, metric="loss", split="test")
    losses = losses[losses["gamma"] == losses["eps"]].sort_values("layer")
    falls = losses.groupby(CELL)["value"].agg(lambda f: float((np.diff(f) < 0).all()))
    pd.testing.assert_series_equal(mean(select(known, metric="descending_replicate", bin=0.0)), falls)
    assert set(select(known, metric="test_items")["value"]) == {float(TEXTS["test"])}


def test_a_resample_weighs_each_text_as_often_as_it_was_drawn() -> None:
    params, cell, texts = text_params(), cells("ut_text")[0], 5
    rng = np.random.default_rng(0)
    hits = rng.random((3, 1, 2, texts)) < 0.5
    own = rng.gamma(2.0, 0.5, (1, 3, 2, texts)).astype(np.float32)
    found = TextSweep(np.zeros((3, 1, 3)), np.zeros((3, 1, 3)), hits, own)
    levels = [0.0, 1.0, 2.0]
    rows = pd.DataFrame(_replicates(params, cell, found, levels, 0))
    resamples = replicates.counts(cell.dataset, texts, params.text.evaluation)
    for number, drawn in enumerate(resamples):
        each = [index for index, times in enumerate(drawn) for _ in range(times)]
        row = rows[rows["bin"] == number].set_index("metric")["value"]
        accuracy = hits[:, 0][:, :, each].mean(axis=(1, 2))
        assert row["area_replicate"] == pytest.approx(np.trapezoid(accuracy, levels))
        f = own[0][:, :, each].mean(axis=(1, 2))
        assert row["descending_replicate"] == float((np.diff(f) < 0).all())
        ratios = (own[0, 1:] / own[0, :-1])[:, :, each]
        assert row["ratio_mean_replicate"] == pytest.approx(ratios.mean(), rel=1e-5)
        assert row["ratio_below_one_replicate"] == pytest.approx((ratios < 1).mean())
