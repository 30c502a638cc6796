"""What is said by hand of texts at one rate in both arms is worked out from their runs."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from descent.analysis import scorecard, verdicts
from descent.analysis.claims import CLAIMS
from descent.analysis.verdicts import Estimate, student
from descent.published import files, matchings
from tests.newcomer import readme

PUBLISHED = readme.ROOT / "data/evidence"
RUNS = {"UT": "small-84c8561b", "DistilBERT": "small-0c6d2a90", "RoBERTa": "small-59bf8838"}
SHARE = {"UT": 1 / 2, "DistilBERT": 1 / 4, "RoBERTa": 1 / 4}  # of four settings
# The same models at the same rates before: the run, the experiment and what it varied.
BEFORE = {
    "DistilBERT": ("small-6fcc924a", "controls_rates_distilbert", "0.002"),
    "RoBERTa": ("small-6c3d66eb", "text", ""),
}
MATTERS = {"text_ood": 0.0075, "text_cost": 0.005}  # as announced
SIX = 6  # claims, by which p is multiplied


def effects(claim: str, models: tuple[str, ...] = tuple(RUNS)) -> tuple[np.ndarray, np.ndarray, int]:
    """Those of the settings of these models, seed beside seed; of which run each is; how many items are drawn."""
    found, part_of, seeds, items = [], [], [], set()
    for name in models:
        pairs, facts = files.pairs_and_facts(PUBLISHED / RUNS[name])
        own = pairs[pairs["claim"] == claim]
        found.append(scorecard.scores(own)[1])
        part_of += [name] * len(found[-1])
        seeds.append(sorted(own["seed"].unique()))
        items.add(int(facts.loc[facts["claim"] == claim, "resampled"].min()))
    (resampled,) = items
    assert all(own == list(range(316, 324)) for own in seeds)
    return np.concatenate(found), np.array(part_of), resampled


def judged(claim: str, found: Estimate) -> np.ndarray:
    """The verdict of each estimate by the announced rule."""
    row = {"kind": CLAIMS[claim].kind, "effect": MATTERS[claim]}
    null = row["effect"] if row["kind"] == "cost" else 0.0
    p = SIX * np.maximum(found.p(null), verdicts.sign_flip(found.by_seed - null))
    return matchings._decided(found, np.atleast_1d(p), row)


def by_seed(claim: str, name: str, before: bool = False) -> np.ndarray:
    """The effect of a model in the mean of its depths, in points."""
    folder, experiment, varied = BEFORE[name] if before else (RUNS[name], "text", "")
    column, sign = {
        "text_ood": ("accuracy_out_of_distribution", 100),
        "text_cost": ("accuracy_in_distribution", -100),
    }[claim]
    cells = files.cells(PUBLISHED / folder)
    own = cells[cells["experiment"].eq(experiment) & cells["varied"].eq(varied)]
    wide = own.pivot(index=["layers", "seed"], columns="arm", values=column)
    return (sign * (wide["constrained"] - wide["unconstrained"])).groupby("seed").mean().to_numpy()


def sixteen(claim: str, name: str) -> np.ndarray:
    return np.concatenate([by_seed(claim, name), by_seed(claim, name, before=True)])


def said(pattern: str, page: str) -> list[float]:
    words = " ".join((readme.ROOT / page).read_text().split())
    told = re.search(pattern, words)
    return [float(number) for number in re.findall(r"-?\d*\.\d+", " ".join(told.groups()))]


def of(values: np.ndarray) -> list[float]:
    value, ends = student(values)
    return [float(value), *map(float, ends)]


def test_both_claims_are_read_seed_beside_seed_by_the_announced_rule() -> None:
    pattern = r"seed beside seed, the gain is (.*?), \*cannot tell\*, and the price (.*?), \*reproduced\*"
    told = said(pattern, "docs/findings.md")
    short = said(r"texts gain (.*?), \*cannot tell\*, at a price of (.*?), \*reproduced\*", "docs/doubts.md")
    expected = []
    for claim, verdict in (("text_ood", "cannot tell"), ("text_cost", "reproduced")):
        own, _, items = effects(claim)
        found = Estimate.of(verdicts.trimmed(own), items)
        assert judged(claim, found) == [verdict]
        expected += [100 * float(number) for number in found.numbers()]
    assert told == pytest.approx(expected, abs=0.0051) and short == pytest.approx(expected, abs=0.051)
    largest = 100 * verdicts.trimmed(effects("text_cost")[0])[..., 0].max()
    assert said(r"all eight seeds lie below (\.\d+)", "data/evidence/PROTOCOL.md") == pytest.approx(
        [largest], abs=0.0051
    )


def test_other_ways_to_lay_the_seeds_beside_one_another_say_as_told() -> None:
    shares = {}
    for claim in MATTERS:
        own, part_of, items = effects(claim)
        found = judged(claim, Estimate.of(matchings._rematched(own, part_of), items))
        shares[claim] = pd.Series(found).value_counts(normalize=True)
    assert set(shares["text_cost"].index) == {"reproduced", "cannot tell"}
    assert set(shares["text_ood"].index) == {"no effect of interest", "cannot tell"}
    reproduced = f"{100 * shares['text_cost']['reproduced']:.0f} %"
    nothing = f"{100 * shares['text_ood']['no effect of interest']:.0f} %"
    told = {
        "docs/doubts.md": (f"(in {reproduced} of the ways", f"(in {reproduced}, with p times six"),
        "docs/findings.md": (f"in other ways {reproduced} of 2,000 give *reproduced*",),
        "data/evidence/PROTOCOL.md": (f"of 2,000 of them {reproduced} give *reproduced*",),
    }
    for page, words in told.items():
        assert all(word in (readme.ROOT / page).read_text() for word in words), page
    assert f"for the gain {nothing} *no effect of interest*" in (PUBLISHED / "PROTOCOL.md").read_text()


def test_the_plain_means_are_worked_out_and_tell_nothing() -> None:
    told = said(r"in the plain mean, .*? both are \*cannot tell\*: (.*?)\. Of UT", "docs/findings.md")
    more = said(r"of DistilBERT and RoBERTa sixteen, (.*?)both by Welch", "data/evidence/PROTOCOL.md")
    plain, pooled = [], []
    for claim in MATTERS:
        own, _, items = effects(claim)
        found = Estimate.of(own.mean(0), items)
        assert judged(claim, found) == ["cannot tell"]
        plain += [100 * float(number) for number in found.numbers()]
        pooled += welch({name: by_seed(claim, name) if name == "UT" else sixteen(claim, name) for name in RUNS})
    assert told == pytest.approx(plain, abs=0.0051) and more == pytest.approx(pooled, abs=0.0051)


def welch(values: dict[str, np.ndarray]) -> list[float]:
    """The mean over settings of models with unlike numbers of seeds, and its 95 % interval."""
    value = sum(SHARE[name] * own.mean() for name, own in values.items())
    parts = [(SHARE[name] ** 2 * own.var(ddof=1) / len(own), len(own) - 1) for name, own in values.items()]
    total = sum(part for part, _ in parts)
    half = stats.t.ppf(0.975, total**2 / sum(part**2 / free for part, free in parts)) * np.sqrt(total)
    return [value, value - half, value + half]


def test_what_each_model_gains_at_one_rate_is_that_of_its_pairs() -> None:
    findings = said(
        r"Of UT the gain is (.*?), of DistilBERT (.*?), of RoBERTa (.*?); with the eight", "docs/findings.md"
    )
    expected = [number for name in RUNS for number in of(by_seed("text_ood", name))]
    assert findings == pytest.approx(expected, abs=0.0051)
    both = said(r"rates before, DistilBERT's is (.*?) and RoBERTa's (.*?\))", "docs/findings.md")
    pooled = {name: of(sixteen("text_ood", name)) for name in BEFORE}
    assert both == pytest.approx([number for own in pooled.values() for number in own], abs=0.0051)
    assert {len(sixteen("text_ood", name)) for name in BEFORE} == {16}
    short = said(r": UT gains (.*?), in sixteen seeds\), RoBERTa (.*?), in sixteen\)", "docs/doubts.md")
    ut, bert, roberta = (of(by_seed("text_ood", name)) for name in RUNS)
    assert short == pytest.approx([*ut, *bert, *pooled["DistilBERT"], *roberta, *pooled["RoBERTa"]], abs=0.051)
    price = said(r"it pays (-?\.\d+ \(.*?\))\. The eight seeds of the part", "data/evidence/NOTES.md")
    assert price == pytest.approx(of(by_seed("text_cost", "RoBERTa")), abs=0.0051)


def test_models_have_learned_and_constraints_act_and_p4_alone_is_not_their_own() -> None:
    """Two arms at chance, or constraints that do nothing, would pay nothing either."""
    lowest = []
    for folder in RUNS.values():
        claims = pd.read_csv(PUBLISHED / folder / "claims.csv").set_index("claim")
        assert claims.loc[list(MATTERS), "why"].str.startswith("no study of twice the epochs of ").all()
        cells = files.cells(PUBLISHED / folder).query("experiment == 'text' and trained")
        ours = cells[cells["arm"] == "constrained"]
        assert ours["active_reported"].astype(bool).all() and not cells["diverged"].astype(bool).any()
        lowest.append(100 * cells["accuracy_clean"].min())
    words = (readme.ROOT / "docs/findings.md").read_text()
    assert f"answer {min(lowest):.0f} % or more right without noise, where chance is 50" in words
    assert "the multipliers of all constrained ones act" in words


def test_all_but_one_of_the_constrained_models_hold_and_are_solved() -> None:
    for name, folder in RUNS.items():
        own = files.cells(PUBLISHED / folder).query("arm == 'constrained'")
        missed = own[~own["feasible"].astype(bool) | (own["slackness"] > 0.1)]
        assert [(row.layers, row.seed) for row in missed.itertuples()] == ([(5, 317)] if name == "UT" else [])
        assert name != "RoBERTa" or own["feasible_test"].astype(bool).all()
