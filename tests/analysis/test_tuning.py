"""The list of trials of learning rates, and P6 by it, on tables made by hand."""

import math

import pandas as pd
import pytest

from descent.analysis import tuning
from descent.cells import Cell, study_cells
from descent.errors import UserError
from descent.tasks.common.items import setting
from tests.fakes.results import fake_params

CELL = {"dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13, "seed": 100}
STUDY = {"task": "video", "layers": 3, "eps": 0.13, "vary": "lr", "overrides": {}} | {
    "dataset": "ucsd",
    "model": "ut",
    "arm": "constrained",
    "beside": ["unconstrained"],
}


def cell(arm: str, lr: float, loss: float, worst: float = 0.0, experiment: str = "rates_ut") -> dict:
    own = {"experiment": experiment, "arm": arm, "lr": lr, "validation_loss": loss, "worst_violation": worst}
    return CELL | own | {"diverged": math.isnan(loss)}


TRIED = [
    cell("constrained", 0.01, math.nan, math.nan),
    cell("constrained", 0.004, 1.0, 0.3),
    cell("constrained", 0.002, 3.0, 0.01),  # within the tolerance
    cell("constrained", 0.001, 4.0, -0.2),
    cell("unconstrained", 0.01, math.nan, math.nan),
    cell("unconstrained", 0.004, 1.0, 0.3),
    cell("unconstrained", 0.002, 0.5, 0.9),
    cell("unconstrained", 0.001, 4.0, 0.0),
    cell("constrained", 0.002, 9.0, experiment="video") | {"seed": 8},
    cell("unconstrained", 0.004, 9.0, experiment="video") | {"seed": 8},
]


def test_trials_are_ranked_by_violation_first_in_the_arm_that_enforces_and_by_loss_in_the_other() -> None:
    found = tuning.trials(pd.DataFrame(TRIED), fake_params())
    ours, theirs = (found[found["arm"] == arm] for arm in ("constrained", "unconstrained"))
    assert ours["lr"].tolist() == [0.002, 0.001, 0.004, 0.01] and ours["place"].tolist() == [1, 2, 3, 4]
    assert ours["missed"].tolist()[:3] == pytest.approx([0, 0, 0.28])
    assert theirs["lr"].tolist() == [0.002, 0.004, 0.001, 0.01] and not theirs["missed"].any()
    assert ours["used"].tolist() == [True, False, False, False]
    assert theirs["used"].tolist() == [False, True, False, False], "the grid has not the best of these trials"
    assert found["diverged"].tolist() == [False, False, False, True] * 2


def test_seeds_of_a_rate_are_one_trial() -> None:
    rows = [TRIED[5], TRIED[5] | {"seed": 101, "validation_loss": 3.0}]
    (told,) = tuning.trials(pd.DataFrame(rows), fake_params()).to_dict("records")
    assert (told["seeds"], told["validation_loss"], told["used"]) == (2, 2.0, False)
    assert told["standard_error"] == pytest.approx(1.0), "of 1 and 3, whose deviation is the root of 2"


def test_arms_with_unequal_trials_were_not_tuned_alike() -> None:
    def said(rows: list[dict]) -> str:
        return tuning.uneven(pd.DataFrame(rows), fake_params(), "ut")

    assert said(TRIED) == "" and said(TRIED[-2:]) == "", "of a model without a list nothing is said"
    assert said(TRIED[1:]) == "unequal trials of the rate of ut: 3 of constrained, 4 of unconstrained"
    assert said(TRIED[:4]) == "unequal trials of the rate of ut: 4 of constrained, 0 of unconstrained"
    assert said([*TRIED, cell("constrained", 1.0, 1.0) | {"model": "dust"}]) == "", "another model's"


def test_arms_with_as_many_trials_at_unlike_rates_were_not_tuned_alike() -> None:
    def said(*rows: dict) -> str:
        return tuning.uneven(pd.DataFrame(rows), fake_params(), "ut")

    begin = "the arms of ut tried unlike rates, or unlike numbers of seeds (in brackets): "
    assert said(*TRIED[:3], *TRIED[5:8]) == begin + "0.01 (1) of constrained, 0.001 (1) of unconstrained"
    again = TRIED[1] | {"seed": 101}
    assert said(*TRIED, again) == begin + "0.004 (2) of constrained, 0.004 (1) of unconstrained"
    assert said(*TRIED, again, again | {"arm": "unconstrained"}) == ""


def test_trials_of_unlike_seeds_or_of_those_that_are_compared_were_no_trials() -> None:
    def said(*rows: dict) -> str:
        return tuning.uneven(pd.DataFrame(rows), fake_params(), "ut")

    other = [row | {"seed": 101} if row["arm"] == "unconstrained" else row for row in TRIED[:8]]
    assert said(*other) == "the arms of ut were tried with unlike seeds"
    seed = TRIED[0]["seed"]
    assert (
        said(*TRIED[:9], TRIED[9] | {"seed": seed}) == f"rates of ut were tried with seeds that pairs have: {seed}"
    )
    assert said(*TRIED[:9], TRIED[9] | {"seed": seed, "dataset": "avenue"}) == "", "of other data they are others"
    assert said(*TRIED[:9], TRIED[9] | {"seed": seed, "arm": "replay"}) == "", "an arm that is not compared"


def test_a_study_of_rates_trains_every_arm_at_every_rate_and_changes_nothing_else() -> None:
    own = {"values": [0.001, 0.004], "seeds": [100]}
    params = fake_params({"study.rates_ut": STUDY, "profiles.demo.studies.rates_ut": own})
    study, cells = params.studied("rates_ut"), study_cells(params, "rates_ut")
    arms = ["unconstrained", "constrained"]
    assert [(c.arm, c.varied, c.seed) for c in cells] == [(a, v, 100) for a in arms for v in ("0.001", "0.004")]
    for each in cells:
        before = params.objective(each.arm, "ucsd", "ut")
        after = params.objective(each.arm, "ucsd", "ut", study.replaced(each.arm, each.varied))
        assert after == before | {"lr": float(each.varied)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"beside": ["constrained"]}, "constrained stands in beside too"),
        ({"named": {"one": {"margin": 0.1}}}, "named and vary both say what is varied"),
    ],
)
def test_a_study_of_rates_that_would_train_twice_or_say_two_things_is_refused(changes: dict, said: str) -> None:
    own = {"values": [0.001], "seeds": [100]}
    params = fake_params({"study.rates_ut": STUDY | changes, "profiles.demo.studies.rates_ut": own})
    with pytest.raises(UserError, match=rf"study.rates_ut is not right:\n  {said}"):
        params.studied("rates_ut")


@pytest.mark.parametrize("rate", [0.0, -0.001, "quick", math.inf])
def test_a_rate_that_is_none_is_one_sentence(rate: object) -> None:
    with pytest.raises(UserError, match=r"objectives\.constrained of ut on ucsd"):
        setting(fake_params(), Cell("rates_ut", "ucsd", "ut", "constrained", 3, 0.13, 100), {"lr": rate})


def test_what_else_a_study_of_rates_replaces_is_the_varied_arms_alone() -> None:
    changed = STUDY | {"overrides": {"margin": 0.5}}
    own = {"values": [0.001], "seeds": [100]}
    params = fake_params({"study.rates_ut": changed, "profiles.demo.studies.rates_ut": own})
    study = params.studied("rates_ut")
    assert study.replaced("constrained", "0.001") == {"margin": 0.5, "lr": 0.001}
    assert study.replaced("unconstrained", "0.001") == {"lr": 0.001}
