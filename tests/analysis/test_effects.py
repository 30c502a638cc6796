"""From rows to pairs: each effect by hand, lost cells, and pairs that lack an arm."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import effects
from descent.analysis.claims import CLAIMS
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from tests.fakes.evidence import GAMMAS, LOG_RMSE, RESAMPLES, TEXT_GAMMAS, ZERO_RMSE, Made, everything, real_params
from tests.fakes.results import change

LOST = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 3, "seed": 1}


def of(results: pd.DataFrame, claim: str, **where: object) -> pd.DataFrame:
    return select(effects.of_claim(claim, Evidence(results, real_params())), **where)


@pytest.fixture(scope="module")
def made_up() -> pd.DataFrame:
    return everything(seeds=6, gain=0.05, cost=0.01)


@pytest.fixture(scope="module")
def found(made_up: pd.DataFrame) -> pd.DataFrame:
    return effects.pairs(made_up, real_params())


def test_every_claim_has_its_measure_and_every_pair_its_columns(found: pd.DataFrame) -> None:
    assert list(effects.MEASURES) == list(CLAIMS) and list(found.columns) == effects.COLUMNS
    without = {"video_ood_paper", "video_cost_paper", "video_ood_vit", "video_cost_vit", "text_size"}
    assert set(found["claim"]) == set(CLAIMS) - without
    assert not found.duplicated(effects.COLUMNS[:-1]).any() and found["effect"].notna().all()


def test_a_gain_is_the_log_ratio_of_errors_of_one_seed_and_one_resample(made_up: pd.DataFrame) -> None:
    rows = select(made_up, metric="log_rmse_out_of_distribution_replicate").set_index(
        ["dataset", "model", "arm", "layers", "seed", "bin"]
    )["value"]
    gain = of(made_up, "video_ood")
    assert len(gain) == 2 * 2 * 2 * 6 * (RESAMPLES + 1)
    for _, pair in gain.sample(20, random_state=0).iterrows():
        ours, theirs = (
            rows[pair["dataset"], pair["model"], arm, pair["layers"], pair["seed"], pair["resample"]]
            for arm in ("constrained", "unconstrained")
        )
        assert pair["effect"] == pytest.approx(theirs - ours)
    cost = of(made_up, "video_cost")
    assert gain["effect"].mean() == pytest.approx(0.05, abs=1e-3)
    assert cost["effect"].mean() == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("text_ood", 0.05),
        ("text_cost", 0.01),
        ("text_shifts", 0.05),
        ("lm_shifts", 0.05),
        ("lm_ood", 0.05),
        ("lm_cost", 0.01),
        ("alpha_ood", 0.05),
        ("alpha_cost", 0.01),
        ("sample_share", 0.05),
        ("sample_mean", 0.05),
        ("sample_median", 0.05),
        ("video_depth", 0.0),
        ("descent_video", 1.0),
        ("no_descent_video", 1.0),
        ("descent_text", 1.0),
        ("text_wins", 0.05 * 2),
        ("dual_lr", 0.0),
    ],
)
def test_what_each_claim_measures(found: pd.DataFrame, claim: str, expected: float) -> None:
    assert select(found, claim=claim)["effect"].mean() == pytest.approx(expected, abs=2e-3)


def test_wins_are_of_the_mean_error_over_the_whole_sweep(found: pd.DataFrame) -> None:
    inside = np.array(sorted(GAMMAS)) <= 0.13
    ours, theirs = (
        np.where(inside, np.exp(LOG_RMSE["in"] + cost), np.exp(LOG_RMSE["out_of"] - gain)).mean()
        for cost, gain in ((0.01, 0.05), (0.0, 0.0))
    )
    wins = select(found, claim="video_wins")
    assert set(wins["resample"]) == {0} and np.allclose(wins["effect"], np.log(theirs / ours))


def test_a_lost_denoiser_scores_as_the_zero_map_whatever_rows_it_has(made_up: pd.DataFrame) -> None:
    lost = made_up.copy()
    change(lost, 1.0, **LOST, arm="constrained", metric="diverged")
    before, after = (of(rows, "video_ood", dataset="ucsd", model="ut", layers=3) for rows in (made_up, lost))
    same = after["seed"] != 1
    assert np.array_equal(before["effect"][same], after["effect"][same]) and len(before) == len(after)
    theirs = select(made_up, **LOST, arm="unconstrained", metric="log_rmse_out_of_distribution_replicate")
    expected = theirs.sort_values("bin")["value"] - np.log(ZERO_RMSE)
    np.testing.assert_allclose(after["effect"][~same], expected)
    assert (of(lost, "video_wins", dataset="ucsd", model="ut", layers=3, seed=1)["effect"] < -2).all()
    assert (of(lost, "descent_video", dataset="ucsd", model="ut", layers=3, seed=1)["effect"] == 0).all()


@pytest.mark.parametrize("claim", ["descent_video", "no_descent_video"])
def test_a_model_that_ends_at_its_cap_says_nothing_of_descent(
    claim: str, made_up: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = of(made_up, claim, model="ut")
    monkeypatch.setattr(effects, "_cap", lambda params, dataset, model: min(before["layers"]))
    deeper = before[before["layers"] > min(before["layers"])]
    assert 0 < len(deeper) < len(before)
    left = of(made_up, claim, model="ut")
    pd.testing.assert_frame_equal(left.reset_index(drop=True), deeper.reset_index(drop=True))


def test_a_baseline_that_was_lost_is_no_evidence_that_it_does_not_descend(made_up: pd.DataFrame) -> None:
    lost = made_up.copy()
    change(lost, 1.0, **LOST, arm="unconstrained", metric="diverged")
    told = of(lost, "no_descent_video", dataset="ucsd", model="ut", layers=3).set_index("seed")["effect"]
    assert told.pop(1) == 0 and (told == 1).all()


def test_a_lost_cell_without_rows_is_not_dropped_either(made_up: pd.DataFrame) -> None:
    lost = made_up.copy()
    change(lost, 1.0, **LOST, arm="constrained", metric="diverged")
    tested = select(lost, **LOST, arm="constrained", split="test").index
    pd.testing.assert_frame_equal(
        effects.pairs(lost.drop(tested), real_params()), effects.pairs(lost, real_params())
    )


def test_a_lost_classifier_guesses_and_a_lost_language_model_says_nothing_right(made_up: pd.DataFrame) -> None:
    lost = made_up.copy()
    change(lost, 1.0, experiment="text", model="ut_text", arm="constrained", seed=0, metric="diverged")
    change(lost, 1.0, experiment="lm", arm="constrained", seed=0, metric="diverged")
    for claim, experiment, model, chance in (
        ("text_ood", "text", "ut_text", 0.5),
        ("lm_ood", "lm", "causal_lm", 0.0),
    ):
        theirs = select(
            lost,
            experiment=experiment,
            model=model,
            arm="unconstrained",
            seed=0,
            metric="accuracy_out_of_distribution_replicate",
        ).sort_values("bin")["value"]
        np.testing.assert_allclose(of(lost, claim, model=model, seed=0)["effect"], chance - theirs)
    area = of(lost, "text_wins", model="ut_text", seed=0)["effect"]
    theirs = select(lost, experiment="text", model="ut_text", arm="unconstrained", seed=0, metric="area_replicate")
    expected = 0.5 * (max(TEXT_GAMMAS) - min(TEXT_GAMMAS)) - select(theirs, bin=0.0)["value"].item()
    assert area.item() == pytest.approx(expected)


def test_a_lost_cells_texts_take_no_step_down(made_up: pd.DataFrame) -> None:
    lost, where = made_up.copy(), {"experiment": "resilience", "seed": 0}
    change(lost, 1.0, **where, arm="constrained", metric="diverged")
    for claim, metric, worst, sign in (
        ("sample_mean", "ratio_mean", 1.0, -1),
        ("sample_share", "ratio_below_one", 0.0, 1),
    ):
        rows = select(lost, **where, arm="unconstrained", metric=f"{metric}_replicate").sort_values("bin")
        np.testing.assert_allclose(of(lost, claim, seed=0)["effect"], sign * (worst - rows["value"]))


def test_a_pair_without_one_arm_has_no_number(made_up: pd.DataFrame) -> None:
    gone = made_up.drop(select(made_up, **LOST, arm="unconstrained").index)
    pairs = of(gone, "video_ood")
    assert pairs[pairs["effect"].isna()][
        ["dataset", "model", "layers", "seed"]
    ].drop_duplicates().to_numpy().tolist() == [["ucsd", "ut", 3, 1]]


def test_models_of_unequal_capacity_stand_in_claims_of_their_own() -> None:
    made = Made(6).video(gain=0.01, models=("ut",)).video(gain=0.2, models=("dust",), parameters=(300, 100))
    results = made.video(gain=0.07, models=("vit",), layers=(4,)).table()
    found = effects.pairs(results, real_params())
    models = {
        claim: set(select(found, claim=claim)["model"])
        for claim in ("video_ood", "video_ood_paper", "video_ood_vit")
    }
    assert models == {"video_ood": {"ut"}, "video_ood_paper": {"dust"}, "video_ood_vit": {"vit"}}
    assert set(select(found, claim="video_wins")["model"]) == {"ut"}
    assert select(found, claim="video_ood_paper")["effect"].mean() == pytest.approx(0.2, abs=2e-3)
    assert Evidence(results, real_params()).models("patches", alike=False) == ["dust"]


def test_depth_is_the_deepest_against_the_shallowest_of_each_model() -> None:
    made = Made(6).video(gain=0.02, layers=(3,)).video(gain=0.5, layers=(5,)).video(gain=0.06, layers=(7,))
    rows = made.video(gain=0.9, models=("dust_shared",), layers=(5,)).table()
    rows = rows.drop_duplicates([name for name in rows if name != "value"])
    found = of(rows, "video_depth")
    assert set(found["layers"]) == {7} and set(found["model"]) == {"ut", "dust"}
    assert found["effect"].mean() == pytest.approx(0.04, abs=2e-3)


def test_primary_claims_are_of_the_headline_level_and_wins_of_all() -> None:
    rows = Made(6).video(gain=0.3, eps=0.13).video(gain=-0.3, eps=0.09).table()
    rows = rows.drop_duplicates([name for name in rows if name != "value"])
    assert set(of(rows, "video_ood")["eps"]) == {0.13} and of(rows, "video_ood")["effect"].min() > 0.2
    assert set(of(rows, "video_wins")["eps"]) == {0.09, 0.13}


def test_size_compares_the_largest_pretrained_encoder_with_the_smallest() -> None:
    weights = {f"profiles.demo.text.models.{name}.weights": {"path": name} for name in ("distilbert", "roberta")}
    made = Made(6).accuracy("text", "imdb", "distilbert", gain=0.02).accuracy("text", "imdb", "ut_text", gain=0.5)
    rows = made.accuracy("text", "imdb", "roberta", gain=0.1, layers=8).table()
    found = select(effects.pairs(rows, real_params(weights)), claim="text_size")
    expected = np.log(0.85 / 0.75) - np.log(0.77 / 0.75)
    assert found["effect"].mean() == pytest.approx(expected, abs=2e-3) and set(found["model"]) == {"roberta"}
    assert "text_size" not in set(effects.pairs(rows, real_params())["claim"])


def test_alpha_is_the_largest_against_the_smallest_of_three() -> None:
    made = Made(6).accuracy("alpha", "imdb", "roberta", gain=0.05, cost=-0.03, varied=("0.2", "0.02"))
    made.accuracy("alpha", "imdb", "roberta", gain=0.02, cost=-0.01, varied=("0.1", "0.02"))
    rows = made.table()
    rows = rows.drop_duplicates([name for name in rows if name != "value"])
    for claim, effect in (("alpha_ood", 0.05), ("alpha_cost", -0.03)):
        found = of(rows, claim)
        assert set(found["varied"]) == {"0.2 - 0.02"} and found["effect"].mean() == pytest.approx(effect, abs=2e-3)


def test_every_two_dual_rates_are_a_setting() -> None:
    made = Made(6).accuracy("dual_lr", "imdb", "roberta", gain=0.03, varied=("0.1", "0.01"))
    made.accuracy("dual_lr", "imdb", "roberta", gain=0.0, varied=("0.001", "0.01"))
    rows = made.table()
    rows = rows.drop_duplicates([name for name in rows if name not in ("value",)])
    found = of(rows, "dual_lr")
    assert set(found["varied"]) == {"0.01 - 0.001", "0.1 - 0.001", "0.1 - 0.01"}
    assert select(found, varied="0.1 - 0.01")["effect"].mean() == pytest.approx(0.03, abs=2e-3)


def test_no_rows_have_no_pairs(made_up: pd.DataFrame) -> None:
    assert effects.pairs(made_up[made_up["experiment"] == "none"], real_params()).empty
