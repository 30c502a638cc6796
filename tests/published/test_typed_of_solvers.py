"""What is said by hand of solved and unsolved problems, in findings and doubts, is worked out from their runs."""

import re

import numpy as np
import pandas as pd
import pytest

from descent import components
from descent.analysis import scorecard, solved
from descent.analysis.keys import tuples
from descent.analysis.select import select
from descent.analysis.sensitivity import ALONE
from descent.analysis.verdicts import student
from descent.published import files, parts, programme, trained
from tests.newcomer import readme

SLOWER = "small-a0d24a45"
SOLVED = {
    "UT on UCSD": "small-91d28abc",
    "UT on UCSD, new seeds": "small-8c66dd11",
    "DUST on UCSD": "small-c01b2581",
    "DUST on Avenue": "small-208d9dc2",
    "DUST on Avenue, seven layers, slower duals": SLOWER,
    "the language model, as it was (alpha .2)": "small-44e380a6",
    "the language model, held to descent, behind the verdict": "small-21bfbcb1",
    "the language model of five layers": "small-79a35928",
    "RoBERTa on IMDb": "small-2132a0b2",
    "RoBERTa on IMDb, the last ninth": "small-fc9a1e7d",
    "DistilBERT on IMDb, the last ninth": "small-d35e27c1",
    "RoBERTa on IMDb, slower duals": "small-6f47e60a",
    "DistilBERT on IMDb, slower duals": "small-60f1123b",
    "RoBERTa on IMDb, slower duals, more damping": "small-6c3d66eb",
    "DistilBERT on IMDb, slower duals, more damping": "small-6fcc924a",
    "UT on IMDb, slower duals": "small-afab60de",
}
DUALS = {  # of the encoders' parts, by the rate of the duals
    "RoBERTa, .1": "small-388d1c25",
    "RoBERTa, .01": "small-6f47e60a",
    "RoBERTa, .01, more damping, behind the verdicts": "small-6c3d66eb",
    "DistilBERT, .1": "small-c9d37fcc",
    "DistilBERT, .01": "small-60f1123b",
    "DistilBERT, .01, more damping, behind the verdicts": "small-6fcc924a",
}
TEXTS = ["text_ood", "text_cost"]
VIDEO = ["video_ood", "video_cost"]
SEVEN = [("dust_shared", "avenue"), ("dust_shared", "ucsd"), ("ut", "ucsd")]  # the settings of seven layers
BOUNDS = ["estimate", "low", "high"]


def test_how_many_problems_are_solved_is_counted_in_their_cells() -> None:
    findings = (readme.ROOT / "docs/findings.md").read_text().split("## Are the problems solved?")[1]
    lines = [line.strip("| ").split(" | ") for line in findings.split("\n- ")[0].splitlines() if line[:1] == "|"]
    assert {line[0] for line in lines[2:]} == set(SOLVED)
    for name, *told in lines[2:]:
        cells = pd.read_csv(readme.ROOT / "data/evidence" / SOLVED[name] / "cells.csv")
        grid = cells[cells["experiment"].isin(components.TASKS)]  # of a run with trials and longer trainings too
        own = select(grid, arm="constrained")["slackness"].dropna()
        assert told == [f"{len(own)}", f"{(own <= solved.MOST).sum()}", f"{own.max():.3f}".removeprefix("0")]


def test_what_slower_duals_pay_and_lose_on_avenue_is_worked_out_from_their_pairs() -> None:
    findings = (readme.ROOT / "docs/findings.md").read_text().split("## Are the problems solved?")[1]
    lines = [line.strip("| ").split(" | ") for line in findings.splitlines() if line.startswith("| .0")]
    found = {}
    for line, run in zip(lines, ("small-24cbc4c9", SLOWER), strict=True):
        pairs = pd.read_parquet(readme.ROOT / "data/evidence" / run / "pairs.parquet")
        test = pairs.query("layers == 7 and resample == 0").set_index(["claim", "seed"])["effect"].sort_index()
        price, gain = (100 * test[claim] for claim in ("video_cost", "video_ood"))
        found[run] = price, gain
        said = [[float(number) for number in re.findall(r"-?[\d.]*\d", cell)] for cell in line[1:]]
        for told, own in zip(said[:2], (price, gain), strict=True):
            assert told == pytest.approx([own.mean(), *student(own.to_numpy())[1]], abs=0.051)
        for told, own in zip(said[2:], (price, gain), strict=True):
            assert told == pytest.approx([own.min(), own.max()], abs=0.051)
    (paid, before), (pays, after) = found.values()
    dear = paid > 40
    told = re.findall(r"\(([\d.]+) to ([\d.]+) %, now ([\d.]+) to ([\d.]+)\)", findings)
    for numbers, own in zip(told, (~dear, dear), strict=True):
        ends = [end(rates[own]) for rates in (paid, pays) for end in (min, max)]
        assert [*map(float, numbers)] == pytest.approx(ends, abs=0.051)
    low, _ = student((before / 2 - after).to_numpy())[1]
    assert low > 0, "more than half of the loss is left, by the rule"


