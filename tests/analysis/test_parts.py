"""Parts of a programme: judged together as the one run that they make up, however claims are spread over them."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import effects, parts, scorecard
from descent.analysis.verdicts import NOT_TESTED
from descent.errors import UserError
from tests.fakes.evidence import Made, real_params

PARTS = ("small-00000001", "small-00000002")
GAIN = 0.05


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    made = Made().video(gain=GAIN, models=("ut", "dust_shared"), layers=(3,))
    rows = made.accuracy("text", "imdb", "distilbert").table()
    return rows.drop_duplicates([name for name in rows if name != "value"])


def published(results: pd.DataFrame, folder: Path) -> Path:
    pairs = effects.pairs(results, real_params())
    folder.mkdir()
    scorecard.save(pairs, scorecard.facts(pairs, results, real_params()), folder)
    return folder


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
    folders = [
        published(part, tmp_path / name) for part, name in zip((results[one], results[~one]), PARTS, strict=True)
    ]
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
    folders = [
        published(part, tmp_path / name) for part, name in zip((broken[own], broken[~own]), PARTS, strict=True)
    ]
    row = judged(folders).loc["video_ood"]
    assert row["settings"] == 2, "those of the other model"
    assert "left out: ut (avenue: 0 of 8 constrained cells are feasible" in row["words"]
    assert judged(folders[1:]).loc["video_ood", "settings"] == 2


@pytest.mark.slow
def test_parts_with_too_few_seeds_in_common_give_no_verdict(results: pd.DataFrame, tmp_path: Path) -> None:
    moved = results.assign(seed=results["seed"].where(results["dataset"] != "avenue", results["seed"] + 4))
    own = moved["dataset"] == "avenue"
    folders = [
        published(part, tmp_path / name) for part, name in zip((moved[own], moved[~own]), PARTS, strict=True)
    ]
    row = judged(folders).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and row["why"] == "the parts have 4 seeds in common, and 8 are needed"


@pytest.mark.slow
def test_a_setting_that_two_parts_tested_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    folders = [published(results, tmp_path / name) for name in PARTS]
    match = r"small-00000001 and .*small-00000002 both hold pairs of .* \(.* on .*\): remove the part"
    with pytest.raises(UserError, match=match):
        parts.joined(folders)
