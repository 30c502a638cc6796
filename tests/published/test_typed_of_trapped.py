"""What is said by hand of trapped models, and of duals that begin later, is what the published tables say."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis.lost import truth
from descent.published import files
from tests.newcomer import readme

PUBLISHED = readme.ROOT / "data/evidence"
EARLY = ["small-afab60de", "small-84c8561b", "small-76dc769f"]
LATER = {"small-9f4a1b2e": range(308, 316), "small-5c6b76b4": range(708, 716)}
ALIKE = "small-f979d07d"  # both arms at one rate, all of these seeds
FAR = 0.05  # above the median of its arm and depth: what PROTOCOL.md calls trapped


def trained(names: list[str]) -> pd.DataFrame:
    """The cells of the grids of UT on IMDb, with how far their last loss lies `above` the median of its like."""
    cells = pd.concat([files.cells(PUBLISHED / name).assign(part=name) for name in names], ignore_index=True)
    cells = cells[cells["experiment"].eq("text") & cells["model"].eq("ut_text") & truth(cells["trained"])]
    middle = cells.groupby(["part", "arm", "layers"])["validation_loss"].transform("median")
    return cells.assign(above=cells["validation_loss"] - middle)


def by_seed(name: str, score: str) -> np.ndarray:
    """What constrained models gain over plain ones in a part, in points."""
    right = trained([name]).pivot(index="seed", columns="arm", values=score)
    return 100 * (right["constrained"] - right["unconstrained"]).to_numpy()


def student(gain: np.ndarray, digits: int = 2) -> str:
    low, high = stats.ttest_1samp(gain, 0.0).confidence_interval(0.95)
    return f"{typed(gain.mean(), digits)} ({typed(low, digits)} to {typed(high, digits)})"


def typed(number: float, digits: int) -> str:
    """As it is typed: without a zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:.{digits}f}")


@pytest.fixture(scope="module")
def notes() -> str:
    text = readme.flat(PUBLISHED / "NOTES.md")
    return text.split("### UT on IMDb, with duals that begin later")[1].split(" ### ")[0]


def test_constraints_trap_five_models_of_forty_and_plain_training_none(notes: str) -> None:
    cells = trained(EARLY)
    ours, plain = (cells[cells["arm"] == arm] for arm in ("constrained", "unconstrained"))
    trapped = ours[ours["above"] > FAR]
    assert (len(ours), len(plain), len(trapped)) == (40, 40, 5) and plain["above"].max() < 0.0205
    assert sorted(zip(trapped["seed"], trapped["layers"], strict=True)) == [
        (308, 4), (317, 5), (321, 4), (701, 4), (705, 4)
    ]  # fmt: skip
    bounds = " to ".join(typed(end, 2) for end in trapped["above"].agg(["min", "max"]))
    assert f"a last loss on validation data of {bounds} above the median" in notes
    assert truth(trapped["feasible"]).sum() == 3 and (trapped["slackness"] > 0.1).sum() == 3


def test_duals_that_begin_later_trap_none(notes: str) -> None:
    ours = trained([*LATER]).query("arm == 'constrained'")
    assert len(ours) == 16 and ours["above"].max() < 0.0215 and truth(ours["feasible"]).all()
    assert truth(ours["feasible_test"]).sum() == 15
    bounds = " to ".join(typed(end, 3) for end in ours["slackness"].agg(["min", "max"]))
    assert f"slackness {bounds}" in notes and bounds in readme.flat(PUBLISHED / "PROTOCOL.md")


@pytest.mark.parametrize("name", LATER)
def test_what_they_gain_and_cost_is_in_the_claims(notes: str, name: str) -> None:
    card = pd.read_csv(PUBLISHED / name / "claims.csv").set_index("claim")
    for claim in ("text_ood", "text_cost"):
        value, low, high = (typed(100 * card.loc[claim, end], 2) for end in ("estimate", "low", "high"))
        for text in (notes, readme.flat(PUBLISHED / "PROTOCOL.md")):
            assert re.search(rf"{re.escape(value)}( points[^.;(]{{0,60}})? \({re.escape(low)} to {high}\)", text)
    seeds = trained([name])["seed"]
    assert sorted(set(seeds)) == [*LATER[name]]