def test_on_avenue_seven_constrained_layers_are_worse_than_a_mean_of_the_frames() -> None:
    findings = " ".join((readme.ROOT / "docs/findings.md").read_text().split())
    said = re.search(
        r"\(([\d.]+) gray levels, and ([\d.]+) in four seeds, for ([\d.]+); plain .* ([\d.]+)\): what", findings
    )
    means = []
    for run in (SLOWER, SOLVED["DUST on Avenue"]):
        scores = pd.read_csv(readme.ROOT / "data/evidence" / run / "scores.csv")
        own = scores.query("metric == 'rmse' and gamma == 0.13 and layers in (0, 7)")
        means.append(own.groupby("arm")["value"].mean())
    slower, before = means
    expected = slower["constrained"], before["constrained"], slower["frame_mean"], slower["unconstrained"]
    assert [*map(float, said.groups())] == pytest.approx(expected, abs=0.051)
    assert min(expected[:2]) > expected[2] > expected[3]


def test_what_hangs_on_the_setting_that_is_not_solved_is_worked_out_without_it() -> None:
    folders, _ = programme.parted(readme.ROOT / "data/evidence", "small")
    pairs, facts = parts.joined(folders)
    video = pairs["claim"].isin(VIDEO)
    place = video & (pairs["model"] == "dust_shared") & (pairs["dataset"] == "avenue")
    of_place = (facts["model"] == "dust_shared") & (facts["dataset"] == "avenue")
    findings = (readme.ROOT / "docs/findings.md").read_text().split("**What hangs on it**")[1].split("\n## ")[0]
    for own, told in (
        (scorecard.judged(pairs, facts.assign(why=facts["why"].mask(of_place, "left out"))), findings),
        (scorecard.judged(pairs[~(place & (pairs["layers"] == 7))], facts), findings.split("setting alone")[1]),
    ):
        gain, price = (100 * own.set_index("claim").loc[name, BOUNDS] for name in ("video_ood", "video_cost"))
        said = np.abs([float(number) for number in re.findall(r"-?\d*\.\d+", told)[:6]])
        assert sorted(said[:3]) == pytest.approx(sorted(np.abs(gain)), abs=0.0051)
        assert sorted(said[3:]) == pytest.approx(sorted(np.abs(price)), abs=0.051)
    by = ["claim", "layers", "seed", "resample"]
    slower = pd.read_parquet(readme.ROOT / "data/evidence" / SLOWER / "pairs.parquet").set_index(by)["effect"]
    instead, of_seven = pairs.copy(), place & (pairs["layers"] == 7)
    instead.loc[of_seven, "effect"] = slower.loc[[*tuples(pairs[of_seven], by)]].to_numpy()
    assert (instead["effect"] != pairs["effect"]).any()
    same, as_it_is = (scorecard.judged(rows, facts).set_index("claim") for rows in (instead, pairs))
    columns = [*BOUNDS, "verdict"]
    pd.testing.assert_frame_equal(same.loc[VIDEO, columns], as_it_is.loc[VIDEO, columns])


