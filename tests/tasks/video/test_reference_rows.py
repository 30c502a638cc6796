"""The rows of the maps that learn nothing: the noise itself, the intensity, classical filters."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from descent.analysis import results
from descent.analysis.select import TRAINED, select
from descent.cells import REFERENCES, grid
from descent.tasks.video.data import Prepared, load
from descent.tasks.video.reference_rows import references
from descent.tasks.video.references import Filter, Once
from tests.fakes.core import TOKENS, small_params
from tests.fakes.dust import DUST
from tests.fakes.vit import VIT, build

SAID = small_params().components["shifts"]
OF_ENERGY = [
    name for name, said in SAID.items() if said["ENERGY"] and "video" in said["TASKS"] and name != TRAINED
]


def references_of(changes: dict) -> pd.DataFrame:
    """The rows of the maps that learn nothing, of models that are not trained."""
    params, prepared = small_params(changes), load(Path("data/prepared/ucsd"))
    firsts = [grid(params, "video", "ucsd", model)[0] for model in params.video.models]
    table = references(params, prepared, torch.device("cpu"), firsts, lambda done: None)
    results.write(table, Path("references.parquet"))
    return pd.read_parquet("references.parquet")


def test_the_reference_rows_are_the_noise_and_the_intensity(prepared: Prepared) -> None:
    table = references_of({})
    assert list(table) == list(results.COLUMNS) and set(table["arm"]) == set(REFERENCES)
    identity = {name: set(table[name]) for name in ("experiment", "layers", "eps", "seed", "layer", "varied")}
    assert identity == {
        "experiment": {"video"},
        "layers": {0},
        "eps": {0.0},
        "seed": {0},
        "layer": {0},
        "varied": {""},
    }
    assert set(table["split"]) == {"test"}
    assert set(table["model"]) == {"ut", "dust"}
    dust, ut = (
        select(table, model=model).drop(columns="model").reset_index(drop=True) for model in ("dust", "ut")
    )
    pd.testing.assert_frame_equal(dust, ut)  # of the same inputs and units
    rmse = select(table, model="dust", metric="rmse").pivot(index="gamma", columns="arm", values="value")
    assert rmse.index.tolist() == [0.0, 0.13, 0.25, 0.5, 1.0]
    sequences = prepared.sequences("test", TOKENS)
    numbers = 2 * len(sequences) * TOKENS * 16
    expected = rmse.index.to_numpy() * prepared.sigma * 255
    np.testing.assert_allclose(rmse["identity"], expected, rtol=4 / math.sqrt(2 * numbers))
    clean = sequences.gather(np.arange(len(sequences))).double()
    np.testing.assert_allclose(rmse["zero"], clean.square().mean().sqrt().item(), rtol=1e-6)


def test_classical_filters_are_better_than_the_noise_and_change_nothing_without_it(prepared: Prepared) -> None:
    rmse = select(references_of({}), model="dust", metric="rmse").pivot(
        index="gamma", columns="arm", values="value"
    )
    for name in ("tv_chambolle", "nl_means"):
        assert rmse[name][0.0] == 0.0
        assert (rmse[name][[0.25, 0.5, 1.0]] < rmse["identity"][[0.25, 0.5, 1.0]]).all(), name
    assert (rmse["tv_chambolle"][[0.5, 1.0]] < 0.8 * rmse["identity"][[0.5, 1.0]]).all()


def test_a_filter_that_two_models_ask_works_once_for_the_same_input_and_again_for_another() -> None:
    worked = []

    def told(noise: float) -> Filter:
        return lambda noisy: worked.append(noise) or noisy * noise

    once, noisy = Once(told, 0.5), torch.ones(1, 2, 3)
    assert torch.equal(once(noisy), once(noisy.clone())) and worked == [0.5]
    assert torch.equal(once(2 * noisy), noisy) and worked == [0.5, 0.5]


def test_vit_has_references_of_its_own_in_its_images_and_units(prepared: Prepared) -> None:
    table = references_of({**VIT, "video.models": ["dust", "vit"]})
    rmse = select(table, metric="rmse").pivot(index="gamma", columns=["model", "arm"], values="value")
    assert {model for model, _ in rmse} == {"dust", "vit"} and {arm for _, arm in rmse} == set(REFERENCES)
    assert (rmse["vit"]["identity"][1:] < 0.9 * rmse["dust"]["identity"][1:]).all(), "resizing averages noise"
    frames = prepared.whole("test")
    clean = build().target(frames.gather(np.arange(len(frames)))[None].float() / 255)
    black = 127.5 * (clean + 1).square().mean().sqrt().item()  # -1 is black
    np.testing.assert_allclose(rmse["vit"]["zero"], black, rtol=1e-5)
    losses = select(table, metric="loss", model="vit", arm="identity").set_index("gamma")["value"]
    np.testing.assert_allclose(rmse["vit"]["identity"], 127.5 * np.sqrt(losses[rmse.index]), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("shift", OF_ENERGY)
def test_under_other_noise_of_its_energy_the_identity_scores_as_under_gaussian_noise(
    prepared: Prepared, shift: str
) -> None:
    levels = [0.0, 0.3, 0.9]
    many = {"shifts": [TRAINED, shift], "noise_draws": 40}
    few = {"gammas": [0.0], "classical_frames": 1}  # what Gaussian noise costs, which is not asked here
    changes = DUST | {"profiles.demo.video.eps": [], f"shifts.{shift}": {"levels": levels}}
    rmse = select(references_of({**changes, "video.evaluation": many | few}), shift=shift, metric="rmse")
    found = rmse.pivot(index="gamma", columns="arm", values="value")
    assert set(found) == {"identity", "zero", "frame_mean"}, (
        "the classical filters are told the level of Gaussian noise"
    )
    np.testing.assert_allclose(found["identity"], 255 * prepared.sigma * np.array(levels), rtol=0.03)
    assert found["zero"].nunique() == 1


def test_of_noise_as_strong_before_resizing_that_of_neighbours_stays_the_stronger_one(prepared: Prepared) -> None:
    """What is told beside ViT's numbers (figures.parts.remarks)."""
    level, noises = 0.5, [TRAINED, "uniform", "correlated"]
    changes = {f"shifts.{shift}": {"levels": [level]} for shift in noises[1:]}
    evaluation = {"shifts": noises, "noise_draws": 8, "gammas": [level], "classical_frames": 1}
    table = references_of({**VIT, **changes, "video.models": ["dust", "vit"], "video.evaluation": evaluation})
    rmse = select(table, metric="rmse", arm="identity", gamma=level).set_index(["model", "shift"])["value"]
    assert rmse["dust"].to_numpy() == pytest.approx(rmse["dust", TRAINED], rel=0.03)
    assert rmse["vit", "uniform"] == pytest.approx(rmse["vit", TRAINED], rel=0.03)
    assert rmse["vit", "correlated"] > 1.5 * rmse["vit", TRAINED]


