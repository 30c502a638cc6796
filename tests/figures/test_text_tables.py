"""Tables about text from a made-up results table: numbers, marks, the paper's beside them, notes."""

import pandas as pd
import pytest

from descent.analysis.select import select
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.figures.parts import tables
from descent.figures.text import table2_text_hyperparameters as table2
from descent.figures.text import table4_text_auc as table4
from tests.fakes.results import change, fake_params, fake_results

ROBERTA = {"experiment": "text", "dataset": "imdb", "model": "roberta", "eps": 0.4}


def test_table2_stands_beside_what_is_known_of_the_papers(results: pd.DataFrame, params: Params) -> None:
    change(results, 0.001, **ROBERTA, arm="constrained", seed=1, metric="validation_loss", layer=8)
    table = table2.build(results, params)
    roberta = select(table, model="roberta", dataset="imdb").squeeze()
    asked = params.problem("imdb", "roberta")
    assert (roberta["trial"], roberta["dual_lr"], roberta["R0"]) == (1, 0.015, asked.R0)
    assert roberta["rho"] == pytest.approx(1.1 * asked.rho) and pd.isna(roberta["paper_rho"])
    ut = select(table, model="ut_text", dataset="mnli").squeeze()
    assert ut[["paper_layers", "paper_eps", "paper_1 - alpha", "paper_R0", "paper_rho"]].tolist() == [
        3,
        0,
        0.9,
        0.9,
        1.98,
    ]
    shown = table2.display(table, params)
    assert len(shown) == 6 and set(shown[("paper", "dual lr")]) == {UNKNOWN}
    assert set(shown[("ours", "source")]) == {"random, width 32", "random, width 64"}
    assert table2.notes(table, params)[0] == "DistilBERT: the paper prints L = 12, here it has 6 layers."


def test_table2_names_where_weights_come_from(params: Params) -> None:
    paper = fake_params({"profile": "paper"})
    assert table2.source(paper, "ut_text") == table2.source(paper, "distilbert")
    assert table2.source(paper, "roberta") == "hub: FacebookAI/roberta-large"


def test_table4_numbers_bold_daggers_and_brackets(results: pd.DataFrame, params: Params) -> None:
    for seed, accuracy in enumerate((0.5, 0.7, 0.9)):
        change(results, accuracy, **ROBERTA, arm="constrained", seed=seed, metric="accuracy")
    change(results, 0.001, **ROBERTA, arm="constrained", seed=1, metric="validation_loss", layer=8)
    change(results, 0.0, **ROBERTA, arm="constrained", seed=1, metric="feasible", split="validation")
    change(results, 1.0, **ROBERTA, arm="unconstrained", metric="diverged")
    table = table4.build(results, params)
    found = select(table, **{key: ROBERTA[key] for key in ("dataset", "model", "eps")}).squeeze()
    assert found[["constrained", "constrained_mean", "constrained_sd"]].tolist() == pytest.approx([1.4, 1.4, 0.4])
    assert (found["paper_constrained"], found["paper_unconstrained"], found["paper_layers"]) == (1.785, 1.642, 24)
    shown = table4.display(table, params)
    heads = shown[("", "", "model")] + shown[("", "", "eps")]
    row = shown[heads == "RoBERTa0.4"]["IMDb"].iloc[0]
    assert row["ours", "constrained"] == "1.400† (1.400 ± 0.400)"
    assert row["ours", "unconstrained"].startswith("**") and row["ours", "unconstrained"].endswith("†**")
    assert row["paper", "constrained"] == "**1.785**"
    assert r"1.400$^{\dagger}$ (1.400 $\pm$ 0.400)" in tables.to_latex(shown, [])


def test_table4_has_ut_beside_the_papers_of_its_depth_and_dashes_elsewhere(results, params: Params) -> None:
    table = table4.build(results, params)
    assert len(table) == 2 * (2 + 1 + 1) * 3
    ut = select(table, model="ut_text", dataset="imdb", eps=0.4).set_index("layers")
    assert ut["paper_constrained"].to_dict() == {3: 1.723, 5: 1.702}
    other = fake_params({"profiles.demo.text.models.ut_text.layers": [4]})
    ut = select(table4.build(fake_results(other), other), model="ut_text")
    assert ut["paper_constrained"].isna().all() and len(ut) == 6


def test_areas_over_another_range_of_noise_stand_beside_none_of_the_papers(params: Params) -> None:
    wider = fake_params({"text.evaluation.gammas": [*params.text.evaluation.gammas, 4.0]})
    beside = [table4.build(fake_results(one), one).filter(like="paper_") for one in (params, wider)]
    assert beside[0].notna().any(axis=None) and beside[1].isna().all(axis=None)


@pytest.mark.slow
def test_table4_counts_the_papers_wins_over_the_whole_grid_and_tells_chance(params: Params) -> None:
    paper = fake_params({"profile": "paper"})
    table = table4.build(fake_results(paper), paper)
    notes = table4.notes(table, paper)
    assert notes[1] == "In the same settings of the paper's table it is in 57 of 72 settings."
    assert notes[2] == "A guess has the area 1.000 (IMDb), 0.667 (MNLI)."
    assert notes[3:] == ["DistilBERT: the paper prints L = 12, here it has 6 layers."]
    assert int((table["paper_constrained"] == table["paper_unconstrained"]).sum()) == 3


def test_the_papers_numbers_are_those_of_the_arms_that_are_compared(results: pd.DataFrame, params: Params) -> None:
    swapped = fake_params(comparison={"ours": "unconstrained", "baseline": "deep_supervision"})
    one, other = table4.build(results, params), table4.build(results, swapped)
    assert one["paper_unconstrained"].equals(other["paper_unconstrained"])
    assert other["paper_deep_supervision"].isna().all() and "paper_constrained" not in other
    assert table4.notes(other, swapped)[0].startswith("The unconstrained arm is better in")
    shown = table4.display(other, swapped)
    assert shown["IMDb"].columns.tolist()[:2] == [("ours", "unconstrained"), ("ours", "deep supervision")]
