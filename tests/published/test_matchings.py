"""Other matchings of seeds, beside every matching laid out by hand."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from jaxtyping import Float
from scipy import stats

from descent.analysis import grounds, scorecard
from descent.analysis.verdicts import CANNOT_TELL, NOT_TESTED, REPRODUCED, VERDICTS, student
from descent.published import matchings
from descent.published.parts import TRAINED_SEED

SEEDS, ITEMS = 6, 50
CLAIM, MARGIN = "text_cost", 0.005


def pairs_of(effects: Float[np.ndarray, "settings seeds"], parts: list[int], shift: int = 100) -> pd.DataFrame:
    """Pairs whose settings are of these parts; resamples of the items change nothing. Seeds of a part begin at
    `shift` times its number."""
    rows = [
        ("imdb", f"model{setting}", 6, 0.4, "", seed, shift * part + seed, resample, part, effect)
        for setting, (part, own) in enumerate(zip(parts, effects, strict=True))
        for seed, effect in enumerate(own)
        for resample in range(3)
    ]
    names = ["dataset", "model", "layers", "eps", "varied", "seed", TRAINED_SEED, "resample", "part", "effect"]
    return pd.DataFrame(rows, columns=names).assign(claim=CLAIM)


def table(pairs: pd.DataFrame, why: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """What is found, and the card that it stands beside.

    Args:
        why: the claim as a whole is not tested.
    """
    places = [("", grounds.WHOLE), *(("imdb", model) for model in sorted(set(pairs["model"])))]
    facts = pd.DataFrame(places, columns=["dataset", "model"]).assign(
        claim=CLAIM, why="", effect=MARGIN, items=f"imdb {ITEMS}", resampled=ITEMS, paper_value=np.nan
    )
    facts.loc[facts["model"] == grounds.WHOLE, "why"] = why
    card = scorecard.judged(pairs, facts)
    return matchings.table(pairs, facts, card), card


def draws(settings: int, seeds: int = SEEDS) -> Float[np.ndarray, "settings seeds"]:
    return np.random.default_rng(settings).normal(0.001, 0.004, (settings, seeds))


def test_of_two_settings_every_matching_comes_as_often_as_it_must() -> None:
    effects = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]]) / 1000
    found, card = table(pairs_of(effects, [0, 1]))
    widths = [
        np.diff(student((effects[0] + effects[1][list(order)]) / 2)[1]).item() for order in permutations(range(3))
    ]
    told = float(card["high"].item() - card["low"].item())
    assert told == pytest.approx(widths[0])
    share = np.mean([width < told - 1e-12 for width in widths])
    assert 0 < share < 1, "the verdict's own is in the middle"
    assert found["narrower"].item() == pytest.approx(share, abs=0.04)
    untrimmed = found[["least", "most", "estimate_told"]].to_numpy()
    assert untrimmed == pytest.approx(effects.mean()), "a plain mean is the same of every matching"


def test_a_trimmed_mean_hangs_on_what_stands_beside_what() -> None:
    found, card = table(pairs_of(draws(4), [0, 0, 1, 2]))
    assert found["least"].item() < card["estimate"].item() < found["most"].item()
    assert found[list(VERDICTS)].sum(axis=1).item() == pytest.approx(1)


@pytest.mark.parametrize(("level", "verdict"), [(-0.02, REPRODUCED), (MARGIN, CANNOT_TELL)])
def test_where_all_matchings_are_alike_each_says_what_the_verdict_says(level: float, verdict: str) -> None:
    """All settings but one are constant, so that nothing moves but the order of one."""
    effects = np.full((4, SEEDS), level)
    effects[0] += np.linspace(-0.001, 0.001, SEEDS)
    found, card = table(pairs_of(effects, [0, 1, 1, 2]))
    assert card["verdict"].item() == verdict and found[verdict].item() == 1
    for name in ("estimate", "low", "high"):
        assert found[name].item() == pytest.approx(card[name].item())


def test_settings_of_one_part_stay_beside_one_another() -> None:
    """What one seed does to both settings of a part cancels, in every matching."""
    effects = draws(3)
    effects[1] = -effects[0]
    effects[2] = 0.001
    found, _ = table(pairs_of(effects, [0, 0, 1]))
    assert found["high"].item() - found["low"].item() == pytest.approx(0, abs=1e-12)


def test_seeds_that_are_the_same_have_no_other_matching() -> None:
    found, _ = table(pairs_of(draws(4), [0, 0, 1, 2], shift=0))
    assert found.empty and matchings.markdown(found) == ""


def test_the_table_names_the_claim_and_every_verdict_with_its_share() -> None:
    found, card = table(pairs_of(draws(4), [0, 0, 1, 2]))
    words = matchings.markdown(found)
    assert words.count(card["statement"].item()) == 1
    for verdict in VERDICTS:
        share = found[verdict].item()
        assert (f"{100 * share:.0f} % {verdict}" in words) == (share > 0)


def test_a_verdict_that_other_matchings_do_not_keep_is_told_and_one_that_they_keep_is_not() -> None:
    effects = np.full((4, SEEDS), -0.02)
    kept, _ = table(pairs_of(effects, [0, 1, 1, 2]))
    assert matchings.sentence(kept, "page.md") == "" and kept["within"].item() == 1
    hanging = kept.assign(**{REPRODUCED: 0.3, CANNOT_TELL: 0.7})
    words = matchings.sentence(hanging, "page.md")
    assert "30 % give *reproduced* and 70 % *cannot tell*." in words
    assert "needs no matching: -2.00 (-2.00 to -2.00) points, *reproduced*." in words
    assert "(page.md#other-matchings-of-seeds)" in words


def test_the_mean_that_needs_no_matching_is_the_plain_one_and_judged_by_its_own_interval() -> None:
    """With what one seed does to one part and its contrary to the other, the verdict's order has no spread at all;
    by themselves the parts have much."""
    effects = np.zeros((2, SEEDS))
    effects[0] = np.linspace(-0.02, 0.02, SEEDS)
    effects[1] = -effects[0]
    found, card = table(pairs_of(effects, [0, 1]))
    assert card["verdict"].item() == REPRODUCED and found["verdict_plain"].item() == CANNOT_TELL
    assert found["estimate_plain"].item() == pytest.approx(0, abs=1e-12)
    welch = stats.ttest_ind(effects[0], -effects[1], equal_var=False).confidence_interval(0.95)
    assert found["high_plain"].item() == pytest.approx(welch.high / 2)


def test_an_interval_narrower_than_its_items_is_told_with_what_they_do_for_a_floor() -> None:
    """What items do to one seed alone: A is zero, B and C are equal, and nothing is left of the variance."""
    size, pairs = 0.0002, pairs_of(np.full((2, SEEDS), -0.02), [0, 1])
    pairs["effect"] += np.where(pairs["seed"] == 0, size * pairs["resample"].map({0: 0, 1: 1, 2: -1}), 0)
    found, card = table(pairs)
    assert card["high"].item() == pytest.approx(-0.02), "as if items did nothing"
    error = size / SEEDS * np.sqrt(2 * ITEMS / (ITEMS - 1))
    high = -0.02 + stats.t.ppf(0.975, SEEDS - 1) * error
    assert found["high_items"].item() == pytest.approx(high)
    assert f"for a floor it is {2 * -2 - 100 * high:.2f} to {100 * high:.2f}." in matchings.markdown(found)
    without, _ = table(pairs_of(draws(2), [0, 1]))
    assert without["high_items"].isna().all() and "floor" not in matchings.markdown(without)


def test_of_a_claim_that_was_not_tested_no_matching_has_a_verdict() -> None:
    found, card = table(pairs_of(draws(4), [0, 0, 1, 2]), why="too few seeds")
    assert card["verdict"].item() == NOT_TESTED
    assert found.empty and matchings.sentence(found, "page.md") == ""
