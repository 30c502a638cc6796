"""The closed form of what descent costs: against a linear programme over all mixtures of rates, and by hand."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from descent.analysis import price
from descent.analysis.summary import cells_table
from descent.config import Params
from tests.fakes.results import change, fake_params, fake_results

RATES = np.linspace(0, 1, 4001)


def least_loss(F: float, alpha: float, R0: float, layers: int) -> float | None:
    """The least f_L of F + sum_i c_i RATES_i^l that descends by alpha at every layer from at most R0."""
    powers = RATES[:, None] ** np.arange(layers + 1)  # rates x layers
    falls = powers[:, 1:] - (1 - alpha) * powers[:, :-1]
    found = linprog(
        powers[:, -1],
        A_ub=np.vstack([falls.T, powers[:, 0]]),
        b_ub=[*[-alpha * F] * layers, R0 - F],
        method="highs",
    )
    return None if found.status == 2 else F + found.fun


@pytest.mark.parametrize("seed", range(30))
def test_no_mixture_of_rates_under_all_constraints_does_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    F, R0 = np.exp(rng.uniform(np.log([0.002, 0.2]), np.log([0.1, 20])))
    alpha, layers = rng.uniform(0.01, 0.4), int(rng.integers(1, 9))
    ratio, least = price.tied(F, alpha, R0, layers), least_loss(F, alpha, R0, layers)
    assert (least is None) == np.isnan(ratio), "one of the two has an answer and the other none"
    if least is not None:
        assert least / F == pytest.approx(ratio, rel=2e-3)
        assert least >= F * ratio * (1 - 1e-7), "a mixture does better than a single rate"


def test_where_no_rate_descends_so_no_mixture_does() -> None:
    assert np.isnan(price.tied(0.026, 0.24, 1.3475, 9)) and least_loss(0.026, 0.24, 1.3475, 9) is None


def test_two_layers_by_hand() -> None:
    """(R0 - F) rho (q - rho) = (1 - q) F is a quadratic equation."""
    F, alpha, R0 = 0.0137, 0.24, 1.3475
    q = 1 - alpha
    rho = (q - np.sqrt(q**2 - 4 * alpha * F / (R0 - F))) / 2
    assert price.tied(F, alpha, R0, 2) == pytest.approx(q * (1 - rho) / (q - rho), rel=1e-9)
    assert price.tied(F, alpha, R0, 1) == 1.0  # one step gets there at once


def test_a_map_that_halves_its_way_to_the_mean_of_what_can_be_known_is_priced_right() -> None:
    """Losses of a simulated tied model: what remains is orthogonal to what is unknown, f_l = F + c rho^l."""
    F, alpha, R0, layers = 0.05, 0.2, 2.0, 5
    ratio = price.tied(F, alpha, R0, layers)
    rho = (1 - alpha) * (ratio - 1) / (ratio - (1 - alpha))  # f_L / F = q (1 - rho) / (q - rho), solved for rho
    rng = np.random.default_rng(0)
    known, noise = rng.standard_normal((2, 400_000))
    target = known + np.sqrt(F) * noise  # m = known
    state = known + np.sqrt(R0 - F) * rng.permutation(known) / known.std()  # what is left is c at the start
    losses = []
    for _ in range(layers + 1):
        losses.append(np.mean((state - target) ** 2))
        state = known + np.sqrt(rho) * (state - known)
    assert losses[0] == pytest.approx(R0, rel=0.01)
    assert losses[-1] / losses[-2] == pytest.approx(1 - alpha, rel=0.005)
    assert losses[-1] / F == pytest.approx(ratio, rel=0.005)
    assert all(after / before < 1 - alpha for before, after in pairwise(losses[:-1]))


def test_one_map_that_would_go_beyond_the_best_estimate_pays_nothing() -> None:
    """Left out by the theorem: x <- k x + (1 - k) m / (1 - k^L) from 0 is at m after L layers; |m|^2 = R0 - F."""
    F, alpha, R0, layers, k = 0.0137, 0.24, 1.3475, 7, 0.85
    short = [1 - (1 - k**depth) / (1 - k**layers) for depth in range(layers + 1)]
    losses = [F + (R0 - F) * share**2 for share in short]
    assert losses[0] == pytest.approx(R0) and losses[-1] == pytest.approx(F)
    assert all(after <= (1 - alpha) * before for before, after in pairwise(losses))
    assert price.tied(F, alpha, R0, layers) > 1.3, "and the closed form has it pay a third"


def test_the_price_grows_with_depth_alpha_and_what_is_left_and_falls_with_the_cap() -> None:
    of = lambda alpha=0.22, R0=1.375, layers=7: price.tied(0.0137, alpha, R0, layers)  # noqa: E731
    for found in (
        [of(layers=layers) for layers in (2, 3, 5, 7)],
        [of(alpha=alpha) for alpha in (0.02, 0.1, 0.2, 0.24)],
        [of(R0=R0) for R0 in (12.0, 6.0, 2.0, 1.0)],
        [price.tied(F, 0.22, 1.375, 7) for F in (0.001, 0.005, 0.0137, 0.02)],
    ):
        assert found == sorted(found) and found[0] > 1
    assert of(alpha=1e-9) == pytest.approx(1, abs=1e-6) and np.isnan(of(layers=14))
    assert np.isnan(of(layers=0)) and np.isnan(price.tied(2.0, 0.22, 1.375, 3)), "nothing is asked; above the cap"


KEY = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13}


@pytest.fixture(scope="module")
def own() -> Params:
    """The demo's with two models whose arms are alike, a study of the margin and one of something else."""
    base = {
        "task": "video",
        "dataset": "ucsd",
        "model": "ut",
        "layers": 3,
        "eps": 0.13,
        "arm": "constrained",
        "beside": ["unconstrained"],
        "overrides": {},
    }
    return fake_params(
        {
            "study.controls_margin": base | {"vary": "margin"},
            "study.controls_dual": base | {"vary": "dual_lr"},
            "study.controls_longer": base | {"vary": "margin", "times": 2.0},
            "study.controls_same": base | {"vary": None},
            "profiles.demo.studies.controls_margin": {"seeds": [0, 1], "values": [0.0, 0.05]},
            "profiles.demo.studies.controls_longer": {"seeds": [0, 1], "values": [0.05]},
            "profiles.demo.studies.controls_dual": {"seeds": [0, 1], "values": [0.01]},
            "profiles.demo.studies.controls_same": {"seeds": [0, 1]},
            "studies": ["controls_margin", "controls_dual", "controls_longer", "controls_same"],
            "video.models": ["ut", "dust", "dust_per_layer"],
        }
    )