def test_the_gain_on_video_is_reversed_with_all_settings_of_seven_layers_and_no_effect_without_any_one() -> None:
    folders, _ = programme.parted(readme.ROOT / "data/evidence", "small")
    pairs, facts = (table[table["claim"].isin(VIDEO)] for table in parts.joined(folders))
    seven = pairs["layers"] == 7
    left_out = [seven & (pairs["model"] == model) & (pairs["dataset"] == dataset) for model, dataset in SEVEN]
    assert all(rows.any() for rows in left_out)
    gains, prices = {}, set()
    for name, rows in {"all": seven & ~seven, "none of them": seven, **dict(enumerate(left_out))}.items():
        judged = scorecard.judged(pairs[~rows], facts).set_index("claim")
        gains[name] = judged.loc["video_ood"]
        prices.add(judged.loc["video_cost", "verdict"])
    assert prices == {"not reproduced"}
    assert gains["all"]["verdict"] == "reversed"
    assert {gains[name]["verdict"] for name in gains if name != "all"} == {"no effect of interest"}
    assert [100 * gains[number]["estimate"] for number in range(3)] == pytest.approx(3 * [-0.33], abs=0.0051)
    without = 100 * gains["none of them"].loc[BOUNDS].astype(float)
    bounds = 100 * gains["all"].loc[["low90", "high90"]].astype(float)
    low, high = (f"{bound:.2f}".replace("-0.", "-.") for bound in bounds)
    estimate, *interval = (f"{number:.2f}".replace("0.", ".") for number in without)
    doubts = readme.flat(readme.DOUBTS)
    assert f"are -.33, *no effect of interest*, and without all three they are {estimate}" in doubts
    assert f"its 90 % interval, {low} to {high} %, ends just beyond the 1 % that matter" in doubts
    findings = (readme.ROOT / "docs/findings.md").read_text()
    assert f"gain {estimate} % ({' to '.join(interval)}), *no effect of interest*" in findings
    assert f"the 90 % interval, {low} to {high} %, ends just beyond" in findings


def test_what_encoders_gain_and_pay_by_their_duals_is_what_each_part_says() -> None:
    findings = (readme.ROOT / "docs/findings.md").read_text().split("| encoders, rate of the duals |")[1]
    lines = [line.strip("| ").split(" | ") for line in findings.split("\n\n")[0].splitlines()[2:]]
    assert [line[0] for line in lines] == [*DUALS]
    for name, *told in lines:
        table = pd.read_csv(readme.ROOT / "data/evidence" / DUALS[name] / "sensitivity.csv")
        own = table[table["average"] == ALONE].set_index("claim")
        for claim, said in zip(TEXTS, told, strict=True):
            assert _numbers(said) == pytest.approx([*(100 * own.loc[claim, BOUNDS])], abs=0.0051)


def _numbers(words: str) -> list[float]:
    return [float(number) for number in re.findall(r"[-+]?\d*\.\d+", words)]


def test_the_verdicts_on_texts_without_each_model_are_those_that_are_told() -> None:
    folders, _ = programme.parted(readme.ROOT / "data/evidence", "small")
    pairs, facts = (table[table["claim"].isin(TEXTS)] for table in parts.joined(folders))
    said = []
    for model, name in (("ut_text", "UT"), ("distilbert", "DistilBERT"), ("roberta", "RoBERTa")):
        of_model = (facts["model"] == model) & (facts["why"] == "")
        assert set(facts.loc[of_model, "dataset"]) == {"imdb"} and of_model.sum() == len(TEXTS)
        without = facts.assign(why=facts["why"].mask(of_model, "left out"))
        gain, price = (scorecard.judged(pairs, without).set_index("claim").loc[claim] for claim in TEXTS)
        told = f"{_short(gain['estimate'])} ({_short(gain['low'])} to {_short(gain['high'])})"
        said.append(f"without {name} {told}, *{gain['verdict']}*, and *{price['verdict']}*")
    assert f"both verdicts: {'; '.join(said)}." in readme.flat(readme.DOUBTS)


def _short(share: float) -> str:
    """In points, without the zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{100 * share:.2f}")


def test_how_many_models_with_bounded_steps_did_not_diverge_is_counted_once_each() -> None:
    folders = [file.parent for file in (readme.ROOT / "data/evidence").glob("*/cells.csv")]
    found = pd.concat([files.cells(folder).assign(run=folder.name) for folder in folders])
    found = found[
        found["trained"].astype(bool) & found["model"].isin(["dust_bounded", "ut_bounded", "dust_scaled"])
    ]
    once = found.drop_duplicates(["run", "model", *trained.SAME, "validation_loss"])
    assert not once["diverged"].astype(bool).any() and len(once) < len(found)
    bounded = (once["model"] != "dust_scaled").sum()
    told = f"None of {bounded} of them diverged ({len(once)} with `dust_scaled`)"
    assert told in (readme.ROOT / "docs/findings.md").read_text()
