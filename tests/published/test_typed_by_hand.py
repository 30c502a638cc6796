"""What the README's bullets and the findings say by hand is what pages and tables say, which code writes."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent import components, config
from descent.analysis import paper_tables, scorecard, solved
from descent.analysis.keys import tuples
from descent.analysis.select import select
from descent.analysis.sensitivity import ALONE
from descent.analysis.verdicts import student
from descent.analysis.wording import signed
from descent.published import files, parts, priced, programme, trained
from tests.newcomer import readme

HELD = r"within the tolerance in (\d+) of the (\d+) on validation data, and in (\d+) on test data"
BY_HAND = (
    r"in all (\d+) constrained models that count, of video, texts and the language model \(by as much as asked, "
    r"within a tolerance of ([\d.]+): in (\d+), on test data in (\d+); of the "
    r"language model's two layers the second alone is asked\)"
)

TIGHTER = ("small-7d27c6a9", "small-6b9eda81", "small-50fcf2eb")
KINDS = ("small-6cf61e98", "small-47287648")
PARTS = {"UT": "small-91d28abc", "DUST": "small-c01b2581"}
STOPPED = {"UT": "small-8c66dd11", "DUST": "small-c01b2581", "DUST on Avenue": "small-208d9dc2"}
AVENUE = ("small-f6791956", "small-326cbb11")
SLOWER = "small-a0d24a45"
SOLVED = {
    "UT on UCSD": "small-91d28abc",
    "UT on UCSD, new seeds": "small-8c66dd11",
    "DUST on UCSD": "small-c01b2581",
    "DUST on Avenue": "small-208d9dc2",
    "DUST on Avenue, seven layers, slower duals": SLOWER,
    "the language model": "small-44e380a6",
    "RoBERTa on IMDb": "small-2132a0b2",
    "RoBERTa on IMDb, the last ninth": "small-fc9a1e7d",
    "DistilBERT on IMDb, the last ninth": "small-d35e27c1",
    "RoBERTa on IMDb, slower duals": "small-6f47e60a",
    "DistilBERT on IMDb, slower duals": "small-60f1123b",
    "RoBERTa on IMDb, slower duals, more damping": "small-98005d30",
    "DistilBERT on IMDb, slower duals, more damping": "small-63360fb3",
    "UT on IMDb, slower duals": "small-afab60de",
}
DUALS = {  # of the encoders' parts, by the rate of the duals
    "RoBERTa, .1": "small-388d1c25",
    "RoBERTa, .01": "small-6f47e60a",
    "RoBERTa, .01, more damping, behind the verdicts": "small-98005d30",
    "DistilBERT, .1": "small-c9d37fcc",
    "DistilBERT, .01": "small-60f1123b",
    "DistilBERT, .01, more damping, behind the verdicts": "small-63360fb3",
}
TEXTS = ["text_ood", "text_cost"]
NUPI = "https://proceedings.mlr.press/v235/sohrabi24a.html"
VIDEO = ["video_ood", "video_cost"]
SEVEN = [("dust_shared", "avenue"), ("dust_shared", "ucsd"), ("ut", "ucsd")]  # the settings of seven layers
BOUNDS = ["estimate", "low", "high"]
SIDES = ((-1, "in", ("", "_high", "_low")), (1, "out", ("", "_low", "_high")))


@pytest.fixture(scope="module")
def bullets() -> str:
    """What is typed beneath the block that code writes."""
    typed = readme.README.read_text().split("<!-- /evidence -->")[1].split("**How sure?**")[0]
    return " ".join(typed.split())


@pytest.fixture(scope="module")
def page() -> str:
    """What code writes of the verdicts."""
    return (readme.ROOT / "data/evidence/README.md").read_text()


def test_the_models_that_descend_and_hold_are_those_of_the_page(bullets: str, page: str) -> None:
    held, every, tested = re.search(HELD, page).groups()
    told, tolerance, *kept = re.search(BY_HAND, bullets).groups()
    assert (told, *kept) == (every, held, tested)
    assert float(tolerance) == config.load(readme.ROOT / "params.yaml").video.tolerance
    assert f"**{every} of {every} constrained models**" in page
    (none,) = re.findall(r"; none of (\d+) \(", page)
    assert f"none of {none} (" in bullets


def test_where_the_gain_turns_and_how_far_it_goes_is_that_of_the_page(bullets: str, page: str) -> None:
    best, turn = re.search(r"up to ([\d.]+) % less from ([\d.]+) on", bullets).groups()
    told = re.search(r"\+([\d.]+) % at gamma = 0.6 \(better from ([\d.]+) on\)", page).groups()
    assert tuple(map(float, (best, turn))) == tuple(map(float, told))


def test_the_medians_of_the_papers_table_are_worked_out_from_it(bullets: str) -> None:
    depths = paper_tables.by_depth(paper_tables.read(readme.ROOT / paper_tables.VIDEO))
    medians = depths[depths["model"] == "UT"].sort_values("layers")["all"]
    said = ", ".join(signed(value).removeprefix("+") for value in medians)
    assert f"falls with depth too: {said} %" in bullets


def test_the_settings_beside_the_papers_are_those_of_the_runs_and_of_its_tables() -> None:
    rows = {
        line.split(" | ")[0]: line.rstrip(" |").split(" | ")[1:]
        for line in readme.text([readme.README]).splitlines()
    }
    runs = {"ut": ["small-9ecb5140"], "dust_shared": ["small-0e05c208", "small-24cbc4c9"]}
    ours = {model: [_told(model, run) for run in names] for model, names in runs.items()}
    (ucsd,), (same, avenue) = ([one.pop("margin") for one in told] for told in ours.values())
    assert ucsd == same and ours["dust_shared"][0] == ours["dust_shared"][1], "both cameras of DUST alike"
    ut, dust = (told[0] for told in ours.values())
    params, table = (
        config.load(readme.ROOT / "params.yaml"),
        pd.read_csv(readme.ROOT / "data/paper/table1_video.csv"),
    )
    said = table.set_index("parameter")
    frame, paper = params.video.frame, params.profiles["paper"].video
    alphas, caps = ([said.loc[name, model] for model in ("ut", "dust")] for name in ("1 - alpha", "R0"))
    assert rows["| frames; patches"] == [
        f"{frame.size} x {frame.size}; {frame.patch} x {frame.patch} pixels",
        f"{ut['size']} x {ut['size']}; {ut['patch']} x {ut['patch']}",
    ]
    assert rows["| atoms (columns of a dictionary); frames in a sequence"] == [
        f"{paper.models['dust']['atoms']:,}; {paper.tokens}",
        f"{ut['atoms']}; {ut['tokens']}",
    ]
    assert (ut["size"], ut["patch"], ut["atoms"], ut["tokens"], ut["how"]) == (
        dust["size"],
        dust["patch"],
        dust["atoms"],
        dust["tokens"],
        dust["how"],
    )
    descent = rows["| descent asked for: UT, DUST"]
    assert descent[0] == ", ".join(f"{100 * (1 - kept):.0f} %" for kept in alphas)
    assert [ut["alpha"], dust["alpha"]] == [pytest.approx(1 - kept) for kept in alphas]
    assert descent[1] == (
        f"the same, and in training a margin of {100 * ucsd:.0f} points (DUST on Avenue: {100 * avenue:.0f})"
    )
    cap = rows["| cap on the loss before the first layer: UT, DUST"]
    assert cap[0] == ", ".join(f"{value:g}" for value in caps)
    assert cap[1].startswith(f"{ut['R0']:g}, {dust['R0']:g}: ")
    area = (ut["patch"] / frame.patch) ** 2
    assert [ut["R0"], dust["R0"]] == [pytest.approx(value * area) for value in caps], "the same for a pixel"
    names = {"ratio": "ratios of losses", "nupi": f"[nuPI]({NUPI}), a PI controller", "none": "none"}
    solver = rows["| constraints; what steps their multipliers; relaxation"][1]
    assert solver == "; ".join(names[word] for word in ut["how"])
    assert rows["| training steps: UT, DUST"][1].startswith(f"{ut['steps']:,}, {dust['steps']:,}: ")
    assert rows["| seeds"][1] == str(ut["seeds"]) == str(dust["seeds"])
    (weights,) = {number for told in ours.values() for one in told for number in one["weights"]}
    assert f"they have {weights:,.0f} weights." in readme.README.read_text()


def _told(model: str, run: str) -> dict[str, object]:
    """What a run says of a model that the README repeats."""
    params = config.load(readme.ROOT / "data/evidence" / run / "params.yaml")
    (dataset,), budget = params.video.datasets, params.model_budget(model)
    problem = params.problem(dataset, model)
    return {
        "size": params.video.frame.size,
        "patch": params.video.frame.patch,
        "atoms": budget["atoms"],
        "tokens": budget["tokens"],
        "alpha": problem.alpha,
        "margin": problem.margin,
        "R0": problem.R0,
        "how": (problem.constraint, problem.dual_optimizer, problem.resilience),
        "steps": budget["epochs"] * budget["epoch_inputs"] // budget["batch"],
        "seeds": len(params.budget.video.seeds),
        "weights": [*pd.read_csv(readme.ROOT / "data/evidence" / run / "cells.csv")["parameters"].dropna()],
    }


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
    before = ut[~ut["run"].isin(["small-e68722f0", *PARTS.values(), *STOPPED.values()])]
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


def test_what_stopping_early_gains_is_what_its_tables_tell(bullets: str) -> None:
    findings = (readme.ROOT / "docs/findings.md").read_text().split("## Stopped early")[1]
    lines = [line.strip("| ").split(" | ") for line in findings.split("\n## ")[0].splitlines() if line[:1] == "|"]
    told = {
        tuple(line[0].split(", ")): [float(cell.removesuffix(" %")) for cell in line[1:]] for line in lines[2:]
    }
    expected = {}
    for model, run in STOPPED.items():
        rows = pd.read_csv(readme.ROOT / "data/evidence" / run / "stopped.csv")
        for layers in (3, 5, 7):
            ends = (
                select(rows, arm="unconstrained", layer=layers - 1),
                select(rows, arm="constrained", layer=layers),
            )
            own = [select(end, layers=layers).iloc[0] for end in ends]
            expected[model, f"{layers}"] = [100 * x for end in own for x in (end["gain_out"], -end["gain_in"])]
    assert told.keys() == expected.keys()
    assert all(told[place] == pytest.approx(expected[place], abs=0.051) for place in told)
    three, five, seven = (expected["UT", layers] for layers in ("3", "5", "7"))
    number = r"([\d.]+)"
    two = f"{number} and {number} % at a price of {number} and {number} %"
    asked = (
        f"a gain of {two}, where constraints have a gain of -{two.replace('and ', 'and -', 1)}.*better trade "
        rf"\(a gain of {number} % at {number}; stopping {number} at {number}\)"
    )
    said = [float(number.rstrip(".")) for number in re.search(asked, bullets).groups()]
    pairs = [[sign * own[place] for own in (five, seven)] for place, sign in ((0, 1), (1, 1), (2, -1), (3, 1))]
    assert said == pytest.approx([*np.ravel(pairs), three[2], three[3], three[0], three[1]], abs=0.051)


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
    for run in (SLOWER, STOPPED["DUST on Avenue"]):
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
    readme_says = " ".join(readme.README.read_text().split())
    assert f"are -.33, *no effect of interest*, and without all three they are {estimate}" in readme_says
    assert f"its 90 % interval, {low} to {high} %, ends just beyond the 1 % that matter" in readme_says
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


def test_the_verdicts_on_texts_without_each_model_are_those_that_the_readme_tells() -> None:
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
    assert f"both verdicts: {'; '.join(said)}." in " ".join(readme.README.read_text().split())


def _short(share: float) -> str:
    """In points, without the zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{100 * share:.2f}")


def test_the_programme_is_as_many_runs_and_hours_as_the_readme_says() -> None:
    rest = parts.resting(programme.parted(readme.ROOT / "data/evidence", "small")[0])
    hours = sum(files.cells(folder)["seconds"].sum() for folder in rest) / 3600
    words = {7: "seven", 8: "eight", 9: "nine"}[len(rest)]
    assert (
        f"the {words} runs that the six verdicts rest on | {hours:.1f} h of one core" in readme.README.read_text()
    )


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
