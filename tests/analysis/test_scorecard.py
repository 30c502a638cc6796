"""The scorecard: its rule, its numbers on made-up results, and what it does without rows."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import scorecard
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.analysis.summary import pairs
from descent.config import Params
from tests.fakes.results import fake_params, fake_results

OOD = "rmse_out_of_distribution_replicate"


@pytest.fixture(scope="module")
def params() -> Params:
    return fake_params()


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    return fake_results(params)


@pytest.fixture
def results(made_up: pd.DataFrame) -> pd.DataFrame:
    return made_up.copy()


def card(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    return scorecard.scorecard(results, params).set_index("claim")


@pytest.mark.parametrize(
    ("low", "high", "side", "bound", "expected"),
    [
        (0.1, 0.2, "above", 0.0, "reproduced"),
        (0.1, 0.2, "below", 0.0, "not reproduced"),
        (-0.2, -0.1, "above", 0.0, "not reproduced"),
        (-0.2, -0.1, "below", 0.0, "reproduced"),
        (-0.1, 0.2, "above", 0.0, "cannot tell"),
        (0.0, 0.2, "above", 0.0, "cannot tell"),
        (0.5, 0.5, "above", 0.5, "cannot tell"),
        (np.nan, np.nan, "above", 0.0, "cannot tell"),
    ],
)
def test_the_rule(low: float, high: float, side: str, bound: float, expected: str) -> None:
    assert scorecard.verdict(low, high, side, bound) == expected


def test_every_claim_of_the_papers_file_is_measured_and_no_other(made_up: pd.DataFrame, params: Params) -> None:
    found = scorecard.scorecard(made_up, params)
    assert found["claim"].tolist() == pd.read_csv(scorecard.PAPER)["claim"].tolist()
    assert set(found["claim"]) == set(scorecard.CLAIMS) and found["verdict"].isin(scorecard.VERDICTS).all()
    assert found[["statement", "paper", "source", "shown_in"]].notna().all(axis=None)


def set_arms(results: pd.DataFrame, constrained: float, unconstrained: float, **where: object) -> None:
    for arm, value in (("constrained", constrained), ("unconstrained", unconstrained)):
        chosen = select(results, experiment="video", arm=arm, metric=OOD, **where).index
        results.loc[chosen, "value"] = value


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"), [(9.0, 10.0, "reproduced"), (10.0, 9.0, "not reproduced")]
)
def test_a_clear_win_and_a_clear_loss(
    results: pd.DataFrame, params: Params, ours: float, theirs: float, expected: str
) -> None:
    set_arms(results, ours, theirs)
    row = card(results, params).loc["video_ood"]
    assert row["verdict"] == expected and row["low"] == row["high"] == float(ours < theirs)
    pairs_shown = len(params.video.datasets) * len(params.video.models)
    assert row["words"] == f"{pairs_shown * int(ours < theirs)} of {pairs_shown} data sets and models"


def test_arms_that_overlap_tell_nothing(results: pd.DataFrame, params: Params) -> None:
    for number in range(params.video.evaluation.bootstrap + 1):
        set_arms(results, 10.0 + (-1) ** number, 10.0, bin=float(number))
    row = card(results, params).loc["video_ood"]
    assert (row["low"], row["high"], row["verdict"]) == (0.0, 1.0, "cannot tell")


def test_without_rows_nothing_can_be_told(results: pd.DataFrame, params: Params) -> None:
    found = card(results[results["experiment"] == "infeasible"], params)
    assert set(found["verdict"]) == {"cannot tell"} and set(found["words"]) == {"nothing to compare"}
    assert found["ours"].isna().all()


def test_a_data_set_of_one_clip_has_no_interval(results: pd.DataFrame, params: Params) -> None:
    chosen = select(results, experiment="video", dataset="ucsd", metric="test_items").index
    results.loc[chosen, "value"] = 1.0
    row = card(results, params).loc["video_wins"]
    assert row["verdict"] == "cannot tell" and np.isnan(row["low"]) and row["ours"] > 0.5
    assert row["items"] == "avenue 5, shanghaitech 5, ucsd 1"


def test_replicates_are_paired_across_arms(made_up: pd.DataFrame, params: Params) -> None:
    """Both arms of the made-up results move by one factor a resample, so the ratio of the arms does not move."""
    evidence = Evidence(made_up, params)
    ours, theirs = evidence.arms(evidence.mean("video", "rmse_out_of_distribution"))
    ratio = (ours / theirs).to_numpy()
    np.testing.assert_allclose(ratio, np.repeat(ratio[:, :1], ratio.shape[1], axis=1), rtol=1e-12)
    assert np.ptp(ours.to_numpy(), axis=1).min() > 0


def test_seeds_are_resampled_together_for_both_arms(made_up: pd.DataFrame, params: Params) -> None:
    rows = select(made_up, experiment="video", metric=OOD)
    many = pd.concat(
        [rows.assign(seed=seed, value=10.0 * seed + (rows["arm"] == "constrained")) for seed in (1, 2)]
    )
    evidence = Evidence(many, params)
    ours, theirs = evidence.arms(evidence.mean("video", "rmse_out_of_distribution"))
    np.testing.assert_allclose(ours - theirs, 1.0)
    assert set(theirs.iloc[0]) == {10.0, 15.0, 20.0} and (theirs[0] == 15.0).all()
    assert evidence.seeds("video") == 2


def test_of_the_resampled_trials_the_lowest_validation_loss_counts(results: pd.DataFrame, params: Params) -> None:
    cell = {"experiment": "text", "dataset": "imdb", "model": "roberta", "arm": "constrained", "eps": 0.4}
    for seed, loss, area in ((0, 3.0, 0.3), (1, 1.0, 0.1), (2, 2.0, 0.2)):
        for metric, value in (("validation_loss", loss), ("area_replicate", area)):
            results.loc[select(results, **cell, seed=seed, metric=metric).index, "value"] = value
    table = Evidence(results, params).best("text", "area")
    row = table.xs(("imdb", "roberta", "constrained", 8, 0.4, "")).to_numpy()
    assert row[0] == 0.1 and {0.1, 0.2} <= set(row) <= {0.1, 0.2, 0.3}


def test_the_mean_over_the_sweep_is_that_of_the_summary(made_up: pd.DataFrame, params: Params) -> None:
    cells = select(Evidence(made_up, params).cells, experiment="video", trained=True)
    video = pairs(cells, "mean_rmse", params.comparison)
    wins = int((video["ours"] < video["baseline"]).sum())
    assert card(made_up, params).loc["video_wins", "words"] == f"{wins} of {len(video)} settings"


def test_growth_with_depth_is_each_models_own(made_up: pd.DataFrame, params: Params) -> None:
    """A model of one depth has no growth, and does not hide that of the others."""
    before = card(made_up, params).loc["video_depth"]
    ut = select(made_up, experiment="video", model="ut", layers=3)
    more = pd.concat([made_up, ut.assign(model="of_one_depth", layers=12)], ignore_index=True)
    after = card(more, params).loc["video_depth"]
    assert before["words"] == after["words"] == "median over 18 settings" and before["ours"] == after["ours"]
    ours, theirs = (
        select(made_up, experiment="video", metric=OOD, bin=0.0, arm=arm).set_index(
            ["dataset", "model", "eps", "layers"]
        )["value"]
        for arm in ("constrained", "unconstrained")
    )
    gain = (1 - ours / theirs).unstack("layers")
    assert before["ours"] == pytest.approx((gain[5] - gain[3]).median())


def test_the_papers_counts_are_those_of_its_tables() -> None:
    paper = pd.read_csv(scorecard.PAPER).set_index("claim")["paper"]
    for claim, file, sign in (("video_wins", "table3_video_rmse", 1), ("text_wins", "table4_text_auc", -1)):
        table = pd.read_csv(scorecard.PAPER.parent / f"{file}.csv")
        wins = int((sign * table["constrained"] < sign * table["unconstrained"]).sum())
        assert paper[claim] == f"{100 * wins / len(table):.0f} % ({wins} of {len(table)} settings)"


def test_numbers_are_written_for_a_reader() -> None:
    shown = [scorecard.written(0.12345, unit) for unit in ("percent", "points", "plain")]
    assert shown == ["12.3 %", "12 points", "0.123"] and scorecard.written(np.nan, "plain") == "–"  # noqa: RUF001


def test_a_cell_that_diverged_does_not_descend_and_has_lost(results: pd.DataFrame, params: Params) -> None:
    gone = {"experiment": "video", "dataset": "ucsd", "model": "ut", "arm": "constrained", "eps": 0.13}
    cells = select(results, **gone)[["layers", "seed"]].drop_duplicates()
    replicates = select(results, **gone).query("metric.str.endswith('_replicate')").index
    before, after = card(results, params), card(results.drop(replicates), params)
    for claim in ("descent_video", "video_wins"):
        now, then = (int(table.loc[claim, "words"].split()[0]) for table in (after, before))
        assert now == then - len(cells)
        assert after.loc[claim, "words"].split()[2] == before.loc[claim, "words"].split()[2], "of as many"


def test_models_of_one_size_show_no_growth_with_it(results: pd.DataFrame, params: Params) -> None:
    assert card(results, params).loc["text_size", "words"] != "nothing to compare"
    alike = params.budget.text.models["distilbert"]
    small = fake_params({"profiles.demo.text.models.roberta": alike})
    assert card(results, small).loc["text_size", "words"] == "nothing to compare"
