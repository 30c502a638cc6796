"""What is said by hand of the language model of five layers is what its tables say."""

import re

import pandas as pd
import pytest

from descent.analysis.lost import truth
from descent.published import files
from tests.newcomer import readme

FOLDER = readme.ROOT / "data/evidence/small-79a35928"
BOUNDS = ["estimate", "low", "high"]
PLACES = ("README.md", "docs/doubts.md", "docs/findings.md", "data/evidence/NOTES.md", "data/evidence/PROTOCOL.md")


def points(numbers: pd.Series) -> list[str]:
    """Two digits each, as they are typed: without a zero before the point."""
    return [re.sub(r"^(-?)0\.", r"\1.", f"{100 * number:.2f}") for number in numbers.astype(float)]


@pytest.fixture(scope="module")
def card() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "claims.csv").set_index("claim")


@pytest.mark.parametrize("page", PLACES)
def test_the_gain_is_that_of_its_claims(card: pd.DataFrame, page: str) -> None:
    gain, low, high = points(card.loc["lm_ood", BOUNDS])
    text = re.sub(r"-0\.", "-.", readme.flat(readme.ROOT / page)).replace("to 0.", "to .")
    assert re.search(rf"{re.escape(gain)} points[^.;]{{0,40}}\({re.escape(low)} to {re.escape(high)}", text)
    assert card.loc["lm_ood", "verdict"] == "no effect of interest"


def test_price_and_shifts_are_those_of_its_claims(card: pd.DataFrame) -> None:
    notes = readme.flat(readme.ROOT / "data/evidence/NOTES.md").split("# Language model of five layers")[1]
    price, low, high = points(card.loc["lm_cost", BOUNDS])
    assert f"costs {price} up to it ({low} to {high}), *{card.loc['lm_cost', 'verdict']}*" in notes
    mean, low, high = points(card.loc["lm_shifts", BOUNDS])
    assert f"their mean, {mean} ({low} to {high}), *{card.loc['lm_shifts', 'verdict']}*" in notes
    shifts = pd.read_csv(FOLDER / "shifts.csv").set_index("shift")
    dropout = " ".join(f"{100 * shifts.loc['token_dropout', name]:.1f}" for name in ("effect", "low", "high"))
    assert "by {} points** ({} to {}".format(*dropout.split()) in notes
    others = -100 * shifts.drop(index=["token_dropout", "mean over shifts"])["effect"]
    assert f"they lose {others.min():.1f} to {others.max():.1f}".replace("0.", ".") in notes


def test_all_hold_act_and_are_solved_and_plain_training_holds_in_none() -> None:
    cells = files.cells(FOLDER).query("experiment == 'lm'")
    ours, plain = (cells[cells["arm"] == arm] for arm in ("constrained", "unconstrained"))
    assert len(ours) == len(plain) == 8
    for name in ("feasible", "feasible_test", "descent_active"):
        assert truth(ours[name]).all()
    assert (plain["worst_violation"] > 0.5).all(), "the cap, by half of it"
    assert (ours["slackness"].min().round(3), ours["slackness"].max().round(3)) == (0.001, 0.002)
    longer = pd.read_csv(FOLDER / "epochs.csv").sort_values("epochs")
    falls = [-100 * longer[f"validation_loss_{arm}"].pct_change().iloc[1] for arm in ("ours", "baseline")]
    protocol = readme.flat(readme.ROOT / "data/evidence/PROTOCOL.md")
    assert "lower f_5 by {:.2f} % (constrained) and {:.2f} % (ERM)".format(*falls).replace("0.", ".") in protocol
