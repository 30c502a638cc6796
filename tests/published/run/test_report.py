"""The report of a published run: what its words say."""

from dataclasses import replace

import pandas as pd

from descent.analysis import transfer
from descent.analysis.claims import CLAIMS
from descent.config import Params
from descent.published import gains, of_results, reproduction, sections
from tests.fakes.cards import card
from tests.fakes.results import fake_params
from tests.fakes.runs import GAINS, LITTLE, TRIALS, part, run


def tried(arm: str, lr: float, model: str) -> dict[str, object]:
    """A cell of a trial of a learning rate."""
    own = {"experiment": f"rates_{model}", "dataset": "ucsd", "model": model, "layers": 3, "eps": 0.13}
    numbers = {"validation_loss": 1.0, "worst_violation": 0.0, "diverged": False, "trained": True}
    return own | {"arm": arm, "lr": lr, "seed": 100} | numbers


def test_a_model_is_named_with_what_its_weights_start_from() -> None:
    params = fake_params({"profiles.demo.text.models.distilbert.weights": {"random": {"width": 48}}})
    assert sections.weighted(params, "distilbert") == "DistilBERT (random weights, width 48)"
    local = fake_params({"profiles.demo.text.models.distilbert.weights": {"path": "here/bert"}})
    assert sections.weighted(local, "distilbert") == "DistilBERT (here/bert)"
    assert sections.weighted(params, "ut_text") == "UT"


def test_gains_of_classifiers_are_told_in_points() -> None:
    row = {"study": "controls_distilbert", "arm": "penalty", "varied": "", "trained": 6, "lost": 0} | GAINS
    assert "| +1.23 points [+1.00 points, +1.50 points] |" in gains.controls(pd.DataFrame([row]), fake_params())


def test_the_report_puts_every_claim_under_its_verdict(params: Params, made_up: pd.DataFrame) -> None:
    report = reproduction.report(run(params, card(), made_up))
    assert "as of commit abc1234 of 2026-01-01" in " ".join(report.split())
    named = {
        "Results that reproduce the paper": "video_ood",
        "Results that do not": "video_depth",
        "What cannot be told": "video_cost",
        "What was not tested": "text_ood",
    }
    for title, claim in named.items():
        assert [other for other in named.values() if f"Statement of {other}" in part(report, title)] == [claim]
    assert "| 5 % (outside) | 2.0 % (1.0 to 3.0) | 1 % | 0.047 | 27 settings, 8 seeds | **reproduced** |" in report
    assert "nothing to compare" in part(report, "What was not tested")
    assert all(f"Statement of {claim}" in part(report, "Scope of reproducibility") for claim in named.values())


def test_the_report_follows_the_verdicts(params: Params, made_up: pd.DataFrame) -> None:
    report = reproduction.report(run(params, card().assign(verdict="no effect of interest"), made_up))
    assert "No claim was reproduced." in report and "Every claim was tested." in report
    assert part(report, "Results that do not").count("Statement of") == 4


def test_a_report_in_which_nothing_was_tested_says_so_and_not_that_nothing_failed(
    params: Params, made_up: pd.DataFrame
) -> None:
    report = reproduction.report(run(params, card().assign(verdict="not tested", why="no pairs"), made_up))
    assert report.count("No claim was tested.") == 3
    assert "No claim failed." not in report and "was decided" not in report


def test_rates_are_called_searched_where_trials_of_both_arms_are_listed(params: Params) -> None:
    both = [tried(arm, lr, "ut") for arm in ("constrained", "unconstrained") for lr in (0.001, 0.002)]
    own = fake_params({"video.models": ["ut", "dust"], "text.datasets": [], "lm.datasets": []})
    told = sections.rates(pd.DataFrame(both), own)
    assert told == (
        "The learning rate of UT was searched with equally many trials in both arms. "
        "Of DUST this run holds no trials: PROTOCOL.md says where the rates are from."
    )
    unlike = sections.rates(pd.DataFrame([*both, tried("unconstrained", 0.001, "dust")]), own)
    assert unlike.endswith("in both arms. The learning rate of DUST was not searched alike in both arms.")


