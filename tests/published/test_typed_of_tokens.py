"""What is said by hand of tokens without an embedding, and with another's, is what the published tables say."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis.lost import truth
from descent.published import files
from tests.newcomer import readme

FOLDER = readme.ROOT / "data/evidence/small-286fe7b4"
IMDB = readme.ROOT / "data/evidence/small-76dc769f"
TRAPPED = [701, 705]
DROPOUT, REPLACED = "token_dropout", "token_replacement"
NOTES, PROTOCOL = (readme.ROOT / "data/evidence" / name for name in ("NOTES.md", "PROTOCOL.md"))


def typed(number: float, digits: int) -> str:
    """As it is typed: without a zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:.{digits}f}")


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    """Accuracy in points, by shift, seed and level: a column for each arm."""
    rows = pd.read_csv(FOLDER / "shift_scores.csv")
    return 100 * rows.set_index(["shift", "seed", "gamma", "arm"])["value"].unstack()


@pytest.fixture(scope="module")
def notes() -> str:
    return readme.flat(NOTES).split("## Tokens without an embedding, and with another's")[1].split(" ## ")[0]


@pytest.mark.parametrize(
    ("shift", "arm", "digits"),
    [
        (DROPOUT, "constrained", 1),
        (DROPOUT, "replay", 1),
        (DROPOUT, "deep_supervision", 1),
        (REPLACED, "constrained", 2),
    ],
)
def test_gains_over_plain_training_are_those_of_the_table(notes: str, shift: str, arm: str, digits: int) -> None:
    row = pd.read_csv(FOLDER / "shifts.csv").set_index(["shift", "arm"]).loc[(shift, arm)]
    gain, low, high = (typed(100 * row[name], digits) for name in ("effect", "low", "high"))
    assert re.search(rf"{re.escape(gain)} points[^.;]{{0,25}}\({re.escape(low)} to {re.escape(high)}\)", notes)
    assert int(row["seeds"]) == 8
    if arm == "constrained":
        for page in ("docs/findings.md", "data/evidence/PROTOCOL.md"):
            assert f"{gain}" in (text := readme.flat(readme.ROOT / page)) and f"({low} to {high}" in text


def test_the_first_screen_has_the_same_gain() -> None:
    row = pd.read_csv(FOLDER / "shifts.csv").set_index(["shift", "arm"]).loc[(DROPOUT, "constrained")]
    gain, low, high = (f"{100 * row[name]:.1f}" for name in ("effect", "low", "high"))
    assert f"by {gain} points ({low} to {high})" in readme.flat(readme.ROOT / "README.md")


def test_what_duals_and_deep_supervision_make_of_it_follows_from_the_cells(
    notes: str, scores: pd.DataFrame
) -> None:
    means = scores.groupby(["shift", "seed"]).mean()
    beside = lambda shift, arm: (means["constrained"] - means[arm]).loc[shift]  # noqa: E731
    duals, deep = beside(DROPOUT, "replay"), beside(DROPOUT, "deep_supervision")
    low, high = student(duals, 0.95)
    said = f"{typed(duals.mean(), 2)} ({typed(low, 2)} to {typed(high, 2)})"
    assert f"Constrained less replay is {said}, in six seeds of eight" in notes and (duals > 0).sum() == 6
    assert said in readme.flat(readme.ROOT / "docs/findings.md")
    protocol = readme.flat(PROTOCOL)
    bounds = " to ".join(typed(number, 1) for number in student(deep, 0.95))
    assert f"deep supervision is {typed(deep.mean(), 1)} ({bounds})" in protocol
    bounds = " to ".join(typed(number, 2) for number in student(beside(REPLACED, "unconstrained"), 0.90))
    assert f"90 % by seeds {bounds}" in protocol
    gains = beside(DROPOUT, "unconstrained")
    assert f"in every seed, from {gains.min():.1f} to {gains.max():.1f}" in notes
    levels = scores.loc[DROPOUT].groupby("gamma").mean()[["constrained", "unconstrained"]]
    lowest, highest = ("{:.1f}", "% right for {:.1f}"), ("{:.1f} for", "{:.1f}")
    for level, form in ((levels.iloc[0], lowest), (levels.iloc[-1], highest)):
        assert " ".join(form).format(*level) in notes
    lowest = scores.loc[DROPOUT].groupby("gamma")["deep_supervision"].mean().iloc[0]
    assert f"at the lowest energy, {lowest:.1f} % right, it is behind" in notes
    under = means.loc[REPLACED]
    assert f"{(under['unconstrained'] - under['deep_supervision']).mean():.1f} below it under replacement" in notes