def test_of_salt_and_pepper_the_rows_keep_the_amounts(prepared: Prepared) -> None:
    levels = [0.0, 0.3, 0.9]
    both = {"shifts": [TRAINED, "salt_and_pepper"]}
    table = references_of({**DUST, "video.evaluation": both, "shifts.salt_and_pepper": {"levels": levels}})
    # A share `amount` of the pixels turns white or black, each with probability a half.
    sequences = prepared.sequences("test", TOKENS)
    x = sequences.gather(np.arange(len(sequences))).double().numpy() / 255
    turned = (np.square(x) + np.square(1 - x)).mean() / 2
    amounts = select(table, shift="salt_and_pepper", metric="strength").set_index("gamma")["value"]
    np.testing.assert_allclose(amounts, (prepared.sigma * np.array(levels)) ** 2 / turned, rtol=1e-6)


def test_single_frames_have_no_rows_under_shifts_of_time(prepared: Prepared) -> None:
    shifts = {"video.evaluation": {"shifts": ["gaussian", "blur", "dropped_frames"]}}
    table = references_of({**VIT, "video.models": ["dust", "vit"], **shifts})
    found = table.groupby("model")["shift"].unique().map(set).to_dict()
    assert found == {"dust": {"gaussian", "blur", "dropped_frames"}, "vit": {"gaussian", "blur"}}
