"""Parts of a programme: judged together as the one run that they make up, however claims are spread over them."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import effects, parts, scorecard
from descent.analysis.verdicts import NOT_TESTED
from descent.errors import UserError
from descent.report import evidence
from tests.fakes.evidence import Made, real_params

PARTS = ("small-00000001", "small-00000002")
GAIN = 0.05


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    made = Made().video(gain=GAIN, models=("ut", "dust_shared"), layers=(3,))
    rows = made.accuracy("text", "imdb", "distilbert").table()
    return rows.drop_duplicates([name for name in rows if name != "value"])


def published(results: pd.DataFrame, folder: Path, changes: dict[str, object] | None = None) -> Path:
    """With other parameters beside the same results."""
    pairs = effects.pairs(results, real_params())
    folder.mkdir()
    scorecard.save(pairs, scorecard.facts(pairs, results, real_params()), folder)
    (folder / "params.yaml").write_text(evidence.parameters(real_params(changes)))
    return folder


def two(results: pd.DataFrame, one: pd.Series, folder: Path, **more: object) -> list[Path]:
    """The rows marked and the others, as two parts."""
    [first, second] = [folder / name for name in PARTS]
    return [published(results[one], first), published(results[~one], second, **more)]


def judged(folders: list[Path]) -> pd.DataFrame:
    return scorecard.judged(*parts.joined(folders)).set_index("claim")


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


@pytest.mark.slow
def test_a_model_that_fails_in_one_part_is_left_out_of_the_claim(results: pd.DataFrame, tmp_path: Path) -> None:
    """Its other part alone would pass, and would be judged."""
    failing = of(results, "feasible", dataset="avenue", model="ut", arm="constrained")
    broken = results.assign(value=results["value"].mask(failing, 0.0))
    own = broken["dataset"] == "avenue"
    folders = two(broken, own, tmp_path)
    row = judged(folders).loc["video_ood"]
    assert row["settings"] == 2, "those of the other model"
    assert "left out: ut (avenue: 0 of 8 constrained cells are feasible" in row["words"]
    assert judged(folders[1:]).loc["video_ood", "settings"] == 2


@pytest.mark.slow
def test_every_part_needs_its_own_study_of_twice_the_epochs(results: pd.DataFrame, tmp_path: Path) -> None:
    kept = results[~((results["dataset"] == "ucsd") & results["experiment"].str.startswith("plateau"))]
    row = judged(two(kept, kept["dataset"] == "ucsd", tmp_path)).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and "ucsd: no study of twice the epochs of ut" in row["why"]
    whole = scorecard.scorecard(kept, real_params()).set_index("claim")
    assert whole.loc["video_ood", "verdict"] != NOT_TESTED, "one run asks it of the model once"


@pytest.mark.slow
def test_seeds_are_counted_over_the_models_that_are_left_in(results: pd.DataFrame, tmp_path: Path) -> None:
    """One that fails has four seeds in the other part, and is of no account."""
    failing = of(results, "feasible", dataset="avenue", model="ut", arm="constrained")
    broken = results.assign(value=results["value"].mask(failing, 0.0))
    few = (broken["dataset"] == "ucsd") & (broken["model"] == "ut") & (broken["seed"] > 3)
    broken = broken[~few]
    row = judged(two(broken, broken["dataset"] == "avenue", tmp_path)).loc["video_ood"]
    assert (row["why"], row["seeds"], row["settings"]) == ("", 8, 2) and row["verdict"] != NOT_TESTED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [("video.evaluation.gammas", [0.0, 0.3]), ("eps", 0.2), ("video.evaluation.bootstrap", 7)],
)
def test_parts_that_measured_otherwise_are_refused(
    results: pd.DataFrame, key: str, value: object, tmp_path: Path
) -> None:
    folders = two(results, results["dataset"] == "avenue", tmp_path, changes={key: value})
    with pytest.raises(UserError, match=f"small-00000002 hold pairs of .* and differ in {key}: publish"):
        parts.joined(folders)


@pytest.mark.slow
def test_parts_with_too_few_seeds_in_common_give_no_verdict(results: pd.DataFrame, tmp_path: Path) -> None:
    moved = results.assign(seed=results["seed"].where(results["dataset"] != "avenue", results["seed"] + 4))
    own = moved["dataset"] == "avenue"
    folders = two(moved, own, tmp_path)
    row = judged(folders).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and row["why"] == "4 seeds, and 8 are needed"


@pytest.mark.slow
def test_a_setting_that_two_parts_tested_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    folders = [published(results, tmp_path / name) for name in PARTS]
    match = r"small-00000001 and .*small-00000002 both hold pairs of .* \(.* on .*\): remove the part"
    with pytest.raises(UserError, match=match):
        parts.joined(folders)
