"""What is said by hand of texts at one rate in both arms is worked out from their runs."""

import re

import numpy as np
import pytest

from descent.analysis import scorecard, verdicts
from descent.analysis.claims import CLAIMS
from descent.analysis.verdicts import student
from descent.published import files
from descent.published.unmatched import Unmatched
from tests.newcomer import readme

PUBLISHED = readme.ROOT / "data/evidence"
RUNS = {"UT": "small-84c8561b", "DistilBERT": "small-0c6d2a90", "RoBERTa": "small-6c3d66eb"}
MATTERS = {"text_ood": 0.0075, "text_cost": 0.005}
SIX = 6  # claims, by which p is multiplied


def estimated(claim: str, models: tuple[str, ...]) -> Unmatched:
    """The plain mean over the settings of these models, each run's seeds by themselves."""
    effects, part_of, items = [], [], set()
    for name in models:
        pairs, facts = files.pairs_and_facts(PUBLISHED / RUNS[name])
        own = scorecard.scores(pairs[pairs["claim"] == claim])[1]
        effects.append(own)
        part_of += [name] * len(own)
        items.add(int(facts.loc[facts["claim"] == claim, "resampled"].min()))
    (resampled,) = items
    return Unmatched.over(np.concatenate(effects), part_of, resampled)


def said(pattern: str, page: str) -> list[float]:
    words = " ".join((readme.ROOT / page).read_text().split())
    told = re.search(pattern, words)
    return [float(number) for number in re.findall(r"-?\d*\.\d+", " ".join(told.groups()))]


def test_neither_claim_on_texts_can_be_told_at_one_rate_by_the_announced_rule() -> None:
    pattern = r"needs no matching of seeds, the gain is (.*?) and the price (.*?), \*cannot tell\* both"
    told = iter(said(pattern, "docs/findings.md"))
    short = iter(said(r"it is (\S+ points .*?), and the price (.*?), both \*cannot tell\*", "README.md"))
    for claim, matters in MATTERS.items():
        found = estimated(claim, tuple(RUNS))
        expected = [100 * number for number in found.numbers()]
        assert [next(told) for _ in range(3)] == pytest.approx(expected, abs=0.0051)
        assert [next(short) for _ in range(3)] == pytest.approx(expected, abs=0.051)
        null = matters if CLAIMS[claim].kind == "cost" else 0.0
        p = SIX * max(float(found.p(null)), float(verdicts.sign_flip(found.by_seed - null)))
        low, high = found.interval(verdicts.NARROW)
        within = high < matters and (CLAIMS[claim].kind == "cost" or low > -matters)
        assert p > verdicts.SIGNIFICANT and not within


def test_what_ut_and_distilbert_gain_at_one_rate_is_that_of_their_pairs() -> None:
    findings = said(r"both\. Of UT it is (.*?), of DistilBERT (.*?), and with the eight seeds", "docs/findings.md")
    first_screen = said(r"UT gains (.*?), DistilBERT (.*?); \.7", "README.md")
    expected = [100 * x for name in ("UT", "DistilBERT") for x in estimated("text_ood", (name,)).numbers()]
    assert findings == pytest.approx(expected, abs=0.0051) and first_screen == pytest.approx(expected, abs=0.051)
    cells = files.cells(PUBLISHED / "small-6fcc924a")
    before = cells[cells["experiment"].eq("controls_rates_distilbert") & cells["varied"].eq("0.002")]
    new = files.cells(PUBLISHED / RUNS["DistilBERT"]).query("experiment == 'text'")
    gains = [
        table.pivot(index="seed", columns="arm", values="accuracy_out_of_distribution") for table in (before, new)
    ]
    both = np.concatenate([100 * (own["constrained"] - own["unconstrained"]) for own in gains])
    value, ends = student(both)
    assert len(both) == 16
    told = said(r"that it had at \.002 before (.*?\))", "docs/findings.md")
    assert told == pytest.approx([value, *ends], abs=0.0051)
    assert said(r"; (\.7, .*?), in sixteen", "README.md") == pytest.approx([value, *ends], abs=0.051)


def test_all_but_one_of_the_constrained_models_hold_and_are_solved() -> None:
    for name in ("UT", "DistilBERT"):
        own = files.cells(PUBLISHED / RUNS[name]).query("arm == 'constrained'")
        missed = own[~own["feasible"].astype(bool) | (own["slackness"] > 0.1)]
        assert [(row.layers, row.seed) for row in missed.itertuples()] == ([(5, 317)] if name == "UT" else [])
