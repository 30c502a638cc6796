"""The published verdicts follow from the published pairs by a second implementation of the protocol."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import grounds, sensitivity
from descent.published import parts, programme
from tests.analysis import second
from tests.report.conftest import ROOT

EVIDENCE = ROOT / "data/evidence"
PARTS = sorted(path.parent for path in EVIDENCE.glob("*-*/claims.csv"))
INTERVALS = {"low": (0.95, -1), "high": (0.95, 1), "low90": (0.9, -1), "high90": (0.9, 1)}
PRIMARY = 6


def recomputed(published: pd.DataFrame, pairs: pd.DataFrame, facts: pd.DataFrame) -> int:
    """How many verdicts were compared, each with its numbers."""
    card = published[published["kind"].isin(["gain", "cost"]) & (published["verdict"] != "not tested")]
    p: dict[bool, dict[str, float]] = {True: {}, False: {}}
    all_found = {}
    for row in card.itertuples():
        told = facts[facts["claim"] == row.claim]
        own = grounds.left_in(pairs[pairs["claim"] == row.claim], grounds.passing(told))
        null = row.effect if row.kind == "cost" else 0.0
        items = min(int(words.rsplit(" ", 1)[1]) for words in row.items.split(", "))
        found = all_found[row.claim] = second.found(own, items)
        width = row.high - row.low
        assert found.estimate == pytest.approx(row.estimate, abs=2e-5 * width), row.claim
        for name, (level, side) in INTERVALS.items():
            assert found.end(level, side) == pytest.approx(getattr(row, name), abs=2e-5 * width), row.claim
        assert found.p(null) == pytest.approx(row.p, rel=1e-4)
        assert found.flipped(null) == pytest.approx(row.p_exact, rel=1e-5)
        primary = row.group == "primary"
        p[primary][row.claim] = max(found.p(null), found.flipped(null)) if primary else found.p(null)
    holm = second.corrected(p[True], PRIMARY) | second.corrected(p[False], len(p[False]))
    for row in card.itertuples():
        own, exact = all_found[row.claim], row.p_exact if row.group != "primary" else 0.0
        decided = second.verdict(row.kind, own, max(holm[row.claim], exact), row.effect)
        assert decided == row.verdict, row.claim
    return len(card)


def test_the_verdicts_of_the_programme_follow_from_its_pairs() -> None:
    counting, _ = programme.parted(EVIDENCE, "small")
    published = pd.read_csv(EVIDENCE / "claims.csv")
    assert recomputed(published, *parts.joined(counting)) >= PRIMARY


@pytest.mark.slow
@pytest.mark.parametrize("folder", PARTS, ids=lambda folder: folder.name)
def test_the_verdicts_of_a_part_follow_from_its_pairs(folder: Path) -> None:
    recomputed(pd.read_csv(folder / "claims.csv"), *grounds.load(folder))


@pytest.mark.slow
@pytest.mark.parametrize("folder", PARTS, ids=lambda folder: folder.name)
def test_other_averages_of_a_part_are_as_the_code_of_today_has_them(folder: Path) -> None:
    published = pd.read_csv(folder / "sensitivity.csv")
    found = sensitivity.table(*grounds.load(folder))[published.columns]
    pd.testing.assert_frame_equal(found.reset_index(drop=True), published, check_dtype=False, rtol=1e-5)


def test_a_wrong_number_would_be_found() -> None:
    folder = next(path for path in PARTS if (pd.read_csv(path / "claims.csv")["verdict"] != "not tested").any())
    published = pd.read_csv(folder / "claims.csv")
    pairs, facts = grounds.load(folder)
    with pytest.raises(AssertionError):
        recomputed(published, pairs.assign(effect=1.001 * pairs["effect"]), facts)
