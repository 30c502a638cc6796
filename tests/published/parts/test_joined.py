"""Parts of a programme: judged together as the one run that they make up, however claims are spread over them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis import grounds, preconditions, scorecard, sensitivity
from descent.analysis.verdicts import NOT_TESTED
from descent.published import parts
from tests.fakes.evidence import Made, real_params
from tests.fakes.parts import PARTS, judged, published, two
from tests.fakes.results import change


def of(results: pd.DataFrame, metric: str, **place: object) -> pd.Series:
    """Where a metric stands in one place."""
    found = results["metric"] == metric
    for name, value in place.items():
        found &= results[name] == value
    assert found.any()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        {"experiment": ["video", "plateau_ut", "plateau_dust_shared"]},
        {"dataset": ["avenue"]},
        {"model": ["ut"]},
    ],
    ids=["by task", "by data set", "by model"],
)
def test_two_parts_are_judged_as_the_whole_run_would_be(
    results: pd.DataFrame, first: dict[str, list[str]], tmp_path: Path
) -> None:
    [(column, values)] = first.items()
    one = results[column].isin(values)
    folders = two(results, one, tmp_path)
    card, whole = judged(folders), scorecard.scorecard(results, real_params()).set_index("claim")
    pd.testing.assert_frame_equal(card, whole)
    assert card.loc["video_ood", "settings"] == 4
    assert judged(folders[1:]).loc["video_ood", "settings"] == (0 if column == "experiment" else 2)


def infeasible(results: pd.DataFrame, seeds: int) -> pd.DataFrame:
    """UT on Avenue, of which so many seeds hold their constraints no longer."""
    failing = of(results, "feasible", dataset="avenue", model="ut", arm="constrained") & (results["seed"] < seeds)
    return results.assign(value=results["value"].mask(failing, 0.0))


def without_study(results: pd.DataFrame) -> pd.DataFrame:
    return results[~((results["dataset"] == "avenue") & (results["experiment"] == "plateau_ut"))]


def not_ended(results: pd.DataFrame) -> pd.DataFrame:
    """Twice the epochs lower the loss of UT by 2 % on Avenue, and not at all on UCSD."""
    longer = of(results, "validation_loss", experiment="plateau_ut", dataset="avenue")
    return results.assign(value=results["value"] * np.where(longer, 0.985, 1.0))


def no_better(results: pd.DataFrame) -> pd.DataFrame:
    worse = of(results, "rmse", dataset="avenue", model="ut")
    return results.assign(value=results["value"].mask(worse, 500.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: infeasible(rows, 3), "5 of 8 constrained cells are feasible"),
        (without_study, "no study of twice the epochs of ut on avenue"),
        (not_ended, "twice the epochs lower f_L of constrained ut by 2.0%"),
        (no_better, "not 10 % better than doing nothing at gamma = eps"),
    ],
    ids=["feasible cells", "no study", "plateau", "nothing learned"],
)
@pytest.mark.parametrize("column", ["dataset", "model"], ids=["parts by data set", "by model"])
def test_a_model_is_left_out_on_the_data_set_where_it_fails_and_there_alone(
    results: pd.DataFrame, change: Callable, said: str, column: str, tmp_path: Path
) -> None:
    """In parts as in the whole run, which is the reference."""
    changed = change(results)
    folders = two(changed, changed[column] == {"dataset": "avenue", "model": "ut"}[column], tmp_path)
    row, whole = judged(folders).loc["video_ood"], scorecard.scorecard(changed, real_params()).set_index("claim")
    same = ["estimate", "low", "high", "p_holm", "seeds", "settings", "items", "verdict", "why", "words"]
    pd.testing.assert_series_equal(row[same], whole.loc["video_ood", same])
    assert row["settings"] == 3 and f"left out: ut on avenue ({said}" in row["words"]


@pytest.mark.slow
def test_seeds_are_counted_over_what_is_left_in(results: pd.DataFrame, tmp_path: Path) -> None:
    """A model has four seeds on the data set on which it fails, and there is of no account."""
    broken = infeasible(results, 8)
    few = (broken["dataset"] == "avenue") & (broken["model"] == "ut") & (broken["seed"] > 3)
    broken = broken[~few]
    row = judged(two(broken, broken["dataset"] == "avenue", tmp_path)).loc["video_ood"]
    assert (row["why"], row["seeds"], row["settings"]) == ("", 8, 3) and row["verdict"] != NOT_TESTED


@pytest.mark.slow
def test_what_was_said_of_all_data_sets_of_a_model_is_said_of_each(results: pd.DataFrame, tmp_path: Path) -> None:
    """As facts were published before: a row a model, with the items of all its data sets."""
    [folder] = [published(results, tmp_path / PARTS[0])]
    expected, path = judged([folder]), folder / "facts.csv"
    facts = pd.read_csv(path, keep_default_na=False)
    of_model = facts.groupby(["claim", "model"], sort=False)
    former = of_model.first().reset_index().drop(columns="dataset")
    former["items"] = of_model["items"].agg(", ".join).to_numpy()
    former["resampled"] = of_model["resampled"].min().to_numpy()
    former.to_csv(path, index=False)
    assert len(former) < len(facts)
    pd.testing.assert_frame_equal(judged([folder]), expected)
    places, told = ["claim", "dataset", "model"], ["why", "items", "resampled"]
    _, whole = grounds.of_results(results, real_params())
    loaded, whole = (table.set_index(places)[told].sort_index() for table in (grounds.load(folder)[1], whole))
    pd.testing.assert_frame_equal(loaded, whole, check_dtype=False)


@pytest.mark.slow
def test_where_nothing_passes_the_reasons_are_those_of_the_models_whatever_their_seeds(
    results: pd.DataFrame, tmp_path: Path
) -> None:
    """Else the numbers of single settings would be gone."""
    failing = results[~results["experiment"].str.startswith("plateau")]
    moved = failing.assign(seed=failing["seed"].where(failing["dataset"] != "avenue", failing["seed"] + 8))
    folders = two(moved, moved["dataset"] == "avenue", tmp_path)
    row = judged(folders).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and "seeds" not in row["why"]
    for place in ("ut on avenue", "dust_shared on ucsd"):
        assert f"{place}: no study of twice the epochs of {place}" in row["why"]
    alone = sensitivity.table(*parts.joined(folders)).query("claim == 'video_ood'")
    assert alone["average"].eq(sensitivity.ALONE).sum() == 4 and alone["seeds"].eq(8).all()


@pytest.mark.slow
def test_parts_of_wholly_other_seeds_are_matched_in_their_order_where_texts_are_what_they_tested(
    tmp_path: Path,
) -> None:
    """What is judged then is what parts of the same seeds would give."""
    made = Made().accuracy("text", "imdb", "distilbert").accuracy("text", "imdb", "roberta").table()
    results = made.drop_duplicates([name for name in made if name != "value"])
    own = results["model"] == "roberta"
    (tmp_path / "same").mkdir()
    (tmp_path / "others").mkdir()
    same = judged(two(results, own, tmp_path / "same")).loc["text_ood"]
    moved = results.assign(seed=results["seed"].where(~own, results["seed"] + 24))
    others = judged(two(moved, own, tmp_path / "others")).loc["text_ood"]
    assert others["seeds"] == 8 and others["settings"] == 2 and others["verdict"] == "reproduced"
    pd.testing.assert_series_equal(others, same)


@pytest.mark.slow
def test_of_video_the_same_seeds_belong_together(results: pd.DataFrame, tmp_path: Path) -> None:
    own = results["dataset"] == "avenue"
    moved = results.assign(seed=results["seed"].where(~own, results["seed"] + 24))
    row = judged(two(moved, own, tmp_path)).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and row["why"] == "0 seeds, and 8 are needed"


@pytest.mark.slow
def test_parts_with_too_few_seeds_in_common_give_no_verdict(results: pd.DataFrame, tmp_path: Path) -> None:
    moved = results.assign(seed=results["seed"].where(results["dataset"] != "avenue", results["seed"] + 4))
    own = moved["dataset"] == "avenue"
    folders = two(moved, own, tmp_path)
    row = judged(folders).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and row["why"] == "4 seeds, and 8 are needed"


def test_seeds_that_passing_parts_share_stay_paired_whatever_seeds_a_failing_part_has() -> None:
    rows = [(part, seed) for part, first in enumerate((0, 2, 100)) for seed in range(first, first + 10)]
    pairs = pd.DataFrame(rows, columns=["part", "seed"]).assign(claim="text_ood")
    told = pd.DataFrame({"part": [0, 1, 2], "model": "ut_text", "why": ["", "", "P3"]})
    same = parts._matched(pairs, told)
    assert same[["seed", parts.TRAINED_SEED]].eq(pairs["seed"], axis=0).all(axis=None), (
        "eight are the same in both, and eight are needed"
    )
    ranked = parts._matched(pairs, told.assign(why=["", "P3", ""]))
    assert ranked[parts.TRAINED_SEED].equals(pairs["seed"])
    assert ranked.groupby("part")["seed"].agg(list).tolist() == 3 * [[*range(10)]]
    fewer = pairs[pairs["seed"] != 5]
    assert parts._matched(fewer, told)["seed"].max() == 9, "seven in common would give no verdict"
    video = pairs.assign(claim="video_ood")
    assert parts._matched(video, told.assign(why=["", "P3", ""]))["seed"].equals(video["seed"]), (
        "the same seeds, the same clips"
    )


@pytest.mark.slow
def test_a_part_that_asked_all_values_of_a_study_at_once_is_asked_of_each_when_it_joins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Made().accuracy("text", "imdb", "roberta")
    made = grid.accuracy("alpha", "imdb", "roberta", varied=("0.2", "0.02")).table()
    rows = made.drop_duplicates([name for name in made if name != "value"])
    held = judged([published(rows, tmp_path / PARTS[0])]).loc["alpha_ood"]
    for seed in (0, 1):
        change(rows, 0.0, experiment="alpha", varied="0.2", seed=seed, metric="feasible")
    with monkeypatch.context() as before:
        before.setattr(preconditions, "OF_PLACE", (preconditions.plateau, preconditions.learned))
        former, relaxed = (
            published(rows, tmp_path / name, {"objectives.constrained.models.roberta.resilience": resilience})
            for name, resilience in ((PARTS[1], "none"), ("relaxed", "decay"))
        )
    row = judged([former]).loc["alpha_ood"]
    assert judged([relaxed]).loc["alpha_ood", "verdict"] == "reproduced", "what it leaves of them no table tells"
    assert (held["why"], held["verdict"]) == ("", "reproduced")
    assert grounds.load(former)[1].query("claim == 'alpha_ood'")["why"].eq("").all(), "what it said stays"
    assert row["verdict"] == NOT_TESTED and "6 of 8 constrained cells at 0.2 are feasible" in row["why"]