def test_how_many_gain_by_noise(notes: str) -> None:
    scores = pd.concat(pd.read_csv(PUBLISHED / name / "scores.csv") for name in LATER)
    right = scores[scores["experiment"].eq("text") & scores["metric"].eq("accuracy") & scores["layer"].eq(4)]
    gains = right.pivot_table(index="seed", columns=["arm", "gamma"], values="value")
    gains = 100 * (gains["constrained"] - gains["unconstrained"])
    assert (gains[2.0] > 0).sum() == 15 and (gains[3.0] > 0).sum() == 14
    assert f"fifteen of the sixteen gain, {gains[2.0].mean():.1f} points in the mean" in notes
    losing = gains[4.0][gains[4.0] < -1.5]
    assert len(losing) == 5 and losing.min() == pytest.approx(-7.7, abs=0.3) and gains[4.0].max() < 8.5
    assert (by_seed("small-5c6b76b4", "accuracy_out_of_distribution") > 0).sum() == 7


def test_what_the_claim_would_read_is_in_the_table(notes: str) -> None:
    table = (PUBLISHED / "README.md").read_text().split("## With models solved otherwise")[1].split("\n## ")[0]
    row = next(line for line in table.splitlines() if "small-9f4a1b2e" in line and "out of distribution" in line)
    was, verdict, would_be, instead = (word.strip() for word in row.strip("| ").split(" | ")[4:8])
    value = " ".join(re.sub(r"\b0\.", ".", would_be).replace("+", "").split()[:4])
    assert (
        f"*{instead.strip('*')}*, {value.replace(' (', ' points (')}, for {verdict}" in notes and was != would_be
    )


def test_at_one_rate_nothing_is_left_of_the_gain(notes: str) -> None:
    findings, protocol, doubts = (
        readme.flat(readme.ROOT / page)
        for page in ("docs/findings.md", "data/evidence/PROTOCOL.md", "docs/doubts.md")
    )
    card = pd.read_csv(PUBLISHED / ALIKE / "claims.csv").set_index("claim")
    gain, price = (
        "{} ({} to {})".format(*(typed(100 * card.loc[claim, end], 2) for end in ("estimate", "low", "high")))
        for claim in ("text_ood", "text_cost")
    )
    with_words = gain.replace(" (", " points (")
    for text in (notes, findings, protocol):
        assert gain in text or with_words in text
        assert f"price is {price}" in text or f"price of {price}" in text or f"one rate is {price}" in text
    assert gain in doubts
    first = " to ".join(f"{100 * card.loc['text_ood', end]:.2f}" for end in ("low", "high"))
    screen = readme.flat(readme.ROOT / "README.md")
    assert f"({100 * card.loc['text_ood', 'estimate']:.2f} points, {first}; sixteen seeds, judged alone)" in screen
    apart = np.concatenate([by_seed(name, "accuracy_out_of_distribution") for name in LATER])
    alike = by_seed(ALIKE, "accuracy_out_of_distribution")
    assert len(apart) == len(alike) == 16 and alike.mean() < apart.mean() / 2, "the rule: the gain is the rate's"
    for text in (notes, findings, protocol):
        told = student(apart)
        assert told in text or told.replace(" (", " points (") in text or f"{told[:-1]}, over seeds)" in text


def test_plain_training_at_that_rate_meets_the_constraints_in_none(notes: str) -> None:
    cells = trained([ALIKE]).groupby("arm")
    plain, ours = (cells.get_group(arm) for arm in ("unconstrained", "constrained"))
    assert len(plain) == 16 and not truth(plain["feasible"]).any() and truth(ours["feasible"]).all()
    ends = " to ".join(typed(end, 2) for end in plain["worst_violation"].agg(["min", "max"]))
    assert f"it misses by {ends}" in notes
    assert abs(plain["validation_loss"].mean() - ours["validation_loss"].mean()) < 0.001
    again = trained([*LATER]).query("arm == 'constrained'").set_index("seed")["validation_loss"]
    pd.testing.assert_series_equal(ours.set_index("seed")["validation_loss"].sort_index(), again.sort_index())


def test_single_seeds_differ_by_chance_at_the_highest_noise_alone(notes: str) -> None:
    scores = pd.read_csv(PUBLISHED / ALIKE / "scores.csv")
    right = scores[scores["experiment"].eq("text") & scores["metric"].eq("accuracy") & scores["layer"].eq(4)]
    gains = right.pivot_table(index="seed", columns=["arm", "gamma"], values="value")
    gains = 100 * (gains["constrained"] - gains["unconstrained"])
    means = gains.mean().abs()
    assert f"{means[2.0]:.1f}".lstrip("0") == ".1" and means[[3.0, 4.0]].max() < means[2.0]
    assert gains[[0.0, 0.2, 0.4, 1.0, 2.0]].abs().to_numpy().max() < 1.1
    far = gains[4.0][gains[4.0].abs() > 1.5].abs()
    assert far.max() < 9.5 and (gains[4.0] > 2).any() and (gains[4.0] < -2).any()