@pytest.fixture
def results(own: Params) -> pd.DataFrame:
    found = fake_results(own).copy()
    known = found["metric"] == "validation_loss"
    last = known & (found["layer"] == found["layers"])
    found.loc[last & (found["arm"] == "constrained"), "value"] = 0.012
    found.loc[last & (found["arm"] == "unconstrained"), "value"] = 0.01
    return found


def test_what_is_paid_stands_beside_what_the_form_says_of_the_same_problem(
    own: Params, results: pd.DataFrame
) -> None:
    found = price.measured(cells_table(results, own), own)
    assert set(found["experiment"]) == {"video", "controls_margin"}, (
        "a study of another thing says nothing, nor does one of other epochs or of nothing"
    )
    assert set(found["model"]) == {"ut", "dust_per_layer"}, "DUST's arms are unlike: one dictionary, and several"
    assert (found["tied"] == (found["model"] == "ut")).all()
    np.testing.assert_allclose(found["paid"], np.log(1.2))
    assert found.loc[~found["tied"], "expected"].isna().all()
    problem = own.problem("ucsd", "ut")
    assert problem.margin == 0.0, "of which the study's row would repeat the grid's"
    studied = found[found["experiment"] == "controls_margin"].set_index("varied")
    assert [*studied.index] == ["0.05"]
    grid = found.set_index(price.PAID_AT).loc[(*KEY.values(), "")]
    for margin, row in ((0.0, grid), (0.05, studied.iloc[0])):
        assert row["share"] == pytest.approx(problem.alpha + margin)
        assert row["cap"] == pytest.approx(problem.R0 * (1 - margin))
        said = price.tied(0.01, row["share"], row["cap"], 3 - problem.cap_layer)
        assert row["expected"] == pytest.approx(np.log(said)) and row["paid_seeds"] >= (2 if margin else 1)


def test_every_seed_has_a_form_of_its_own_and_without_one_of_them_the_setting_has_none(
    own: Params, results: pd.DataFrame
) -> None:
    cells = cells_table(results, own)
    rows = (cells["experiment"] == "controls_margin") & (cells["varied"].isin(["0.05", ""]))
    plain = rows & (cells["arm"] == "unconstrained")

    def told(*of_seeds: float) -> pd.Series:
        for seed, loss in enumerate(of_seeds):
            cells.loc[plain & (cells["seed"] == seed), "validation_loss"] = loss
        found = price.measured(cells, own)
        return found[(found["experiment"] == "controls_margin") & (found["varied"] == "0.05")].iloc[0]

    layers = KEY["layers"] - own.problem("ucsd", "ut").cap_layer
    both = told(0.008, 0.011)
    form = [price.tied(F, both["share"], both["cap"], layers) for F in (0.008, 0.011)]
    assert both["paid_seeds"] == 2 and form[0] < form[1]
    assert both["expected"] == pytest.approx(np.log(form).mean(), rel=1e-9)
    assert both["paid"] == pytest.approx(np.log([0.012 / 0.008, 0.012 / 0.011]).mean(), rel=1e-9)
    beyond = 2 * both["cap"]
    assert np.isnan(price.tied(beyond, both["share"], both["cap"], layers))
    assert np.isnan(told(0.008, beyond)["expected"]), "a mean of those that have one would be of other seeds"


def test_a_pair_with_a_diverged_cell_is_left_out(own: Params, results: pd.DataFrame) -> None:
    before = price.measured(cells_table(results, own), own).set_index(price.PAID_AT)
    place = (KEY["experiment"], KEY["dataset"], KEY["model"], KEY["layers"], KEY["eps"], "")
    change(results, 1.0, **KEY, seed=0, arm="unconstrained", metric="diverged")
    after = price.measured(cells_table(results, own), own).set_index(price.PAID_AT)
    left = after.loc[place, "paid_seeds"] if place in after.index else 0
    assert left == before.loc[place, "paid_seeds"] - 1


def test_a_setting_tells_in_how_many_cells_its_constraints_hold(own: Params, results: pd.DataFrame) -> None:
    cells = cells_table(results, own)
    place = (KEY["experiment"], KEY["dataset"], KEY["model"], KEY["layers"], KEY["eps"], "")
    one = (cells[list(KEY)] == list(KEY.values())).all(axis=1) & (cells["arm"] == "constrained")
    for held in (True, False):
        cells.loc[one, "feasible"] = held
        assert price.measured(cells, own).set_index(price.PAID_AT).loc[place, "held"] == held


def test_without_a_pair_there_is_nothing(own: Params, results: pd.DataFrame) -> None:
    cells = cells_table(results, own)
    assert len(price.measured(cells, own))
    assert price.measured(cells[cells["arm"] != "unconstrained"], own).empty
