"""What a claim's estimate rests on: other averages and single settings, worked out by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis import sensitivity
from descent.analysis.select import select
from descent.published import parts, programme

ROOT = Path(__file__).parents[2] / "data/evidence"
EFFECTS = {("avenue", 3): 1.0, ("avenue", 5): 2.0, ("ucsd", 3): 3.0, ("ucsd", 5): 4.0, ("ucsd", 7): 90.0}
SEEDS = range(6)


def pairs(effects: dict[tuple[str, int], float], claim: str = "video_ood") -> pd.DataFrame:
    """Seed k adds k to every effect; the items move nothing."""
    rows = [
        {"claim": claim, "dataset": dataset, "model": "ut", "layers": depth, "eps": 0.13, "varied": ""}
        | {"seed": seed, "resample": resample, "effect": effect + seed}
        for (dataset, depth), effect in effects.items()
        for seed in SEEDS
        for resample in range(4)
    ]
    return pd.DataFrame(rows)


def facts(claim: str = "video_ood", why: str = "") -> pd.DataFrame:
    places = {"dataset": ["", "avenue", "ucsd"], "model": ["", "ut", "ut"]}
    return pd.DataFrame(places | {"claim": claim, "why": why, "resampled": 10})


def test_every_average_and_every_setting_has_a_row() -> None:
    found = sensitivity.table(pairs(EFFECTS), facts())
    by = found[found["average"] != sensitivity.ALONE].set_index("average")["estimate"] - np.mean(SEEDS)
    assert by[sensitivity.TRIMMED] == pytest.approx(3.0), "of five one is dropped at each end"
    assert by[sensitivity.MEAN] == pytest.approx(20.0)
    assert by[sensitivity.BY_PLACE] == pytest.approx((1.5 + 97 / 3) / 2)
    alone = found[found["average"] == sensitivity.ALONE].set_index(["dataset", "layers"])["estimate"]
    assert {place: value - 2.5 for place, value in alone.items()} == pytest.approx(EFFECTS)
    half = stats.t.ppf(0.975, 5) * np.std(SEEDS, ddof=1) / np.sqrt(6)
    assert (found["high"] - found["estimate"]).tolist() == pytest.approx([half] * len(found))


def test_a_setting_alone_has_the_items_of_its_own_data_set() -> None:
    made = pairs(EFFECTS)
    made["effect"] += made["resample"].map({0: 0.0, 1: -9.0, 2: 2.0, 3: 9.0})  # what items do to all seeds
    few = facts().assign(resampled=[3, 3, 12])  # of the claim the fewest
    alone = [
        select(sensitivity.table(made, told), average=sensitivity.ALONE)
        for told in (few, facts().assign(resampled=12))
    ]
    ours, theirs = (own.set_index(["dataset", "layers"])["high"] for own in alone)
    assert ours["ucsd"].tolist() == theirs["ucsd"].tolist() and (ours["avenue"] > theirs["avenue"]).all()


def test_no_row_says_the_same_as_another() -> None:
    three = {place: EFFECTS[place] for place in [("avenue", 3), ("ucsd", 3), ("ucsd", 5)]}
    averages = sensitivity.table(pairs(three), facts())["average"].tolist()
    assert averages[:2] == [sensitivity.TRIMMED, sensitivity.BY_PLACE], "nothing is trimmed of three"
    apart = {("avenue", 3): 1.0, ("ucsd", 3): 2.0}
    assert sensitivity.table(pairs(apart), facts())["average"].tolist() == [
        sensitivity.TRIMMED,
        *["one setting"] * 2,
    ]
    one = sensitivity.table(pairs({("ucsd", 3): 1.0}), facts())
    assert one["average"].tolist() == [sensitivity.ALONE]


def test_shares_have_no_mean_and_an_untested_claim_has_those_of_all_its_models() -> None:
    assert sensitivity.table(pairs(EFFECTS, "video_wins"), facts("video_wins")).empty
    assert len(sensitivity.table(pairs(EFFECTS), facts(why="P4"))) == 3 + 5


def test_the_published_table_is_that_of_the_published_parts() -> None:
    saved = pd.read_csv(ROOT / programme.AVERAGES)
    found = sensitivity.table(*parts.joined(programme.parted(ROOT, "small")[0]))
    numbers = ["estimate", "low", "high"]
    assert saved["claim"].tolist() == found["claim"].tolist()
    np.testing.assert_allclose(saved[numbers], found[numbers].astype(float), rtol=1e-5)