def student(of_seeds: pd.Series, share: float) -> np.ndarray:
    return np.array(stats.t.interval(share, len(of_seeds) - 1, of_seeds.mean(), of_seeds.sem()))


def test_which_models_hold_and_what_is_right_up_to_the_noise_of_training(notes: str) -> None:
    cells = files.cells(FOLDER).query("experiment == 'lm'")
    held = cells.assign(test=truth(cells["feasible_test"]), validation=truth(cells["feasible"]))
    counts = held.groupby("arm")[["validation", "test"]].sum().astype(int)
    assert counts.loc["constrained"].tolist() == [8, 8] and counts.loc["replay"].tolist() == [7, 6]
    right = 100 * cells.groupby("arm")["accuracy_in_distribution"].mean()
    plain, deep = right["unconstrained"], right["deep_supervision"]
    assert f"{deep:.1f} % right up to the noise of training for {plain:.1f}" in notes
    assert (
        f"theirs is {typed(plain - right['constrained'], 2)} points ({right['constrained']:.1f} % right)" in notes
    )


def test_on_imdb_two_trapped_models_make_what_is_lost(notes: str) -> None:
    gains = pd.read_csv(IMDB / "shifts.csv").set_index("shift")
    scores = (
        100 * pd.read_csv(IMDB / "shift_scores.csv").groupby(["shift", "seed", "arm"])["value"].mean().unstack()
    )
    findings = readme.flat(readme.ROOT / "docs/findings.md")
    of_seeds = scores["constrained"] - scores["unconstrained"]
    for shift, digits in ((DROPOUT, 1), (REPLACED, 2)):
        gain, low, high = (typed(100 * gains.loc[shift, name], digits) for name in ("effect", "low", "high"))
        for text in (notes, findings, readme.flat(PROTOCOL)):
            assert re.search(rf"{re.escape(gain)}( points)?[^.;,(]{{0,25}} \({re.escape(low)} to {high}\)", text)
    lost = of_seeds.unstack("shift").loc[TRAPPED]
    dropped, replaced = (" and ".join(f"{-gain:.1f}" for gain in lost[shift]) for shift in (DROPOUT, REPLACED))
    assert f"lose {dropped} points under dropout and {replaced} under replacement" in readme.flat(PROTOCOL)
    others = of_seeds.unstack("shift").drop(TRAPPED)
    means = " and ".join(typed(others[shift].mean(), 2) for shift in (DROPOUT, REPLACED))
    assert f"Of the six alone the means are {means}" in notes and others.abs().to_numpy().max() < 2.3


def test_the_trapped_models_hold_and_end_with_a_last_loss_a_third_above_the_others(notes: str) -> None:
    cells = files.cells(IMDB).query("experiment == 'text' and arm == 'constrained'").set_index("seed")
    trapped, others = cells.loc[TRAPPED], cells.drop(TRAPPED)
    assert truth(cells["feasible"]).all()
    losses = trapped["validation_loss"].map("{:.3f}".format).str.lstrip("0")
    least, most = (typed(bound, 3) for bound in (others["validation_loss"].min(), others["validation_loss"].max()))
    assert f"{' and '.join(losses)} where the six have {least} to {most}" in notes
    slack, right = trapped["slackness"], 100 * trapped["accuracy_in_distribution"]
    bounds = " to ".join(typed(bound, 3) for bound in (others["slackness"].min(), others["slackness"].max()))
    assert f"(slackness {' and '.join(typed(one, 3) for one in slack)}; the six {bounds})" in notes
    bounds = " to ".join(f"{100 * bound:.1f}" for bound in others["accuracy_in_distribution"].agg(["min", "max"]))
    assert f"{' and '.join(map('{:.1f}'.format, right))} % right" in notes and f"the six others {bounds}" in notes
