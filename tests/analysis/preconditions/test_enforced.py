"""P3: the constraints hold and do something in enough cells; it fails where it should and says why."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from descent.analysis import enforced
from descent.analysis.briefly import in_brief
from descent.analysis.case import Case
from descent.analysis.claims import CLAIMS
from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.config import Params
from descent.primal_dual.constraints import relative_violations, violations
from descent.primal_dual.problem import Problem
from tests.fakes.evidence import OURS, Made, real_params, why
from tests.fakes.results import change


@pytest.mark.slow
def test_too_few_feasible_cells(results: pd.DataFrame) -> None:
    change(results, 0.0, **OURS, seed=0, metric="feasible")
    assert why(results, "video_ood") == "", "seven of eight are enough"
    change(results, 0.0, **OURS, seed=1, metric="feasible")
    assert "12 of 16 constrained cells are feasible" in why(results, "video_ood")
    assert why(results, "no_descent_video") == "", "a claim about the other arm alone"


def test_constraints_that_do_nothing(results: pd.DataFrame) -> None:
    change(results, 0.0, **OURS, metric="active", model="ut")
    assert "0 have an active constraint; 80% must" in why(results, "video_ood"), "whether of descent nobody knows"
    assert "active" in why(results.drop(select(results, metric="active").index), "video_ood")


def test_where_it_is_told_of_descent_alone_the_cap_does_not_count(results: pd.DataFrame) -> None:
    """Of parts published before there was such a row any constraint does."""
    assert why(results, "video_ood") == "" and select(results, metric="descent_active").empty
    told = select(results, metric="active").assign(metric="descent_active")
    assert why(pd.concat([results, told]), "video_ood") == ""
    change(told, 0.0, model="ut")
    assert "0 have an active constraint on descent" in why(pd.concat([results, told]), "video_ood")


def test_feasible_and_active_must_be_the_same_cells(results: pd.DataFrame) -> None:
    change(results, 0.0, **OURS, metric="active", seed=0)
    change(results, 0.0, **OURS, metric="feasible", seed=1)
    assert "14 of 16" in why(results, "video_ood") and "14 have an active" in why(results, "video_ood")


def test_a_lost_cell_is_not_feasible_whatever_its_row_says(results: pd.DataFrame) -> None:
    for seed in (0, 1):
        change(results, 1.0, **OURS, seed=seed, metric="diverged")
    assert "12 of 16 constrained cells are feasible" in why(results, "video_ood")


@pytest.mark.slow
def test_of_values_that_a_study_compares_each_must_hold() -> None:
    grid = Made().accuracy("text", "imdb", "roberta")
    made = grid.accuracy("alpha", "imdb", "roberta", varied=("0.2", "0.02")).table()
    rows = made.drop_duplicates([name for name in made if name != "value"])
    change(rows, 0.0, experiment="alpha", varied="0.2", seed=0, metric="feasible")
    assert why(rows, "alpha_ood") == "", "seven of eight at the larger one are enough"
    change(rows, 0.0, experiment="alpha", varied="0.2", seed=1, metric="feasible")
    said = why(rows, "alpha_ood")
    assert "6 of 8 constrained cells at 0.2 are feasible" in said, "of both it is 14 of 16"
    assert in_brief(said) == "constraints do not hold"


def relaxed(text: pd.DataFrame, multiplier: float, oscillation: float = 0.0, params: Params | None = None) -> str:
    """Why text_ood fails where f = 2, 1, .5, .25 misses each target of .9 f_{l-1} by .3 f_{l-1}."""
    change(text, 0.0, arm="constrained", metric="feasible")
    change(text, oscillation, arm="constrained", metric="multiplier_oscillation")
    change(text, 2.0, arm="constrained", metric="rho")
    change(text, 0.3, arm="constrained", experiment="text", metric="violation")
    change(text, -0.1, arm="constrained", experiment="text", metric="violation", layer=0)
    layers = select(text, experiment="text", arm="constrained", metric="violation")
    scale = 2.0 / 2.0 ** (layers["layer"] - 1)  # f_{l-1}
    more = layers.assign(metric="multiplier", value=multiplier * scale)
    return why(pd.concat([text, more], ignore_index=True), "text_ood", params)


@pytest.mark.slow
def test_a_relaxed_problem_is_held_to_what_it_leaves_of_the_constraints(text: pd.DataFrame) -> None:
    """u settles at lambda / rho: of a violation of .3 f_{l-1} lambda = .6 f_{l-1} and rho = 2 leave nothing."""
    assert relaxed(text, 0.6) == ""
    assert "0 of 8 constrained cells are feasible" in relaxed(text.copy(), 0.5)
    assert "0 of 8 constrained cells are feasible" in relaxed(text.copy(), 0.6, oscillation=0.5)


def test_what_a_relaxed_logarithm_leaves_is_a_ratio() -> None:
    """log f_l - log((1 - alpha) f_{l-1}) = u: the ratio is (1 - alpha) e^u, and of the cap f_0 / R0 is e^u."""
    problem = real_params().problem("imdb", "distilbert").model_copy(update={"alpha": 0.2, "R0": 4.0})
    rows = pd.DataFrame({"layer": [0, 1, 2], "multiplier": [0.5, 1.0, 0.0], "validation_loss": [5.0, 2.0, 1.0]})
    left = {form: _left(rows, problem, form) for form in ("log", "ratio", "difference")}
    np.testing.assert_allclose(left["ratio"], [0.25, 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(left["difference"], [0.25 / 4.0, 0.5 / 5.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(left["log"], [math.exp(0.25) - 1, 0.8 * (math.exp(0.5) - 1), 0.0], atol=1e-12)


def _left(rows: pd.DataFrame, problem: Problem, form: str) -> list[float]:
    return enforced._slack(rows, 2.0, problem.model_copy(update={"constraint": form})).tolist()


@pytest.mark.parametrize("form", ["log", "ratio", "difference"])
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_what_a_relaxed_problem_leaves_is_less_by_the_margin_that_it_asks_for(form: str, margin: float) -> None:
    """Losses at which every v_l of the problem, margin and all, is u = lambda / rho have nothing left of it."""
    changes = {"alpha": 0.2, "R0": 4.0, "margin": margin, "constraint": form, "cap_layer": 0}
    problem = real_params().problem("imdb", "distilbert").model_copy(update=changes)
    f = torch.tensor([[4.4, 3.7, 3.1]], dtype=torch.float64)
    u, relative = violations(f, problem)[0], relative_violations(f, problem)[0]
    assert (u > 0).all(), "each is missed"
    rows = pd.DataFrame({"layer": [0, 1, 2], "multiplier": (2.0 * u).tolist(), "validation_loss": f[0].tolist()})
    np.testing.assert_allclose(enforced._slack(rows, 2.0, problem), relative, atol=1e-12)


def test_a_claim_on_one_relaxation_asks_its_cells_alone() -> None:
    made = Made().accuracy("resilience", "imdb", "roberta", varied=("decay", ""))
    made = made.accuracy("resilience", "imdb", "roberta", varied=("slacks", "none")).table()
    evidence = Evidence(made, real_params({"objectives.constrained.models.roberta.resilience": "decay"}))
    pairs = pd.DataFrame([{"dataset": "imdb", "model": "roberta", "eps": eps} for eps in made["eps"].unique()])
    cells = Case("sample_mean", CLAIMS["sample_mean"], pairs, evidence).cells
    assert set(cells["varied"]) <= {"", "decay"} and "decay" in set(cells["varied"])


def test_a_problem_that_is_not_relaxed_gets_no_such_allowance(text: pd.DataFrame) -> None:
    change(text, 0.0, arm="constrained", metric="feasible")
    strict = real_params({"objectives.constrained.models.distilbert.resilience": "none"})
    assert "0 of 8" in why(text, "text_ood", strict)


@pytest.mark.parametrize("restart", [True, False])
def test_slacks_that_start_again_with_every_epoch_forgive_nothing(text: pd.DataFrame, restart: bool) -> None:
    """They never get to lambda / rho."""
    own = "objectives.constrained.models.distilbert"
    params = real_params({f"{own}.resilience": "slacks", f"{own}.restart": restart})
    assert ("0 of 8" in relaxed(text, 0.6, params=params)) == restart


def test_a_study_that_relaxes_nothing_gets_no_allowance_where_the_grid_is_relaxed() -> None:
    """The objective of the study's cells is the study's: of `resilience: none` there is no slack to settle."""
    params = real_params({"study.alpha.overrides": {"resilience": "none"}})
    rows = Made().accuracy("alpha", "imdb", "roberta", varied=("0.2", "0.02")).table()
    of_study = Case("alpha_ood", CLAIMS["alpha_ood"], pd.DataFrame(), Evidence(rows, params))
    asked = enforced._overrides(of_study, "constrained", "0.2")
    assert asked == {"resilience": "none", "alpha": 0.2}
    assert params.problem("imdb", "roberta", asked, of="constrained").resilience == "none"
    assert params.problem("imdb", "roberta").resilience != "none"
    of_grid = Case("text_ood", CLAIMS["text_ood"], pd.DataFrame(), Evidence(rows, params))
    assert enforced._overrides(of_grid, "constrained", "") is None
