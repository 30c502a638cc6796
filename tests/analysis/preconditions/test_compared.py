"""P1, P2, P6, P7: what is compared is real, whole, alike and enough; each fails where it should and says why."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import effects, preconditions
from descent.analysis.briefly import in_brief
from descent.analysis.case import Case
from descent.analysis.claims import CLAIMS
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from tests.fakes.evidence import OURS, Made, real_params, why
from tests.fakes.results import change, fake_params

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("claim", ["video_ood", "video_cost", "video_wins", "descent_video", "no_descent_video"])
def test_nothing_stands_against_a_sound_run(video: pd.DataFrame, claim: str) -> None:
    assert why(video, claim) == ""


@pytest.mark.parametrize("claim", ["text_ood", "text_cost", "text_wins", "descent_text"])
def test_nothing_stands_against_sound_texts(texts: pd.DataFrame, claim: str) -> None:
    assert why(texts, claim) == ""


def test_synthetic_data_are_the_one_reason_for_every_claim_of_the_demo(video: pd.DataFrame) -> None:
    evidence = Evidence(video, fake_params())
    for name, claim in CLAIMS.items():
        case = Case(name, claim, effects.of_claim(name, evidence), evidence)
        assert preconditions.failed(case) == "synthetic data"


def test_one_generated_data_set_among_real_ones_is_synthetic(video: pd.DataFrame) -> None:
    mixed = real_params(
        {"profiles.demo.data.ucsd": {"generate": {"seed": 2, "train_clips": 4, "test_clips": 6, "frames": 60}}}
    )
    assert why(video, "video_ood", mixed) == "synthetic data"
    assert why(video[video["dataset"] != "ucsd"], "video_ood", mixed) == ""


@pytest.mark.parametrize(("claim", "least"), [("video_ood", 8), ("video_wins", 6)])
def test_too_few_seeds(video: pd.DataFrame, claim: str, least: int) -> None:
    few = video[video["seed"] < least - 1]
    assert why(few, claim) == f"{least - 1} seeds, and {least} are needed"
    assert why(video[video["seed"] < least], claim) == ""


def test_seeds_that_not_all_settings_have_do_not_count(video: pd.DataFrame) -> None:
    gone = video.drop(select(video, experiment="video", dataset="ucsd", model="ut", layers=3, seed=7).index)
    assert why(gone, "video_ood") == "7 seeds, and 8 are needed"


def test_an_arm_that_is_missing_from_a_pair(video: pd.DataFrame) -> None:
    lone = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 3, "seed": 2}
    gone = video.drop(select(video, **lone, arm="unconstrained").index)
    said = why(gone, "video_ood")
    assert (
        said.startswith("an arm is missing or has no score in 1 pairs, e.g. dataset ucsd") or "ucsd ut 3" in said
    )
    assert "7 seeds" in said


def test_arms_of_unequal_capacity(text: pd.DataFrame) -> None:
    change(text, 120, experiment="text", arm="constrained", metric="parameters")
    assert why(text, "text_ood") == "the arms differ in capacity: distilbert"
    assert "number of parameters" in why(text.drop(select(text, metric="parameters").index), "text_ood")


def test_video_pairs_of_unequal_capacity_are_for_the_papers_own_claims() -> None:
    results = Made().video(models=("dust",), parameters=(300, 100)).table()
    assert why(results, "video_ood") == "nothing to compare: no such model whose arms have equal capacity"
    assert why(results, "video_ood_paper") == ""


def test_arms_that_were_not_tuned_alike(results: pd.DataFrame) -> None:
    tried = select(results, experiment="plateau_ut", metric="epoch", layers=3, dataset="ucsd")
    tried = tried.assign(experiment="rates_ut", metric="lr", value=0.001, seed=100)  # of no pair
    assert len(tried) == 2 and why(pd.concat([results, tried]), "video_ood") == "", "one trial in either arm"
    more = tried[tried["arm"] == "constrained"].assign(value=0.004, varied="0.004")
    unequal = "unequal trials of the rate of ut: 2 of constrained, 1 of unconstrained"
    assert why(pd.concat([results, tried, more]), "video_ood") == unequal
    paired = "rates of ut were tried with seeds that pairs have: 0"
    assert why(pd.concat([results, tried.assign(seed=0)]), "video_ood") == paired
    assert in_brief(paired) == "rates tried on the seeds compared"


def test_trials_of_a_search_are_no_seeds(text: pd.DataFrame) -> None:
    change(text, 0.02, experiment="text", arm="constrained", seed=1, metric="dual_lr")
    assert why(text, "text_ood") == "seeds of constrained are trials of a search, with different hyperparameters"


def test_what_a_claim_speaks_of_must_exist(texts: pd.DataFrame) -> None:
    assert why(texts, "text_size") == "no pretrained weights of several sizes"
    results = Made().accuracy("lm", "alpaca", "causal_lm", eps=0.25).table()
    small = {"width": 64, "heads": 4, "key_value_heads": 2, "feedforward": 128}
    random = real_params({"profiles.demo.lm.models.causal_lm.weights": {"random": small}})
    assert why(results, "lm_ood", random) == "causal_lm starts from random weights"


def test_a_task_that_is_left_out_has_nothing_to_compare(video: pd.DataFrame) -> None:
    assert why(video, "text_ood") == "nothing to compare" and why(video, "dual_lr") == "nothing to compare"


@pytest.mark.slow
def test_what_one_claim_was_told_of_its_models_is_what_each_would_hear_alone(results: pd.DataFrame) -> None:
    """Answers are shared between claims; one that reads more of a claim than they are kept by would differ."""
    change(results, 0.0, **OURS, metric="active", model="ut")
    change(results, 7.0, **OURS, metric="parameters", model="dust")
    evidence = Evidence(results, real_params())
    told = set()
    for name, claim in CLAIMS.items():
        if claim.experiment == "video":
            case = Case(name, claim, effects.of_claim(name, evidence), evidence)
            alone = Case(name, claim, case.pairs, Evidence(results, real_params()))
            shared = preconditions.failed_by_place(case)
            assert shared == preconditions.failed_by_place(alone), name
            told |= {*shared.values()}
    assert len(told) > 1, "all alike: nothing could differ"


def test_whatever_kept_a_published_model_out_of_a_claim_has_a_few_words() -> None:
    facts = [pd.read_csv(path) for path in (ROOT / "data/evidence").glob("small-*/facts.csv")]
    told = pd.concat(facts).dropna(subset=["model", "why"])["why"]
    brief = {said: in_brief(said) for why in told for said in why.split("; ")}
    assert brief and not [said for said, words in brief.items() if said == words]
    assert in_brief("something else") == "something else"


def test_a_baseline_that_is_lost_is_no_success_of_constraints(results: pd.DataFrame) -> None:
    """A lost cell scores as the zero map: with two seeds of eight lost the gain would be that of the map."""
    erm = {"experiment": "video", "arm": "unconstrained", "model": "ut", "metric": "diverged"}
    change(results, 1.0, **erm, seed=6)
    assert why(results, "video_ood") == "", "one of eight may be"
    change(results, 1.0, **erm, seed=7)
    for claim in ("video_ood", "video_cost", "video_wins"):
        assert "4 of 16 unconstrained cells are lost; 20% may be" in why(results, claim)
    assert why(results, "descent_video") == "", "it says nothing of the other arm"
    assert in_brief("4 of 16 unconstrained cells are lost; 20% may be").startswith("diverged without constraints")
