"""What the findings say by hand of kinds of solution, bias and the price is what tables say, which code writes."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent import config
from descent.analysis.select import select
from descent.analysis.verdicts import student
from descent.published import files, priced, programme
from tests.newcomer import readme

TIGHTER = ("small-7d27c6a9", "small-6b9eda81", "small-50fcf2eb")
KINDS = ("small-6cf61e98", "small-47287648")
PARTS = {"UT": "small-91d28abc", "DUST": "small-c01b2581"}
STOPPED_FIRST = ("small-8c66dd11", "small-c01b2581", "small-208d9dc2")  # whose models had been seen before
AVENUE = ("small-f6791956", "small-326cbb11")
SIDES = ((-1, "in", ("", "_high", "_low")), (1, "out", ("", "_low", "_high")))


def test_what_a_tighter_start_is_worth_is_what_its_tables_tell() -> None:
    root = readme.ROOT / "data/evidence"
    findings = (readme.ROOT / "docs/findings.md").read_text().replace("$", "")
    lines = [line for line in findings.splitlines() if line.startswith("| SOAP") or line.startswith("| behind")]
    adam, without, tighter = (line.strip("| ").split(" | ")[1:] for line in lines)
    paid = pd.read_csv(root / programme.PRICES)
    for told, run in ((adam, "small-0e05c208"), (tighter, TIGHTER[0])):
        (own,) = select(paid, run=run, experiment="video", layers=7)["paid"]
        pairs = files.pairs_and_facts(root / run)[0].query("resample == 0 and layers == 7 and varied == ''")
        expected = [_percent(select(pairs, claim=claim)["effect"]) for claim in ("video_cost", "video_ood")]
        assert told[:3] == [f"{math.exp(own):.2f}", *expected]
    own = pd.read_csv(root / TIGHTER[0] / "controls.csv").set_index(["arm", "varied"]).loc["constrained", 0.0]
    interval = [[sign * own[f"gain_{side}{end}"] for end in ends] for sign, side, ends in SIDES]
    assert without[1:3] == [_told_as(*three) for three in interval]
    at_most = [pd.read_csv(root / run / "levels.csv") for run in ("small-0e05c208", TIGHTER[0])]
    at_most = [select(own, experiment="video", arm="constrained", layers=7, gamma=0.6) for own in at_most]
    assert [float(line[3].removesuffix(" %")) for line in (adam, tighter)] == [
        pytest.approx(100 * own["gain"].iloc[0], abs=0.051) for own in at_most
    ]


def test_what_two_kinds_of_solution_pay_and_lose_is_worked_out_from_their_scores() -> None:
    cells = _gains_by_kind(readme.ROOT / "data/evidence" / KINDS[0])
    findings = (readme.ROOT / "docs/findings.md").read_text().split("## Two kinds of solution")[1]
    rows = [
        line.strip("| ").split(" | ") for line in findings.split("\n## ")[0].splitlines() if line.startswith("| ")
    ]
    told = [row for row in rows if row[0].isdigit()]
    assert len(told) == len(cells) == 4
    for row, ((layers, _), own) in zip(told, cells, strict=True):
        low, high = map(float, row[1].split(" to "))
        assert (int(row[0]), int(row[2])) == (layers, len(own))
        assert (low, high) == pytest.approx((own["longest_step"].min(), own["longest_step"].max()), abs=0.005)
        numbers = [float(cell.removesuffix(" %")) for cell in row[3:]]
        assert numbers == pytest.approx([own["price"].mean(), own["gain"].mean()], abs=0.051)


def _gains_by_kind(run: Path) -> list[tuple[tuple[int, bool], pd.DataFrame]]:
    """The constrained cells of a run's grid and starts by depth and by whether their longest step is beyond 1.2:
    `price` and `gain` in percent, from RMSE at each level of the sweep."""
    levels = config.load(run / "params.yaml").video.evaluation.gammas
    key, grids = ["experiment", "layers", "seed"], ("video", "controls_start_3", "controls_start_5")
    scores = pd.read_csv(run / "scores.csv").query("metric == 'rmse' and layers > 0")
    scores = scores[scores["experiment"].isin(grids) & scores["gamma"].isin(levels)].assign(
        inside=scores["gamma"] <= 0.13
    )
    scores["log"] = scores["value"].map(math.log)
    means = scores.pivot_table(index=key, columns=["arm", "inside"], values="log")
    gains = 100 * (means["unconstrained"] - means["constrained"])
    cells = (
        pd.read_csv(run / "cells.csv").query("arm == 'constrained' and layers > 0").set_index(key)["longest_step"]
    )
    found = pd.DataFrame({"price": -gains[True], "gain": gains[False]}).join(cells).reset_index()
    return list(found.groupby(["layers", found["longest_step"] > 1.2]))


def _percent(effects: pd.Series) -> str:
    return _told_as(effects.mean(), *student(effects.to_numpy())[1])


def _told_as(*three: float) -> str:
    return "{:.1f} % ({:.1f} to {:.1f})".format(*(100 * value for value in three))


def test_how_often_the_closed_form_of_the_price_is_near_is_what_the_table_tells() -> None:
    found = pd.read_csv(readme.ROOT / "data/evidence" / programme.PRICES)
    told = found[found["tied"] & found["expected"].notna()]
    ut, dust = (select(told, model=model, dataset="ucsd") for model in ("ut", "dust_shared"))
    announced = select(ut, run="small-e68722f0")
    before = ut[~ut["run"].isin(["small-e68722f0", *PARTS.values(), *STOPPED_FIRST])]
    every, found_on, deep, deep_before, of_dust, foretold = (
        f"{priced.near(rows).sum()} of {len(rows)}"
        for rows in (ut, before, ut[ut["layers"] != 3], before[before["layers"] != 3], dust, announced)
    )
    findings = " ".join((readme.ROOT / "docs/findings.md").read_text().split()).replace("$", "")
    assert f"of UT on UCSD {every} settings lie near it" in findings
    assert f"and {found_on.replace('of', 'of the')} that it was found on" in findings
    assert f"(without them {deep}, and {deep_before}). Of DUST with one dictionary on UCSD {of_dust};" in findings
    assert f"{foretold} near it, where 10 were asked" in findings
    one, own = (found.loc[found["tied"] == tied, "paid"].median() for tied in (True, False))
    assert f"{math.exp(own):.2f} times ERM's in the median, those of one map {math.exp(one):.2f}," in findings


def test_what_bias_and_variance_add_is_worked_out_from_the_scores() -> None:
    findings = (readme.ROOT / "docs/findings.md").read_text().split("## What the error is made of")[1]
    lines = [line.strip("| ").split(" | ") for line in findings.split("\n## ")[0].splitlines() if line[:1] == "|"]
    told = {tuple(line[0].split(", ")): [*map(float, line[1:])] for line in lines[2:]}
    expected = {
        (model, f"{layers}"): [value for gamma in (0.13, 0.6) for value in own.loc[layers, gamma]]
        for model, run in PARTS.items()
        for layers, own in _in_parts(readme.ROOT / "data/evidence" / run).groupby("layers")
    }
    assert told.keys() == expected.keys()
    assert all(told[place] == pytest.approx(expected[place], abs=0.051) for place in told)


def _in_parts(run: Path) -> pd.DataFrame:
    """By layers and gamma, of a run's grid, what bias and variance of our arm are larger, in percent of the
    squared error of the baseline; all squared and averaged over seeds."""
    scores = pd.read_csv(run / "scores.csv").query("metric in ('rmse_bias', 'rmse_variance')")
    scores["square"] = scores["value"] ** 2
    means = scores.pivot_table(index=["layers", "gamma"], columns=["arm", "metric"], values="square")
    ours, baseline = means["constrained"], means["unconstrained"]
    return 100 * (ours - baseline).div(baseline.sum(axis=1), axis=0)


def test_the_kinds_on_another_camera_are_worked_out_from_the_trainings_that_ended_solved() -> None:
    findings = (readme.ROOT / "docs/findings.md").read_text().split("**On another camera**")[1]
    lines = [line.strip("| ").split(" | ") for line in findings.splitlines() if line.startswith("  |")][2:4]
    told = [[int(line[1]), *(float(cell.removesuffix(" %")) for cell in line[2:])] for line in lines]
    root = readme.ROOT / "data/evidence"
    kinds, more = (_pairs_by_start(root / run) for run in AVENUE)
    cells = pd.concat([kinds.query("varied != '0.05'"), more.query("varied != ''")])
    solved = cells[cells["slackness"] < 0.1]
    for (_, own), numbers in zip(solved.groupby(solved["longest_step"] > 1.2), told, strict=True):
        means = own[["price", "gain", "bias", "variance"]].mean()
        assert numbers == [len(own), *(pytest.approx(mean, abs=0.051) for mean in means)]
    assert len(cells) - len(solved) == int(
        re.search(r"with starts of .14 and .20 .* (\d+) of them with slackness above", findings)[1]
    )


def _pairs_by_start(run: Path) -> pd.DataFrame:
    """The constrained cells of a run's grid and starts, in percent of the logarithm: `price`, `gain`, and what
    their `bias` at .13 and `variance` at .6 are more than plain training's; with two columns of cells.csv."""
    key = ["experiment", "varied", "seed"]
    scores = pd.read_csv(run / "scores.csv", dtype={"varied": str}).fillna({"varied": ""}).query("layers > 0")
    levels = config.load(run / "params.yaml").video.evaluation.gammas
    swept = scores[(scores["metric"] == "rmse") & scores["gamma"].isin(levels)]
    sides = {
        "price": swept[swept["gamma"] <= 0.13],
        "gain": swept[swept["gamma"] > 0.13],
        "bias": scores.query("metric == 'rmse_bias' and gamma == 0.13"),
        "variance": scores.query("metric == 'rmse_variance' and gamma == 0.6"),
    }
    more = {}
    for name, rows in sides.items():
        logs = rows.assign(log=np.log(rows["value"])).groupby(["arm", *key])["log"].mean()
        ours, plain = logs["constrained"], logs["unconstrained"].droplevel("varied")
        more[name] = 100 * (ours - plain.reindex(ours.index.droplevel("varied")).to_numpy())
    cells = pd.read_csv(run / "cells.csv", dtype={"varied": str}).fillna({"varied": ""})
    found = pd.DataFrame(more).join(
        cells.query("arm == 'constrained'").set_index(key)[["longest_step", "slackness"]]
    )
    return found.assign(gain=-found["gain"]).reset_index()
