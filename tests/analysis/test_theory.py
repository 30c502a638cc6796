"""The measured theory against an example worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from descent.analysis import theory
from descent.analysis.keys import IDENTITY
from descent.analysis.select import select
from descent.config import Params
from descent.figures.beyond import table_theory
from tests.fakes.results import change, fake_params, fake_results

LEVELS = np.array([0.0, 0.2, 0.6])
# f_0, f_1, f_2 at every level; the training level is 0.2.
LOSSES = np.array([[1.0, 0.6, 0.3], [1.1, 0.7, 0.5], [1.5, 1.3, 1.4]])
VALIDATION = np.array([1.05, 0.78, 0.49])


def test_the_quantities_of_a_small_example() -> None:
    found = theory.bounds(LOSSES, VALIDATION, LEVELS, eps=0.2, alpha=0.25, cap=0, best=0.4)
    np.testing.assert_allclose(found.worst, [0.6 - 0.75, 0.5 - 0.525, 1.4 - 0.975])
    assert found.violated.tolist() == [False, False] and found.zeta == pytest.approx(0.08)
    assert found.tau == pytest.approx(0.9 / 0.4)  # layer 2, from 0.2 to 0.6
    np.testing.assert_allclose(found.bound, 0.08 + 1.75 * 2.25 * np.array([0.2, 0.0, 0.4]))
    assert found.gap == pytest.approx(0.1) and found.radius == pytest.approx(0.32)


def test_a_cap_on_layer_1_leaves_layer_0_out() -> None:
    found = theory.bounds(LOSSES, VALIDATION, LEVELS, eps=0.2, alpha=0.4, cap=1, best=0.5)
    np.testing.assert_allclose(found.worst, [0.3 - 0.36, 0.5 - 0.42, 1.4 - 0.78])
    assert found.violated.tolist() == [True] and found.gap == 0.0


def test_losses_that_noise_does_not_move_are_bounded_by_what_sampling_leaves() -> None:
    found = theory.bounds(LOSSES[[1, 1, 1]], VALIDATION, LEVELS, eps=0.2, alpha=0.25, cap=0, best=0.4)
    assert found.tau == 0.0 and found.bound.tolist() == [found.zeta] * 3


def test_without_a_required_descent_there_is_no_radius() -> None:
    assert theory.bounds(LOSSES, VALIDATION, LEVELS, 0.2, 0.0, 0, 0.0).radius == np.inf


def test_one_cell_a_setting_is_shown_and_every_alpha(params: Params, results: pd.DataFrame) -> None:
    cells = theory.shown(results, params)
    video, text = select(cells, experiment="video"), select(cells, experiment="text")
    arms = len(params.arms)
    assert len(video) == 3 * len(params.video.models) * arms and len(text) == 2 * 3 * arms
    assert set(video["eps"]) == {0.13} and set(text["eps"]) == {0.4}
    assert select(cells, experiment="alpha")["varied"].tolist() == ["0.02", "0.1", "0.2"]
    assert not cells.duplicated(["experiment", "dataset", "model", "arm", "varied"]).any()


def test_an_ablation_is_held_to_its_own_alpha_and_the_best_loss_is_of_all_cells(
    params: Params, results: pd.DataFrame
) -> None:
    results = results.copy()
    other = {"experiment": "text", "dataset": "imdb", "model": "ut_text", "layers": 3, "eps": 0.4, "seed": 2}
    change(results, 1e-6, **other, arm="unconstrained", metric="loss", gamma=0.4, layer=3)
    table = table_theory.build(results, params)
    rows = table[table["experiment"] == "alpha"]
    assert rows["alpha"].tolist() == [0.02, 0.1, 0.2]
    np.testing.assert_allclose(rows["radius"], rows["zeta"] / rows["alpha"])
    for row in rows.itertuples():
        own = select(results, experiment="alpha", varied=row.varied, seed=row.seed, metric="loss", gamma=0.4)
        assert row.best == pytest.approx(own["value"].min() - 1e-6)
    endless = table_theory.notes(table.assign(radius=np.inf), params)
    assert all(line.endswith("best known loss in 0.") for line in endless), "a radius without end keeps nothing"


def test_a_diverged_cell_is_not_shown(params: Params, results: pd.DataFrame) -> None:
    results = results.copy()
    change(results, 1.0, experiment="alpha", varied="0.1", metric="diverged")
    assert select(theory.shown(results, params), experiment="alpha")["varied"].tolist() == ["0.02", "0.2"]


def test_the_best_known_loss_is_in_the_cells_own_units(params: Params, results: pd.DataFrame) -> None:
    results = results.copy()
    cell = select(theory.shown(results, params), experiment="video", model="ut", dataset="ucsd").iloc[0]
    level = {"dataset": "ucsd", "eps": cell["eps"], "gamma": cell["eps"], "metric": "loss", "split": "test"}
    change(results, 1e-9, model="vit", **level)
    of_patches = results[results["model"].isin(["ut", "dust"])]
    lowest = select(of_patches, **level)["value"].min()
    own = select(of_patches, **level, **{k: cell[k] for k in ("model", "arm", "layers", "seed")})["value"].min()
    found = theory.of_cell(theory.layer_losses(results), cell, params)
    assert found.gap == pytest.approx(own - lowest) and lowest > 1e-6


def test_where_no_cell_has_a_constrained_step_none_is_shown(params: Params, results: pd.DataFrame) -> None:
    one = {"objectives.constrained.models.dust.cap_layer": 1, "profiles.demo.video.models.dust.layers": [1]}
    shallow = fake_params(one | {"studies": []})
    left = theory.shown(fake_results(shallow), shallow)
    assert left[left["model"] == "dust"].empty and len(select(left, experiment="video", model="ut"))
    lost = results.copy()
    change(lost, 1.0, metric="diverged")
    none = theory.shown(lost, params)
    assert none.empty and list(none.columns) == IDENTITY
