"""What README, findings and doubts say by hand is what pages and tables say, which code writes."""

import re

import numpy as np
import pandas as pd
import pytest

from descent import config
from descent.analysis import paper_tables
from descent.analysis.select import select
from descent.analysis.verdicts import LEVEL, exact_share
from descent.analysis.wording import signed
from descent.published import files, parts, programme
from tests.newcomer import readme

HELD = (
    r"within the tolerance in (\d+) of the (\d+) on validation data, and in (\d+) on test data "
    r"\((\d+) of (\d+) on ShanghaiTech\)\."
)
BY_HAND = (
    r"in all (\d+) constrained models of the runs judged together, of video, texts and the language model \(by as "
    r"much as asked, within a tolerance of ([\d.]+): in (\d+), on test data in (\d+), of ShanghaiTech's (\d+) in "
    r"(\d+); of the "
    r"language model's two layers the second alone is asked\)"
)
SHOW = "## What the models behind the verdicts show"
STOPPED = {"UT": "small-8c66dd11", "DUST": "small-c01b2581", "DUST on Avenue": "small-208d9dc2"}
NUPI = "https://proceedings.mlr.press/v235/sohrabi24a.html"


@pytest.fixture(scope="module")
def bullets() -> str:
    """What is typed of the models behind the verdicts."""
    return readme.flat(readme.FINDINGS, SHOW)


@pytest.fixture(scope="module")
def page() -> str:
    """What code writes of the verdicts."""
    return (readme.ROOT / "data/evidence/README.md").read_text()


def test_the_models_that_descend_and_hold_are_those_of_the_page(bullets: str, page: str) -> None:
    held, every, tested, few, shanghai = re.search(HELD, page).groups()
    told, tolerance, *kept = re.search(BY_HAND, bullets).groups()
    assert (told, *kept) == (every, held, tested, shanghai, few)
    assert float(tolerance) == config.load(readme.ROOT / "params.yaml").video.tolerance
    assert f"**{every} of {every} constrained models**" in page
    (none,) = re.findall(r"; none of (\d+) \(", page)
    assert f"none of {none} (" in bullets
    behind = re.search(r"\(\*ERM\*\) in (\d+ of the \d+ behind a verdict)", page)[1]
    first = readme.flat(after="## What was found", until="<!-- evidence -->")
    assert f"in all {every} constrained models" in first and f"in {behind}, but in none of" in first
    card = pd.read_csv(readme.ROOT / "data/evidence" / programme.CLAIMS).set_index("claim")["estimate"]
    gain, price = (f"{100 * abs(card[claim]):.1f}" for claim in ("video_ood", "video_cost"))
    assert f"err {gain} % more in the mean above the noise of training" in first and card["video_ood"] < 0
    assert f", and {price} % more up to it" in first and card["video_cost"] > 0


def test_what_the_means_hide_is_told_as_on_the_page(bullets: str, page: str) -> None:
    depths = re.search(r"\*Video\*: (.*?) % \(L = 3 / 5 / 7\), untrimmed", page)[1]
    said = re.search(r"\(three, five, seven layers\) the gain is (.*?) %; in the paper", bullets)[1]
    assert _numbers(said) == _numbers(depths) and len(_numbers(said)) == 6
    at = re.search(r"\*Texts\* .*?: (\S+) points at gamma = 1, (\S+) points at gamma = 4", page).groups()
    told = re.search(r"At a test noise of 1 the mean gain is (\S+) points, at 4 it is (\S+)\. ", bullets).groups()
    assert [float(number) for number in told] == [float(number) for number in at]
    gray = re.search(r"in gray levels the gain of \*Video\* is (.*?) %, by depth", page)[1]
    sure = readme.flat(readme.DOUBTS)
    told = re.search(r"where claims average logarithms, it is (\.\d) % \((.*?)\)", sure)
    assert _numbers(" ".join(told.groups())) == _numbers(gray)
    cap = re.search(r"a price of \+(\S+) \(.*? % where it was \+(\S+) \(", page).groups()
    stays = (
        r"most of the price of (\S+) % stays: (\S+) without all three settings of seven layers, (\S+) with a hi"
    )
    whole, without, higher = re.search(stays, sure).groups()
    assert (higher, whole) == cap and f"the price is then {without} %" in sure


def test_the_readme_types_no_number_that_findings_do_not_tell_in_one_place() -> None:
    """All numbers of one of its bullets stand in one paragraph of the findings, whose numbers are worked out."""
    typed = readme.text([readme.README]).split("Seen beside the verdicts")[1].split("\n## ")[0]
    bullets = [line for line in typed.splitlines() if line.startswith("- ")]
    places = [set(_every(line)) for line in readme.text([readme.FINDINGS]).splitlines()]
    assert len(bullets) == 4
    for bullet in bullets:
        assert any(set(_every(bullet)) <= place for place in places), bullet
    assert not _every(typed.split("**How sure?**")[1])


def _every(words: str) -> list[float]:
    """The numbers of a paragraph, without their signs and the addresses of its links."""
    return [float(number) for number in re.findall(r"(?<![\w.])\d*\.?\d+(?!\w)", re.sub(r"\]\(.*?\)", "]", words))]


def _numbers(words: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d*\.\d+", words)]


def test_what_is_said_of_the_claims_on_descent_is_their_row_of_the_page(bullets: str, page: str) -> None:
    rows = {line.split(" | ")[0]: line for line in page.splitlines() if "falls at every layer | " in line}
    said = re.search(
        r"it holds in (\d+) of \1 on video and (\d+) of \2 on texts, which reads \*cannot tell\*", bullets
    )
    for task, settings in zip(("Video", "Text"), said.groups(), strict=True):
        row = rows[f"| {task}: the loss of constrained models falls at every layer"]
        assert "| 100 % (" in row and f"| {settings} settings, 8 seeds | **cannot tell** |" in row
    first = next(n for n in range(1, 99) if exact_share(n, n, LEVEL)[0] > 0.9)
    assert f"more than 90 % takes {first} settings to tell" in bullets
    plain = [line for line in page.splitlines() if "unconstrained models does not fall at every layer" in line]
    assert ["not reproduced" in line for line in plain] == [True, False] and "**cannot tell**" in plain[1]


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
        for line in readme.text([readme.DOUBTS]).splitlines()
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
    assert f"they have {weights:,.0f} weights." in readme.flat(readme.DOUBTS)


def _told(model: str, run: str) -> dict[str, object]:
    """What a run says of a model that the page of doubts repeats."""
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


def test_the_programme_is_as_many_runs_and_hours_as_the_readme_says() -> None:
    rest = parts.resting(programme.parted(readme.ROOT / "data/evidence", "small")[0])
    once = ["seconds", "validation_loss", "seed", "layers", "arm"]  # a training that several experiments share
    hours = sum(files.cells(folder).drop_duplicates(once)["seconds"].sum() for folder in rest) / 3600
    words = {6: "six", 7: "seven", 8: "eight", 9: "nine"}[len(rest)]
    page = readme.README.read_text()
    assert f"the {words} runs that the verdicts rest on | {hours:.1f} core-hours of training" in page
    assert f"RUN=all                # runs them ({hours / 2:.0f} h and more on two cores" in page
