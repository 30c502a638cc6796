"""The first screen of the README, and the page behind it: what their words say."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import yaml

from descent.analysis import effects, grounds
from descent.analysis.claims import CLAIMS
from descent.analysis.summary import cells_table
from descent.analysis.verdicts import NOT_TESTED, VERDICTS
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.published import each_part, first_screen, page_behind, trained
from descent.published.told import Verdicts
from tests.fakes.cards import card
from tests.fakes.results import fake_params
from tests.fakes.runs import AVERAGES, MODELS, part

CELL = {"experiment": "video", "dataset": "ucsd", "model": "ut", "varied": "", "trained": True, "epoch": 1}


def publish(folder: Path, margin: float = 0.0) -> None:
    """What the first screen reads in the folder of a part: which cells it has, and the margin they trained to."""
    folder.mkdir(exist_ok=True)
    pd.DataFrame([CELL | {"dataset": name} for name in ("avenue", "ucsd")]).to_csv(
        folder / "cells.csv", index=False
    )
    grounds.save(pd.DataFrame(columns=effects.COLUMNS), pd.DataFrame(columns=grounds.FACTS), folder)
    arms = {"constrained": {"margin": margin, "dual_optimizer": "nupi", "dual_lr": 0.01}}
    params = fake_params({"profiles.demo.video.models.ut.arms": arms}).model_dump(mode="json")
    del params["components"]
    (folder / "params.yaml").write_text(yaml.safe_dump(params))


def verdicts_of(
    params: Params,
    rows: pd.DataFrame,
    made_up: pd.DataFrame,
    folder: Path,
    apart: Sequence[Path] = (),
    models: pd.DataFrame = MODELS,
) -> Verdicts:
    return Verdicts(params, [folder], apart, rows, models, AVERAGES, cells_table(made_up, params).assign(part=0))


def screen(params: Params, rows: pd.DataFrame, made_up: pd.DataFrame, folder: Path) -> str:
    if not folder.exists():
        publish(folder)
    return first_screen.text(verdicts_of(params, rows, made_up, folder), pd.DataFrame())


def behind(params: Params, rows: pd.DataFrame, made_up: pd.DataFrame, folder: Path) -> str:
    rows.to_csv(folder / "claims.csv")
    return page_behind.page(verdicts_of(params, rows, made_up, folder), "solved", "in place", "matched")


def test_claims_of_unlike_many_seeds_do_not_all_take_credit_for_the_most() -> None:
    alike = card().assign(seeds=16)
    tested = alike.index[alike["verdict"] != "not tested"]
    unlike = alike.assign(seeds=alike["seeds"].where(alike.index != tested[0], 8))
    told = [first_screen._outcome(own) for own in (alike, unlike)]
    assert "stand 16 seeds and" in told[0] and "stand 8 to 16 seeds and" in told[1]


def test_a_claim_that_few_matchings_reproduce_is_not_told_without_it() -> None:
    own = card()
    assert "; 1 is reproduced on real data.**" in first_screen._outcome(own, 0.96)
    told = first_screen._outcome(own, 0.33)
    hangs = "but in only 33 % of the ways to set the seeds of its models side by side.**"
    assert f"; 1 is reproduced on real data, {hangs}" in told
    two = own.assign(verdict="reproduced")
    assert ", one of them in only 33 % of the ways" in first_screen._outcome(two, 0.33)


def test_the_first_screen_says_what_holds_and_how_much_stands_behind_it(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    told = screen(params, card(), made_up, folder).split("\n\n")
    outcome, picture, caption, verdicts, summary, _, words, legend, end, scope = told
    assert outcome == (
        "**3 of the paper's claims were chosen before the runs; 1 is reproduced on real data.** The others: "
        "1 *cannot tell* and 1 *not tested*. Behind a claim stand 8 seeds and up to 27 settings (a setting is a "
        "data set, a model and a depth, at one training noise)."
    )
    assert picture.endswith(f"({tmp_path}/fig_verdicts.png)")
    head, _, *rows = verdicts.splitlines()
    assert head == "| claim | the paper | here | matters | verdict |" and len(rows) == 3
    assert (
        rows[0].startswith(f"| {CLAIMS['video_ood'].short} | ")
        and "; in its tables 5 % (over all test noise) |" in rows[0]
    )
    assert rows[0].endswith(" | 2.0 % (1.0 to 3.0) | 1 % | **reproduced** |")
    assert " | – | 1 point | **not tested**" in rows[2]  # noqa: RUF001
    assert "a gain is positive where" in caption
    assert all(f"| {word} |" in words for word in VERDICTS if word != NOT_TESTED)
    assert legend.startswith("For errors, gain and price") and "*Not tested*" in legend
    assert summary.startswith("<details>") and end == "</details>"
    run = f"[UCSD]({folder}/REPORT.md)"
    assert scope.startswith(f"Tested: UT on Avenue and {run}. ["), "what fails a precondition is not in it"
    assert f"({tmp_path}/README.md)" in scope and f"({tmp_path}/PROTOCOL.md)" in scope
    none = screen(params, card().assign(verdict="not tested"), made_up, folder)
    assert none.startswith("**None of the paper's 3 primary claims could be tested on real data yet.** Below is")
    assert "Tested:" not in none


def test_the_page_behind_says_how_often_the_loss_descends(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    publish(folder := tmp_path / "small-1")
    _, sentence = part(behind(params, card(), made_up, folder), "What their means hide").split("\n- solved\n")
    sentence = sentence.partition("\n")[0]
    assert sentence.startswith("- Every layer lowers")
    each = [
        (0 if held == "none" else int(held), int(n))
        for held, n in re.findall(r"(\d+|none) of (?:the )?(\d+)", sentence)
    ]
    assert "behind a verdict" in sentence, "those of UT"
    cells = cells_table(made_up, params)
    cells = cells[(cells["experiment"] == "video") & cells["trained"].astype(bool)]
    own = [cells[cells["arm"] == arm]["descending"].astype(bool) for arm in ("constrained", "unconstrained")]
    carrying = cells[(cells["arm"] == "unconstrained") & (cells["model"] == "ut")]["descending"].astype(bool)
    assert each[:2] == [(falls.sum(), len(falls)) for falls in (own[0], carrying)]
    assert tuple(map(sum, zip(*each[1:], strict=True))) == (own[1].sum(), len(own[1])), (
        "no cell of ERM is left out"
    )


def test_what_is_behind_the_verdicts_says_how_they_were_solved_and_what_is_counted(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    publish(folder)
    told = behind(params, card(), made_up, folder)
    held, solvers, *_ = part(told, "Constraints").strip().split("\n\n")
    assert re.fullmatch(
        r"The constraints, which ask each layer for a fall by alpha, hold within the tolerance in \d+ of the \d+ "
        r"on validation data, and in \d+ on test data( \(.+\))?\.",
        held,
    )
    assert solvers.startswith(
        "Constraints behind the verdicts: differences, nuPI, slacks (UT); the paper's: differences, Adam,"
    )
    hidden = part(told, "What their means hide").strip()
    assert hidden.splitlines()[-2] == "- solved"
    assert part(told, "The primary claims").strip().endswith("](fig_forest.png)")
    assert page_behind.UNCOUNTED not in told
    (apart := tmp_path / "small-2").mkdir()
    (apart / "params.yaml").write_text((folder / "params.yaml").read_text())
    card().assign(verdict="not tested").to_csv(apart / "claims.csv")
    MODELS.to_csv(apart / "models.csv")
    beside = page_behind.page(verdicts_of(params, card(), made_up, folder, apart=[apart]), "", "", "")
    assert page_behind.UNCOUNTED in part(beside, "Descent")


def test_a_margin_beyond_alpha_is_told_of_what_tested_claims_rest_on(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    publish(tmp_path / "small-1", 0.06)
    told = behind(params, card(), made_up, tmp_path / "small-1")
    assert "the margin's: 0.06 (UT on Avenue) and 0.06 (UT on UCSD)." in told
    assert "the margin's" not in behind(params, card().assign(verdict="not tested"), made_up, tmp_path / "small-1")


def test_the_margin_of_a_model_that_is_like_another_is_its_own_or_that_of_the_objective(tmp_path: Path) -> None:
    """`dust_shared` has no budget of its own in this profile: what counts for it is that of `dust`."""
    folder = tmp_path / "small-1"
    publish(folder)
    pd.DataFrame([CELL | {"model": "dust_shared"}]).to_csv(folder / "cells.csv", index=False)
    params = fake_params({"objectives.constrained.margin": 0.07}).model_dump(mode="json")
    del params["components"]
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    models = MODELS.assign(model="dust_shared", datasets="ucsd", why="", claim="video_ood")
    told = each_part.margins([folder], card(), models, fake_params())
    assert told.endswith("the margin's: 0.07 (DUST, one dictionary on UCSD).")


def test_gains_at_one_learning_rate_are_told_with_the_cells_that_hold(params: Params, tmp_path: Path) -> None:
    folder = tmp_path / "small-1"
    folder.mkdir()
    row = {"study": "controls_rates_x", "arm": "constrained", "varied": 0.001}
    rows = [
        row | {"gain_out": 0.005, "gain_out_low": -0.01, "gain_out_high": 0.02},
        row | {"varied": 0.004, "gain_out": 0.02, "gain_out_low": 0.01, "gain_out_high": 0.03},
        row | {"arm": "unconstrained", "gain_out": 0.0, "gain_out_low": 0.0, "gain_out_high": 0.0},
        row | {"study": "controls", "gain_out": 0.55, "gain_out_low": 0.5, "gain_out_high": 0.6},
    ]
    pd.DataFrame(rows).to_csv(folder / "controls.csv", index=False)
    held = [  # how many of three seeds are feasible
        (rows[0]["study"], "constrained", "0.001", 1),
        (rows[0]["study"], "constrained", "0.004", 3),
        (rows[0]["study"], "unconstrained", "0.001", 2),
        (rows[3]["study"], "constrained", "0.001", 0),
    ]
    columns = ["experiment", "arm", "varied"]
    cells = [dict(zip(columns, place, strict=True), feasible=k < n) for *place, n in held for k in range(3)]
    pd.DataFrame(cells).to_csv(folder / "cells.csv", index=False)
    study = {"like": "controls_rates_ut_text", "model": "distilbert"}
    own = fake_params({"study.controls_rates_x": study}).model_dump(mode="json", exclude={"components"})
    own["profiles"]["demo"]["studies"]["controls_rates_x"] = {"values": [0.001, 0.004]}
    (folder / "params.yaml").write_text(yaml.safe_dump(own))
    told = each_part.by_rate([folder], params)
    assert told.splitlines()[-2:] == [
        "| [small-1](small-1/REPORT.md) | DistilBERT | 0.001 | 0.5 points | -1 points to 2 points | 1 of 3 |",
        "| [small-1](small-1/REPORT.md) | DistilBERT | 0.004 | 2 points | 1 point to 3 points | 3 of 3 |",
    ]


def test_how_the_constraints_hold_by_tolerance_is_a_row_a_model(params: Params) -> None:
    shares = {"at_zero": 0.25, "at_half": 0.5, "at_tolerance": 1.0, "worst": -0.0123}
    found = pd.DataFrame([{"model": "ut", "alpha": 0.22, "cells": 4, "tolerance": 0.02} | shares])
    told = trained.constraints(found, params)
    assert "(tolerances: 0 / 0.01 / 0.02;" in told and told.endswith(
        "| UT (video) | 0.22 | 4 | 25% | 50% | 100% | -0.012 |"
    )
    assert trained.constraints(found[:0], params) == ""


def test_in_how_many_cells_the_solver_held_is_counted_by_data_set_and_by_task(params: Params) -> None:
    counts = ["cells", "validation", "test", "active"]
    found = pd.DataFrame(
        [
            ("avenue", "ut", 8, 8, 6, 8, 0.02, 0.03),
            ("ucsd", "ut", 8, 6, 7, 8, 0.05, 0.04),
            ("ucsd", "dust", 4, 4, 4, 2, 0.01, 0.09),
            ("imdb", "distilbert", 5, 4, 3, 5, None, None),
        ],
        columns=["dataset", "model", *counts, "swing_f0", "swing_f0_baseline"],
    )
    assert trained.holding(found, params).splitlines()[-4:] == [
        f"| IMDb | 5 | 4 (80%) | 3 (60%) | 5 (100%) | {UNKNOWN} | {UNKNOWN} |",
        "| Avenue | 8 | 8 (100%) | 6 (75%) | 8 (100%) | 2% | 3% |",
        "| UCSD | 12 | 10 (83%) | 11 (92%) | 10 (83%) | 5% | 4% |",
        "| video, in all | 20 | 18 (90%) | 17 (85%) | 18 (90%) | 5% | 4% |",
    ]
    assert trained.holding(found[:0], params) == ""
    assert trained.held_in_all(found, params).endswith("22 of the 25 on validation data, and in 20 on test data.")
    few = found.assign(test=[0, 7, 4, 2])
    assert trained.held_in_all(few, params).endswith("in 13 on test data (2 of 5 on IMDb and 0 of 8 on Avenue).")
    assert trained.held_in_all(found[:0], params) == ""


def test_a_claim_that_several_models_could_not_test_names_how_many_and_where_to_read_why(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    rows = card().assign(verdict="not tested", why="DUST failed; UT failed")
    one = screen(params, rows, made_up, folder)
    assert "**not tested** (DUST failed; UT failed)" in one and "meets the preconditions" not in one
    both = MODELS.assign(why="failed")
    several = first_screen.text(verdicts_of(params, rows, made_up, folder, models=both), pd.DataFrame())
    row = next(line for line in several.splitlines() if line.startswith(f"| {CLAIMS['video_ood'].short} |"))
    assert row.endswith(f"(none of its 2 models meets the preconditions, [why]({tmp_path}/README.md)) |")
    assert "meets the preconditions" not in screen(params, rows, made_up, folder), (
        "UT meets them, and the claim has another reason"
    )


def test_a_page_beside_the_parts_says_what_the_verdicts_rest_on(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    publish(folder)
    card().assign(dataset="ucsd").to_csv(folder / "datasets.csv")
    assert behind(params, card(), made_up, folder).count("| small-1 | UCSD |") == 0, "one data set is all of it"
    card().assign(dataset="ucsd", low=0.0).to_csv(folder / "datasets.csv")
    words = behind(params, card(), made_up, folder)
    assert "1 run judged together: [every run](RUNS.md#every-run)." in part(words, "The published runs")
    assert len(part(words, "The primary claims").strip().splitlines()) == 2 + 3 + 2 + 2
    descent = part(words, "Descent").strip()
    assert descent.startswith("Cells whose loss falls at every layer that is asked to, on validation data:")
    assert re.search(r"\n\| DUST \(video\) \| UCSD \(L = 3 [\d ]+\) \| \d+ of \d+ \| \d+ of \d+ \|\n", descent)
    assert re.search(r"\n\| UT \(video\) \| .+ \| \d+ of \d+ \| \d+ of \d+ \|$", descent)
    averages = part(words, "Other averages, and each setting")
    assert len(averages.strip().splitlines()) == 2 + 2 + 2
    assert "| mean over 2, the protocol's | 2.0 % (1.0 to 3.0) |  |" in averages
    assert re.search(r"UCSD, UT, L = 3 \| 4.0 % \(1.0 to 7.0\) \| \d+ / \d+ of \d+ \|", averages)
    each = part(words, "Each published run, and each data set of one that has several, by itself")
    assert each.count("| small-1 | all of it |") == 2, "the two claims that this run could test"
    assert each.count("| small-1 | UCSD |") == 2, "and those of its data sets"
    models = part(words, "Each model alone, and what keeps it out of a claim")
    assert len(models.strip().splitlines()) == 2 + 2 + 2 and "twice the epochs" in models
    lost = made_up.copy()
    lost.loc[(lost["metric"] == "diverged") & (lost["arm"] == "constrained"), "value"] = 1.0
    assert re.search(r"UT \(video\) \| .+ \| 0 of (\d+) \| \d+ of", behind(params, card(), lost, folder))
    none = behind(params, card().assign(verdict="not tested"), made_up, folder)
    _, alone = part(none, "Other averages, and each setting").split("*Statement of video_ood* (not tested)")
    assert alone.count("\n|") == 2 + 1, "a setting, and no average"


def test_claims_on_unseen_shifts_and_the_other_exploratory_ones_are_told(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    publish(folder)
    rows = card().replace({"claim": {"video_depth": "video_shifts"}})
    rows.loc[rows["claim"] == "video_shifts", "statement"] = "Video, beyond the paper: better"
    told = "**Under shifts that training has not seen** (beyond the paper): video -10.0 % (-20.0 to -5.0)"
    assert f"- {told}, *reversed*." in behind(params, rows, made_up, folder)
    others = part(behind(params, rows, made_up, folder), "The other claims, exploratory")
    assert others.count("\n| ") == 3 and "Video, beyond the paper: better" in others
    untested = rows.assign(verdict="not tested")
    assert "Under shifts" not in behind(params, untested, made_up, folder)
    assert "The other claims" not in behind(params, untested, made_up, folder)