def test_the_report_tells_data_budgets_cells_and_what_lies_beyond(params: Params, made_up: pd.DataFrame) -> None:
    report = reproduction.report(run(params, card(), made_up))
    assert (
        "| ucsd | 300 frames of 1 clips | 60 frames of 1 clips | 120 frames of 2 clips | 1 | abababab |" in report
    )
    assert "of 4 trainings in 2.0 hours of cpu (x)" in report, "a training that two cells share counts once"
    assert "65536" in report
    assert "| UT | constrained | 0.003 | 0 | 1 | yes |" in report
    assert "+1.23 % [+1.00 %, +1.50 %] | -0.20 % | 25.00 % | 6 | 1 |" in part(report, "Results beyond the paper")
    assert f"| UCSD | {CLAIMS['video_ood'].short} | 2.0 % (1.0 to 3.0) |" in part(
        report, "What the estimates rest on"
    )
    assert "video: UT and DUST on UCSD" in report and "| all settings | 74 | 31 | 0 |" in report
    ours, budget = params.objective("constrained", "ucsd", "dust"), params.model_budget("dust")
    row = next(line for line in report.splitlines() if line.startswith("| DUST |") and "| constrained |" in line)
    assert f"| {budget['epochs']} | {budget['batch']} |" in row and f"| {ours['constraint']} |" in row
    assert "{{" not in report and "{%" not in report and "nan" not in report


def test_values_that_are_unlike_on_two_data_sets_are_both_told() -> None:
    unlike = {"objectives.constrained.datasets": {"ucsd": {"ut": {"R0": 3.0}}}}
    own = fake_params(LITTLE | unlike | {"video.datasets": ["avenue", "ucsd"], "video.models": ["ut", "dust"]})
    usual, other = (own.objective("constrained", "avenue", model)["R0"] for model in ("ut", "dust"))
    rows = [line for line in sections.budgets(own).splitlines() if "| constrained |" in line]
    assert f"| {usual} / 3.0 |" in rows[0] and f"| {other} |" in rows[1] and usual != 3.0


def test_pilots_of_the_margin_are_a_table_and_without_any_there_is_none(
    params: Params, made_up: pd.DataFrame
) -> None:
    own = run(params, card(), made_up)
    assert "Pilots of the margin" not in reproduction.report(own)
    row = {"dataset": "ucsd", "model": "ut", "layers": 5, "margin": 0.05, "cells": 8, "within_half": 7}
    report = reproduction.report(replace(own, tables=own.tables | {"pilots": pd.DataFrame([row])}))
    assert "| UCSD | UT | 5 | 0.05 | 8 | 7 |" in report.split("**Pilots of the margin**")[1]


def test_models_without_a_list_of_trials_are_named(params: Params, made_up: pd.DataFrame) -> None:
    whole = run(params, card(), made_up)

    def told(*tried: dict[str, object]) -> str:
        trials = TRIALS if tried else TRIALS[:0]
        cells = pd.concat([whole.tables["cells"], pd.DataFrame(tried)])
        tables = whole.tables | {"trials": trials, "cells": cells}
        return " ".join(reproduction.report(replace(whole, tables=tables)).split())

    ut, dust = ([tried(arm, 0.003, model) for arm in ("constrained", "unconstrained")] for model in ("ut", "dust"))
    nothing = "this run holds no trials: PROTOCOL.md says where the rates are from. The constrained arm"
    assert f"learning rate of UT was searched with equally many trials in both arms. Of DUST {nothing}" in told(
        *ut
    )
    assert f"Of UT and DUST {nothing}" in told()
    assert "Trials of the learning rates" in told(*ut) and "Trials of the" not in told()
    assert "of UT and DUST was searched with equally many trials in both arms. The constrained" in told(*ut, *dust)


def test_a_form_that_is_not_the_papers_is_admitted(made_up: pd.DataFrame) -> None:
    usual, own = "objectives.constrained.constraint", "profiles.small.video.models.dust.arms.constrained"
    adam = {"constraint": "difference", "dual_optimizer": "adam", "dual_lr": 0.01}
    paper = fake_params(LITTLE | {usual: "difference", own: adam})
    assert "The constrained problem of" not in reproduction.report(run(paper, card(), made_up))
    other = fake_params(LITTLE | {usual: "difference", own: adam | {"constraint": "ratio"}})
    report = reproduction.report(run(other, card(), made_up))
    assert "The constrained problem of DUST is solved with constraint ratio (difference)" in " ".join(
        report.split()
    )


def test_a_run_without_controls_or_shifts_has_empty_tables(params: Params, made_up: pd.DataFrame) -> None:
    rows = made_up[made_up["shift"] == "gaussian"]
    assert of_results.controls(rows, params).empty and of_results.shifts(rows, params).empty
    assert transfer.matrix(rows, params).empty
