"""Gains by test noise and errors in gray levels, on tables made by hand: what means over the levels hide."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis.wording import signed
from descent.published import by_noise, gray_levels, parts, trained
from tests.fakes.results import fake_params

PLACE = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13, "arm": "constrained"}
CARD = pd.DataFrame(
    [{"claim": "video_ood", "statement": "it gains", "kind": "gain", "verdict": "reversed", "unit": "percent"}]
)
MODELS = pd.DataFrame([{"claim": "video_ood", "model": "ut", "datasets": "ucsd", "why": ""}])


def levels(gains: dict[float, float], half: float = 0.01, **other: object) -> pd.DataFrame:
    """Rows of levels.csv of one setting, with intervals of this half-width."""
    rows = [
        PLACE | other | {"gamma": gamma, "gain": gain, "gain_low": gain - half, "gain_high": gain + half}
        for gamma, gain in gains.items()
    ]
    return pd.DataFrame(rows)


def test_the_sign_of_a_gain_is_told_to_change_at_the_level_where_it_does() -> None:
    rows = levels({0.0: 0.5, 0.15: -0.06, 0.3: -0.01, 0.45: 0.01, 0.6: 0.02})
    told = by_noise.across(rows, CARD, MODELS, fake_params())
    assert "-6.0 % at gamma = 0.15, +2.0 % at gamma = 0.6 (better from 0.45 on)" in told
    assert "0.0" not in told.split("gamma = 0.15")[0].split(": ")[-1].replace("-6.0", ""), "not the level within"
    assert "from" not in by_noise.across(levels({0.15: -0.06, 0.6: -0.02}), CARD, MODELS, fake_params())
    wavering = levels({0.15: -0.1, 0.2: 0.1, 0.3: -0.1, 0.4: 0.1, 0.5: 0.2})
    assert "(better from 0.4 on)" in by_noise.across(wavering, CARD, MODELS, fake_params())


def test_only_the_settings_that_a_tested_claim_rests_on_are_averaged() -> None:
    both = pd.concat([levels({0.2: 0.01}), levels({0.2: 0.03}, layers=5), levels({0.2: 9.0}, model="dust")])
    assert "+2.0 % at gamma = 0.2" in by_noise.across(both, CARD, MODELS, fake_params())
    assert by_noise.across(both, CARD.assign(verdict="not tested"), MODELS, fake_params()) == ""
    assert by_noise.across(both, CARD, MODELS.assign(why="not trained to its end"), fake_params()) == ""


def test_a_data_set_counts_for_a_model_only_where_that_model_passes_on_it() -> None:
    kept = pd.DataFrame([("ut", "ucsd", ""), ("dust", "ucsd, avenue", "")], columns=["model", "datasets", "why"])
    rows = [
        levels({0.2: 0.01}),
        levels({0.2: 0.05}, model="dust", dataset="avenue"),
        levels({0.2: 0.03}, model="dust"),
        levels({0.2: 9.0}, dataset="avenue"),
    ]
    told = by_noise.across(pd.concat(rows), CARD, kept.assign(claim="video_ood"), fake_params())
    assert "+3.0 % at gamma = 0.2" in told
    rows[2] = levels({0.2: 0.03}, model="dust", eps=0.09)
    lacking = by_noise.across(pd.concat(rows), CARD, kept.assign(claim="video_ood"), fake_params())
    assert lacking == "", "DUST on UCSD has no table at the headline level"


def test_of_four_settings_the_lowest_and_the_highest_are_left_out_as_of_the_claim() -> None:
    rows = [levels({0.2: gain}, layers=layers) for layers, gain in enumerate([-0.9, 0.01, 0.03, 0.5])]
    assert "+2.0 % at gamma = 0.2" in by_noise.across(pd.concat(rows), CARD, MODELS, fake_params())


def test_a_gain_whose_interval_holds_zero_stands_in_brackets() -> None:
    params = fake_params()
    table = by_noise.tables(levels({0.2: 0.005, 0.3: -0.02}), params)
    assert "(+0.5)" in table and "| -2.0 |" in table
    assert by_noise.tables(levels({})[:0].assign(**PLACE), params) == ""


def test_a_part_that_another_replaces_is_in_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "without"]
    for number, folder in enumerate(folders):
        folder.mkdir()
        if number < 2:
            levels({0.2: float(number)}).to_csv(folder / f"{by_noise.NAME}.csv", index=False)
    monkeypatch.setattr(parts, "replaced", lambda folders: {("ucsd", "ut", 0)})
    assert by_noise.found(folders, fake_params())["gain"].tolist() == [1.0]
    assert by_noise.found(folders[2:], fake_params()).empty


def cell(arm: str, seed: int, out: float, diverged: bool = False) -> dict[str, object]:
    errors = {"rmse_out_of_distribution": out, "rmse_in_distribution": out / 2}
    return PLACE | errors | {"arm": arm, "seed": seed, "trained": True, "diverged": diverged}


def test_errors_are_paired_by_seed_and_a_diverged_cell_leaves_its_pair_out() -> None:
    cells = pd.DataFrame(
        [cell("constrained", seed, 8.0) for seed in (0, 1, 2)]
        + [cell("unconstrained", 0, 10.0), cell("unconstrained", 1, 6.0), cell("unconstrained", 2, 99.0, True)]
    )
    pairs = gray_levels.paired(cells, fake_params())
    assert pairs["fewer_out"].tolist() == [2.0, -2.0] and pairs["fewer_in"].tolist() == [1.0, -1.0]
    assert pairs["ratio_out"].iloc[0] == pytest.approx(0.22314, abs=1e-5), "ln 10/8"
    table = gray_levels.table(cells, fake_params())
    assert "0.13 (2)" in table and "| 8.00 | 8.00 |" in table
    assert gray_levels.table(cells[:0], fake_params()) == ""


def test_what_errors_themselves_say_is_the_trimmed_mean_over_the_same_settings_by_seed() -> None:
    def pair(layers: int, seed: int, ratio: float) -> list[dict]:
        place = {"layers": layers, "seed": seed}
        return [cell("constrained", seed, 8.0) | place, cell("unconstrained", seed, 8.0 * np.exp(ratio)) | place]

    ratios = {3: 0.04, 5: 0.02, 7: -0.02, 9: -0.4}  # of these the first and the last are trimmed
    rows = [pair(layers, seed, ratio + 0.01 * seed) for layers, ratio in ratios.items() for seed in (-1, 0, 1)]
    rows += [[row | {"model": "dust"} for row in pair(3, 0, 9.0)]]
    cells = pd.DataFrame([row for both in rows for row in both])
    cells["mean_rmse"] = cells["rmse_out_of_distribution"]
    told = gray_levels.across(cells, CARD, MODELS, fake_params())
    half = 100 * 0.01 / np.sqrt(3) * 4.30265  # Student's with two degrees of freedom
    interval = f"+0.0 ({signed(-half)} to {signed(half)}) %"
    assert f"the gain of *Video* is {interval}, by depth 4.0 / 2.0 / -2.0 / -40.0 % (L = 3 / 5 / 7 / 9)" in told
    assert f"in the paper's tables, the gain is {interval}" in told
    assert "intervals over seeds alone)." in told
    one = (cells["layers"] == 5) & (cells["seed"] == 1) & (cells["arm"] == "constrained")
    lost = gray_levels.across(cells.assign(diverged=one), CARD, MODELS, fake_params())
    assert "seeds alone, without 1 seed of which a cell is lost)" in lost
    fewer = cells[~((cells["layers"] == 5) & (cells["seed"] == 1))]  # trained with fewer seeds, and none lost
    assert "intervals over seeds alone)." in gray_levels.across(fewer, CARD, MODELS, fake_params())
    assert gray_levels.across(cells, CARD.assign(verdict="not tested"), MODELS, fake_params()) == ""
    assert gray_levels.across(cells[cells["model"] == "dust"], CARD, MODELS, fake_params()) == ""


def test_models_of_which_no_cell_of_erm_descends_are_counted_apart() -> None:
    def falls(model: str, arm: str, seed: int, held: bool) -> dict[str, object]:
        return cell(arm, seed, 1.0 + seed) | {
            "model": model,
            "descending": held,
            "validation_loss": seed + len(model),
        }

    rows = [falls(model, "constrained", seed, True) for model in ("ut", "dust") for seed in (0, 1)]
    rows += [falls("ut", "unconstrained", seed, seed == 0) for seed in (0, 1, 2)]
    rows += [falls("dust", "unconstrained", seed, False) for seed in (0, 1)]
    told = trained.descent(pd.DataFrame(rows), [], fake_params())
    assert "in **4 of 4 constrained models**" in told
    assert told.endswith("unasked, of plain training's (*ERM*) in none of 2 (DUST) and 1 of 3 others.")
    behind = trained.descent(pd.DataFrame(rows), {(rows[0]["dataset"], "ut")}, fake_params())
    assert behind.endswith("(*ERM*) in 1 of the 3 behind a verdict and none of 2 (DUST).")
    ever = trained.descent(pd.DataFrame([row for row in rows if row["model"] == "ut"]), [], fake_params())
    assert ever.endswith("(*ERM*) in 1 of 3.")
