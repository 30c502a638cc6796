"""The scorecard: what becomes of every claim on made-up results, and that pairs and facts alone say the same."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis import grounds, scorecard
from descent.analysis.claims import CLAIMS
from descent.analysis.keys import VARIANT
from descent.analysis.select import select
from descent.analysis.verdicts import VERDICTS, exact_share
from descent.config import Params
from tests.fakes.evidence import Made, everything, real_params
from tests.fakes.results import change, fake_params, fake_results

GAINS = ["video_ood", "text_ood", "lm_ood", "alpha_ood"]


def card(results: pd.DataFrame, params: Params | None = None) -> pd.DataFrame:
    return scorecard.scorecard(results, params or real_params()).set_index("claim")


@pytest.fixture(scope="module")
def clear() -> pd.DataFrame:
    return everything(gain=0.05, cost=0.0)


@pytest.fixture(scope="module")
def judged(clear: pd.DataFrame) -> pd.DataFrame:
    return card(clear)


@pytest.mark.slow
def test_every_claim_of_the_papers_file_has_its_row(judged: pd.DataFrame) -> None:
    paper = pd.read_csv(scorecard.PAPER)
    assert judged.index.tolist() == paper["claim"].tolist() and set(judged.index) == set(CLAIMS)
    assert judged.reset_index().columns.tolist() == scorecard.COLUMNS and judged["verdict"].isin(VERDICTS).all()
    assert judged[["statement", "paper", "source", "shown_in"]].notna().all(axis=None)
    assert judged.index[judged["group"] == "primary"].tolist() == [
        "video_ood",
        "video_cost",
        "text_ood",
        "text_cost",
        "alpha_ood",
        "lm_ood",
    ]


def test_the_smallest_effects_are_the_protocols(judged: pd.DataFrame) -> None:
    expected = {"video_ood": 0.01, "video_cost": 0.015, "text_cost": 0.005, "alpha_ood": 0.02, "lm_ood": 0.01}
    expected |= {"descent_video": 0.9, "dual_lr": 0.01, "sample_share": 0.05, "sample_mean": 0.05}
    assert judged["effect"][list(expected)].to_dict() == expected
    # a setting of UT, half a point, and two of encoders, a point each
    assert judged.loc["text_ood", "effect"] == pytest.approx((0.005 + 2 * 0.01) / 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gain", "cost", "gains", "costs"),
    [
        (0.05, 0.0, "reproduced", "reproduced"),
        (-0.05, 0.03, "reversed", "not reproduced"),
        (0.0, 0.0, "no effect of interest", "reproduced"),
    ],
)
def test_clear_cases(gain: float, cost: float, gains: str, costs: str) -> None:
    found = card(everything(gain=gain, cost=cost))["verdict"]
    assert found[GAINS].tolist() == 4 * [gains]
    assert found[["video_cost", "text_cost", "lm_cost", "alpha_cost"]].tolist() == 4 * [costs]
    assert found["dual_lr"] == "reproduced" and found["no_descent_video"] == "reproduced"


@pytest.mark.slow
def test_equal_arms_never_reproduce_a_gain() -> None:
    """The same cells under both names: no effect, no seed that differs, all settings tied."""
    rows = everything(gain=0.0)
    rows = rows[rows["experiment"] != "alpha"]
    scores = rows["metric"].str.endswith("_replicate") | rows["metric"].isin(["rmse", "accuracy"])
    keys = [name for name in rows if name not in ("value", "arm", "varied")]
    rows.loc[scores, "value"] = rows[scores].groupby(keys)["value"].transform("first")
    found = card(rows)
    assert found.loc[["video_ood", "text_ood", "lm_ood"], "verdict"].tolist() == 3 * ["no effect of interest"]
    assert found.loc["video_wins", "estimate"] == found.loc["text_wins", "estimate"] == 0.5, "ties count half"
    assert found.loc[["video_wins", "text_wins"], "verdict"].tolist() == 2 * ["cannot tell"]
    assert found.loc["sample_share", "verdict"] == "no effect of interest"


@pytest.mark.slow
def test_a_coin_tells_nothing() -> None:
    found = card(everything(gain=0.0, noise=0.2))
    assert not found["verdict"][[*GAINS, "video_depth", "sample_share"]].isin(["reproduced", "reversed"]).any()
    assert found.loc[[*GAINS, "video_cost", "text_cost"], "verdict"].tolist() == 6 * ["cannot tell"]


@pytest.mark.slow
def test_an_arm_that_diverges_in_one_seed_loses_a_gain(clear: pd.DataFrame, judged: pd.DataFrame) -> None:
    lost = clear.copy()
    change(lost, 1.0, experiment="video", arm="constrained", seed=3, metric="diverged")
    found = card(lost)
    assert (
        judged.loc["video_ood", "verdict"] == "reproduced" and found.loc["video_ood", "verdict"] == "cannot tell"
    )
    assert found.loc["video_ood", "why"] == "" and found.loc["video_ood", "estimate"] < 0
    assert found.loc["descent_video", "estimate"] == 0, "no setting of which all seeds descend"
    assert found.loc["video_ood", ["seeds", "settings"]].tolist() == [8, 8]


@pytest.mark.slow
def test_descent_counts_settings_of_which_all_seeds_descend(clear: pd.DataFrame) -> None:
    one = clear.copy()
    place = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 3}
    change(one, 0.0, **place, arm="constrained", seed=5, metric="descending_replicate")
    change(one, 1.0, **place, arm="unconstrained", metric="descending_replicate")
    for seed in range(4):
        change(one, 0.0, **place, arm="unconstrained", metric="descending_replicate", seed=seed)
    found = card(one)
    assert found.loc["descent_video", "words"] == "7 of 8 settings"
    assert found.loc["no_descent_video", "words"] == "7.5 of 8 settings", "half of one's seeds"
    low, high = exact_share(7, 8, 0.95)
    assert found.loc["descent_video", ["low", "high"]].tolist() == [low, high]


@pytest.mark.slow
def test_descent_is_reproduced_with_thirty_six_of_thirty_six_settings() -> None:
    data, models = ("avenue", "ucsd", "shanghaitech"), ("ut", "dust", "dust_per_layer", "dust_shared")
    results = Made(6).video(models=models, datasets=data, layers=(3, 5, 7)).table()
    assert card(results).loc["descent_video", "verdict"] == "reproduced"
    fewer = results[~((results["model"] == "dust") & (results["layers"] == 7) & (results["dataset"] == "ucsd"))]
    assert card(fewer).loc["descent_video", ["words", "verdict"]].tolist() == ["35 of 35 settings", "cannot tell"]


@pytest.mark.parametrize("gain", [0.03, -0.03])
def test_the_farthest_two_dual_rates_decide(gain: float) -> None:
    made = Made(6).accuracy("text", "imdb", "roberta")
    made.accuracy("dual_lr", "imdb", "roberta", gain=gain, varied=("0.1", "0.01"))
    made.accuracy("dual_lr", "imdb", "roberta", gain=0.0, varied=("0.001", "0.01"))
    rows = made.table()
    rows = rows.drop_duplicates([name for name in rows if name != "value"])
    found = card(rows).loc["dual_lr"]
    assert found["verdict"] == "not reproduced" and found["estimate"] == pytest.approx(0.03, abs=2e-3)
    assert found["words"] == "farthest from zero of 3 differences"


def test_a_difference_that_lies_beyond_the_margin_is_not_hidden_by_a_less_certain_one() -> None:
    claim, apart = CLAIMS["dual_lr"], np.linspace(-1, 1, 6)
    by_setting = {"0.1": 0.0214 + 0.002 * apart, "0.01": 0.033 + 0.04 * apart}
    rows = [
        {name: "" for name in VARIANT} | {"varied": varied, "seed": seed, "resample": resample, "effect": effect}
        for varied, effects in by_setting.items()
        for seed, effect in enumerate(effects)
        for resample in range(17)
    ]
    own, fact = pd.DataFrame(rows), {"effect": claim.effect, "resampled": 100}
    for turned in (own, own.assign(effect=-own["effect"])):
        alone = (turned[turned["varied"] == varied] for varied in by_setting)
        both, sure, unsure = (scorecard._farthest(claim, fact, found) for found in (turned, *alone))
        assert sure["low"] > claim.effect > unsure["low"] and unsure["high90"] > sure["high90"]
        assert both["low"] == sure["low"]


def test_of_one_seed_the_farthest_difference_is_that_of_the_largest_estimate() -> None:
    by_setting = {"0.1 - 0.01": -0.02, "1.0 - 0.01": -0.19, "1.0 - 0.1": -0.17}
    rows = [
        {name: "" for name in VARIANT} | {"varied": varied, "seed": 0, "resample": resample, "effect": effect}
        for varied, effect in by_setting.items()
        for resample in range(17)
    ]
    found = scorecard._farthest(CLAIMS["dual_lr"], {"effect": 0.01, "resampled": 100}, pd.DataFrame(rows))
    assert found["estimate"] == pytest.approx(0.19) and np.isnan(found["low"])


def test_exploratory_claims_are_corrected_among_those_that_could_be_tested(judged: pd.DataFrame) -> None:
    tested = judged[(judged["group"] == "exploratory") & (judged["why"] == "") & judged["p"].notna()]
    smallest = tested["p"].idxmin()
    expected = max(len(tested) * tested.loc[smallest, "p"], tested.loc[smallest, "p_exact"])
    assert judged.loc[smallest, "p_holm"] == pytest.approx(expected) and len(tested) > 3
    assert judged.loc["video_ood_paper", "p_holm"] != judged.loc["video_ood_paper", "p_holm"]


def test_a_claim_without_a_t_takes_no_place_of_those_that_have_one_and_its_flips_stand_for_nothing() -> None:
    t, flips = [np.nan, 0.0099, 0.2, np.nan, np.nan, np.nan], [0.0078, 0.0078, 0.1, 0.5, np.nan, np.nan]
    own = pd.DataFrame({"group": "primary", "why": "", "p": t, "p_exact": flips})
    expected = [np.nan, 6 * 0.0099, 5 * 0.2, np.nan, np.nan, np.nan]
    assert scorecard._adjusted(own).tolist() == pytest.approx(expected, nan_ok=True)


def test_primary_claims_are_a_family_of_six_whether_tested_or_not(clear: pd.DataFrame) -> None:
    video = card(clear[clear["experiment"].isin(["video", "plateau_ut", "plateau_dust"])])
    assert video.loc[["text_ood", "lm_ood"], "verdict"].tolist() == 2 * ["not tested"]
    assert video.loc[["video_ood", "video_cost"], "p_holm"].tolist() == pytest.approx([6 * 2 / 2**8] * 2)


@pytest.mark.slow
def test_the_papers_own_number_in_or_out_of_the_prediction_interval(judged: pd.DataFrame) -> None:
    table = pd.read_csv(scorecard.PAPER.parent / "table3_video_rmse.csv").query(
        "epsilon == 0.13 and model == 'UT'"
    )
    gains = np.sort(np.log(table["unconstrained"] / table["constrained"]))
    cut = len(gains) // 4
    assert judged.loc["video_ood", "paper_value"] == pytest.approx(gains[cut : len(gains) - cut].mean())
    row = card(everything(gain=float(judged.loc["video_ood", "paper_value"]))).loc["video_ood"]
    assert row["paper_inside"] and row["prediction_low"] < row["paper_value"] < row["prediction_high"]
    assert not judged.loc["video_ood", "paper_inside"] and pd.isna(judged.loc["text_ood", "paper_inside"])


def test_the_papers_counts_are_those_of_its_tables(judged: pd.DataFrame) -> None:
    paper = pd.read_csv(scorecard.PAPER).set_index("claim")["paper"]
    for claim, file, sign in (("video_wins", "table3_video_rmse", 1), ("text_wins", "table4_text_auc", -1)):
        table = pd.read_csv(scorecard.PAPER.parent / f"{file}.csv")
        better = sign * (table["unconstrained"] - table["constrained"])
        wins, ties = int((better > 0).sum()), int((better == 0).sum())
        assert paper[claim] == f"{100 * wins / len(table):.0f} % ({wins} of {len(table)} settings)"
        assert judged.loc[claim, "paper_value"] == (wins + ties / 2) / len(table)


@pytest.mark.slow
def test_pairs_and_facts_alone_give_the_same_scorecard_again(clear: pd.DataFrame, tmp_path: Path) -> None:
    params = real_params()
    grounds.save(*grounds.of_results(clear, params), tmp_path)
    again = scorecard.judged(*grounds.load(tmp_path))
    pd.testing.assert_frame_equal(again, scorecard.scorecard(clear, params))


@pytest.mark.slow
def test_a_model_that_fails_a_precondition_is_left_out_and_named(clear: pd.DataFrame) -> None:
    """The other models decide, with their own settings and items; where none is left the claim is not tested."""
    rows = clear[clear["experiment"] != "plateau_dust"]
    lost = {"experiment": "video", "model": "dust", "arm": "constrained", "metric": "diverged"}
    rows.loc[select(rows, **lost).index, "value"] = 1.0
    pairs, facts = grounds.of_results(rows, real_params())
    found = scorecard.judged(pairs, facts).set_index("claim").loc["video_ood"]
    assert found[["verdict", "settings", "why"]].tolist() == ["reproduced", 4, ""]
    assert found["estimate"] == pytest.approx(0.05, abs=2e-3)
    said = "trimmed mean over 4 settings; left out: dust on avenue (0 of 16 constrained cells are feasible on"
    assert found["words"].startswith(said) and "no study of twice the epochs of dust" in found["words"]
    models = select(scorecard.by_model(pairs, facts), claim="video_ood")
    [ut], dust = (select(models, model=name).to_dict("records") for name in ("ut", "dust"))
    assert ut["why"] == "" and ut["estimate"] == found["estimate"]
    assert [row["datasets"] for row in dust] == ["avenue", "ucsd"], "each data set on which it fails by itself"
    assert all("no study" in row["why"] and row["estimate"] < -1 for row in dust)
    none = card(rows[rows["experiment"] != "plateau_ut"]).loc["video_ood"]
    assert none["verdict"] == "not tested" and "epochs of ut" in none["why"] and "epochs of dust" in none["why"]


@pytest.mark.slow
def test_the_demo_gets_no_verdict_but_its_numbers(tmp_path: Path) -> None:
    params = fake_params()
    results = fake_results(params)
    found = card(results, params)
    assert set(found["verdict"]) == {"not tested"} and set(found["why"]) == {"synthetic data"}
    assert found.loc["text_ood", "estimate"] > 0 and found.loc["text_ood", "low"] < found.loc["text_ood", "high"]


@pytest.mark.slow
def test_a_few_seeds_have_numbers_and_no_verdict(clear: pd.DataFrame) -> None:
    found = card(clear[clear["seed"] < 3])
    assert set(found["verdict"]) == {"not tested"}
    assert found.loc["video_ood", "why"] == "3 seeds, and 8 are needed" and found.loc["video_ood", "low"] > 0
    one = card(clear[clear["seed"] < 1]).loc["video_ood"]
    assert one["estimate"] == pytest.approx(0.05, abs=5e-3) and np.isnan(one["low"])


@pytest.mark.slow
def test_each_data_set_is_judged_alone_as_a_run_of_it_would_be() -> None:
    gains = {"avenue": 0.05, "ucsd": -0.05}
    rows = pd.concat([Made().video(gain=gain, datasets=(name,)).table() for name, gain in gains.items()])
    params = real_params({"video.datasets": list(gains), "text.datasets": ["imdb"]})
    found = scorecard.by_dataset(rows, params).set_index(["dataset", "claim"])
    assert found["verdict"].xs("video_ood", level="claim").to_dict() == {
        "avenue": "reproduced",
        "ucsd": "reversed",
    }
    alone = card(select(rows, dataset="ucsd"), real_params({"video.datasets": ["ucsd"]}))
    pd.testing.assert_frame_equal(found.loc["ucsd"][alone.columns], alone)
    one = real_params({"video.datasets": ["ucsd"], "text.datasets": ["imdb"]})
    assert scorecard.by_dataset(rows, one).empty, "that would be all of it"


def test_without_rows_nothing_is_tested(clear: pd.DataFrame) -> None:
    found = card(select(clear, arm="zero"))
    assert set(found["verdict"]) == {"not tested"} and set(found["words"]) == {"nothing to compare"}
    assert found["estimate"].isna().all() and found["why"].ne("").all()
