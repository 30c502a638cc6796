"""What PROTOCOL says that a referee found, and the page of doubts after it, is worked out from published runs."""

import re

import pandas as pd
import pytest

from descent.analysis import scorecard, twice
from descent.analysis.lost import truth
from descent.analysis.select import select
from descent.config import load
from descent.published import files, parts, programme
from tests.newcomer import readme

PUBLISHED = readme.ROOT / "data/evidence"
LM, LOST, THREE, SEVEN = (f"small-{digest}" for digest in ("44e380a6", "9785db17", "47287648", "0e05c208"))
DUST = {"dataset": "ucsd", "model": "dust_shared"}
BOUNDS = ["estimate", "low", "high"]
DOUBTS = readme.flat(readme.DOUBTS)


@pytest.fixture(scope="module")
def section() -> str:
    return readme.flat(PUBLISHED / "PROTOCOL.md", "## What a referee found on 2026-11-30")


def numbers(words: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d*\.?\d+", words)]


def test_the_language_model_descends_without_constraints_by_more_than_is_asked(section: str) -> None:
    losses = pd.read_csv(PUBLISHED / LM / "scores.csv").query("experiment == 'lm' and metric == 'loss'")
    at_eps = losses[losses["gamma"] == losses["eps"]]
    f = at_eps.pivot_table(index=["arm", "seed"], columns="layer", values="value")
    ratio = (f[2] / f[1]).groupby("arm")
    words = r"f_2 is (\S+) to (\S+) of f_1 in .*?, (\S+) may be and (\S+) with the margin.*? f_2 is (\S+) of f_1\."
    low, high, may, with_margin, ours = map(float, re.search(words, section).groups())
    found = ratio.min()["unconstrained"], ratio.max()["unconstrained"], ratio.mean()["constrained"]
    assert (low, high, ours) == pytest.approx(found, abs=0.0051)
    problem = load(PUBLISHED / LM / "params.yaml").problem("alpaca", "causal_lm")
    assert (may, with_margin) == pytest.approx((1 - problem.alpha, 1 - problem.alpha - problem.margin))
    assert problem.cap_layer == 1 and (f.loc["unconstrained"][1] > problem.R0).all()


def test_all_baselines_of_an_equal_pair_were_lost_and_behind_no_verdict_is_one(section: str) -> None:
    cells = files.cells(PUBLISHED / LOST)
    erm = cells[truth(cells["trained"]) & (cells["arm"] == "unconstrained")]
    told = int(float(re.search(r"its (\d+) % are no gain", section)[1]))
    gains = (
        pd.read_csv(PUBLISHED / LOST / "models.csv").query("claim == 'video_ood'").set_index("model")["estimate"]
    )
    (model,) = gains.index[(100 * gains).round() == told]
    assert truth(select(erm, experiment="video", model=model)["diverged"]).tolist() == 6 * [True]
    folders = parts.resting(programme.parted(PUBLISHED, "small")[0])
    behind = pd.concat([files.cells(folder) for folder in folders])
    grids = behind[behind["experiment"].isin(["video", "text", "lm"]) & truth(behind["trained"])]
    compared = grids[grids["arm"].isin(["constrained", "unconstrained"])]
    assert len(compared) > 200 and not truth(compared["diverged"]).any()


def test_training_of_dust_had_ended_with_seven_layers_and_not_with_three(section: str) -> None:
    told = numbers(
        re.search(r"passes with seven layers \((.*?) %, standard error (.*?)\)", section)[0].replace("(", " ")
    )
    more = numbers(re.search(r"lower constrained f_3 by (.*?)\)\.", section)[1].replace("(", " "))
    found = []
    for run, layers in ((SEVEN, 7), (THREE, 3)):
        cells = files.cells(PUBLISHED / run)
        longer = twice.cells(select(cells[truth(cells["trained"])], **DUST))
        lower = select(longer, arm="constrained", layers=layers)["lower"]
        assert len(lower) == 3
        found += [100 * lower.mean(), 100 * lower.sem()]
    assert [*told, *more] == pytest.approx(found, abs=0.0051)
    assert found[0] < 1 < found[2], "the limit of P4"


def test_without_dust_on_ucsd_both_verdicts_on_video_stay(section: str) -> None:
    claims = ["video_ood", "video_cost"]
    pairs, facts = (
        table[table["claim"].isin(claims)] for table in parts.joined(programme.parted(PUBLISHED, "small")[0])
    )
    of_dust = (facts["model"] == DUST["model"]) & (facts["dataset"] == DUST["dataset"])
    card = scorecard.judged(pairs, facts.assign(why=facts["why"].mask(of_dust, "left out"))).set_index("claim")
    assert card["verdict"].to_dict() == {"video_ood": "reversed", "video_cost": "not reproduced"}
    assert (card["settings"] == 6).all()
    pattern = r"The gain on video would be (.*?)\), \*reversed\*, and the price (.*?)\), \*not reproduced\*"
    for page, words in (
        (section, pattern),
        (readme.flat(readme.DOUBTS), pattern.replace("The gain on video", "the gain")),
    ):
        gain, price = (numbers(said.replace("(", " ")) for said in re.search(words, page).groups())
        assert gain == pytest.approx([*(100 * card.loc["video_ood", BOUNDS].astype(float))], abs=0.0051)
        assert price == pytest.approx([*(100 * card.loc["video_cost", BOUNDS].astype(float))], abs=0.051)


def test_the_language_model_is_not_tested_since_its_cap_alone_is_active(section: str) -> None:
    folder = PUBLISHED / "small-9d8d6fc6"
    ours = files.cells(folder).query("experiment == 'lm' and arm == 'constrained'")
    assert len(ours) == 8 and truth(ours["feasible"]).all() and truth(ours["active"]).all()
    assert not truth(ours["descent_active"]).any() and (ours["slackness"] <= 0.1).all()
    card = pd.read_csv(folder / "claims.csv").set_index("claim").loc[["lm_ood", "lm_cost"]]
    assert (card["verdict"] == "not tested").all() and card["why"].str.contains(
        "0 have an active constraint"
    ).all()
    told = numbers(
        re.search(r"a gain of (.*?)\), all eight", section.split("*Carried out")[1])[1]
        .replace("points", "")
        .replace("a price of", "")
    )
    expected = [100 * number for claim in card.index for number in card.loc[claim, BOUNDS]]
    assert told == pytest.approx(expected, abs=0.0051)


def test_the_language_model_held_to_descent_is_told_by_its_tables(section: str) -> None:
    folder = PUBLISHED / "small-21bfbcb1"
    cells = files.cells(folder).query("experiment == 'lm'")
    ours, plain = (cells[cells["arm"] == arm] for arm in ("constrained", "unconstrained"))
    assert len(ours) == 8 and truth(ours["feasible"]).all() and truth(ours["feasible_test"]).all()
    assert truth(ours["descent_active"]).all()
    told = readme.flat(PUBLISHED / "PROTOCOL.md").split("# The language model, held to descent")[1]
    said = told.split("*Carried out")[1]
    slack = numbers(re.search(r"\(slackness (.*?)\)", said)[1])
    assert slack == pytest.approx([ours["slackness"].min(), ours["slackness"].max()], abs=0.00051)
    longer = pd.read_csv(folder / "epochs.csv").sort_values("epochs")
    falls = [-100 * longer[f"validation_loss_{arm}"].pct_change().iloc[1] for arm in ("ours", "baseline")]
    assert numbers(re.search(r"lower f_2 by (.*?) % \(constrained\) and (\S+) %", said)[1]) == pytest.approx(
        falls[:1], abs=0.0051
    )
    assert float(re.search(r"and (\S+) % \(ERM\)", said)[1]) == pytest.approx(falls[1], abs=0.0051)
    card = pd.read_csv(folder / "claims.csv").set_index("claim")
    gain, price = (numbers(re.search(words, said)[1]) for words in (r"gain is (.*?)\)", r"price (-\.27.*?)\)"))
    assert gain == pytest.approx([*(100 * card.loc["lm_ood", BOUNDS].astype(float))], abs=0.0051)
    assert price == pytest.approx([*(100 * card.loc["lm_cost", BOUNDS].astype(float))], abs=0.0051)
    for name in ("accuracy_in_distribution", "accuracy_out_of_distribution"):
        by = cells.pivot(index="seed", columns="arm", values=name)
        assert (by["constrained"] > by["unconstrained"]).all()
    clipped = [f"{100 * arm['clipped'].mean():.0f} %" for arm in (ours, plain)]
    assert "clipped in {} of its steps, of plain training's in {}".format(*clipped) in DOUBTS


def test_texts_behind_the_verdicts_miss_a_constraint_on_descent_without_being_held_to_it() -> None:
    told = re.search(
        r"each of the (\d+) plainly trained models keeps (\d+) % or more .*? where (\d+) % may stay", DOUBTS
    )
    worst = re.search(r"the worst of constrained ones (\d+) to (\d+) % in the mean", DOUBTS)
    plain, ours = [], []
    for run in ("small-6c3d66eb", "small-6fcc924a", "small-afab60de"):
        params, table = load(PUBLISHED / run / "params.yaml"), pd.read_csv(PUBLISHED / run / "scores.csv")
        rows = table.query("experiment == 'text' and metric == 'loss' and gamma == eps")
        for (model, _), own in rows.groupby(["model", "layers"]):
            problem = params.problem("imdb", str(model))
            assert round(100 * (1 - problem.alpha)) == int(told[3])
            f = own.pivot_table(index=["arm", "seed"], columns="layer", values="value")
            kept = f.div(f.shift(axis=1)).loc[:, problem.cap_layer + 1 :].max(axis=1)
            plain += [*kept["unconstrained"]]
            ours.append(100 * kept["constrained"].mean())
    assert len(plain) == int(told[1]) and int(100 * min(plain)) == int(told[2])
    assert [round(min(ours)), round(max(ours))] == [*map(int, worst.groups())]
