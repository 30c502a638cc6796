"""P9: multipliers that no solution has left keep a model out, where they are known."""

import pandas as pd

from descent.analysis.briefly import in_brief
from descent.analysis.select import select
from tests.fakes.evidence import OURS, Made, why
from tests.fakes.results import change


def test_too_few_cells_near_complementary_slackness(results: pd.DataFrame) -> None:
    change(results, 0.1, **OURS, metric="slackness")
    change(results, 2.0, **OURS, metric="slackness", seed=0)
    assert why(results, "video_ood") == "", "a tenth is near, and seven of eight are enough"
    change(results, 0.11, **OURS, metric="slackness", seed=1)
    said = why(results, "video_ood")
    assert "12 of 16 constrained cells end near complementary slackness (at most 0.1)" in said
    assert in_brief(said) == "constraints not solved"
    assert why(results, "no_descent_video") == "", "a claim about the other arm alone"


def test_of_parts_without_the_number_it_is_not_asked_and_one_cell_without_it_is_not_solved(
    results: pd.DataFrame,
) -> None:
    told = select(results, metric="slackness")
    assert why(results.drop(told.index), "video_ood") == ""
    some = told[told["seed"].isin([0, 1])]
    assert "12 of 16" in why(results.drop(some.index), "video_ood")


def test_a_lost_cell_solves_nothing(results: pd.DataFrame) -> None:
    for seed in (0, 1):
        change(results, 1.0, **OURS, seed=seed, metric="diverged")
    assert "12 of 16 constrained cells end near" in why(results, "video_ood")


def test_of_values_that_a_study_compares_each_must_be_solved() -> None:
    grid = Made().accuracy("text", "imdb", "roberta")
    made = grid.accuracy("alpha", "imdb", "roberta", varied=("0.2", "0.02")).table()
    rows = made.drop_duplicates([name for name in made if name != "value"])
    for seed in (0, 1):
        change(rows, 1.0, experiment="alpha", varied="0.2", seed=seed, metric="slackness")
    assert "6 of 8 constrained cells at 0.2 end near" in why(rows, "alpha_ood"), "of both it is 14 of 16"
