"""The difference of two arms on one data set and model against the scorecard's own numbers, and by hand."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import scorecard
from descent.analysis.differences import video_gains
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from tests.fakes.results import fake_params, fake_results

ONE = {"video.datasets": ["ucsd"], "video.models": ["ut"], "profiles.demo.video.seeds": [0, 1, 2]}
FEW = ONE | {"text.datasets": [], "lm.models": [], "studies": []}


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    params = fake_params(FEW)
    results = fake_results(params)
    alike = select(results, metric="epoch").assign(metric="parameters", value=100.0)  # else no claim is made of it
    return Evidence(pd.concat([results, alike], ignore_index=True), params)


def test_of_one_data_set_and_model_it_is_the_scorecards_claim(evidence: Evidence) -> None:
    card = scorecard.scorecard(evidence.results, evidence.params).set_index("claim")
    gains = video_gains(evidence).set_index("where")
    for where, claim, sign in (("out_of", "video_ood", 1), ("in", "video_cost", -1)):
        ends = sorted(sign * card.loc[claim, ["low", "high"]].to_numpy(float))
        found = gains.loc[where, ["gain", "low", "high"]].to_numpy(float)
        assert found == pytest.approx([sign * card.loc[claim, "estimate"], *ends])
        assert gains.loc[where, "seeds"] == 3 and found[1] < found[0] < found[2]


def test_a_smaller_error_of_ours_is_a_gain_by_its_logarithm(evidence: Evidence) -> None:
    results = evidence.results.copy()
    rows = results["metric"].str.startswith("log_rmse_out_of")
    results.loc[rows, "value"] = np.where(results.loc[rows, "arm"] == "constrained", 1.0, 1.25)
    gain = video_gains(Evidence(results, evidence.params)).set_index("where").loc["out_of"]
    assert (gain["gain"], gain["low"], gain["high"]) == (0.25, 0.25, 0.25)


def test_a_seed_that_one_arm_lacks_does_not_count_and_one_seed_has_no_interval(evidence: Evidence) -> None:
    lost = select(evidence.results, arm="unconstrained", seed=2, layers=3)
    fewer = video_gains(Evidence(evidence.results.drop(lost.index), evidence.params))
    assert fewer["seeds"].tolist() == [2, 2]
    one = video_gains(Evidence(select(evidence.results, seed=0), evidence.params))
    assert (
        one["seeds"].tolist() == [1, 1]
        and one["gain"].notna().all()
        and one[["low", "high"]].isna().all(axis=None)
    )
    none = select(evidence.results, arm="constrained")
    assert video_gains(Evidence(none, evidence.params)).empty
