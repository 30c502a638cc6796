"""Parts of a programme: judged together as the one run that they make up, however claims are spread over them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis import alike, effects, parts, scorecard
from descent.analysis.summary import cells_table
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
    cells_table(results, real_params()).to_csv(folder / "cells.csv", index=False)
    (folder / "params.yaml").write_text(evidence.parameters(real_params(changes)))
    return folder


def two(results: pd.DataFrame, one: pd.Series, folder: Path, **more: object) -> list[Path]:
    """The rows marked and the others, as two parts."""
    [first, second] = [folder / name for name in PARTS]
    return [published(results[one], first), published(results[~one], second, **more)]


def judged(folders: list[Path]) -> pd.DataFrame:
    return scorecard.judged(*parts.joined(folders, real_params())).set_index("claim")


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
    return results[~((results["dataset"] == "ucsd") & results["experiment"].str.startswith("plateau"))]


def not_ended(results: pd.DataFrame) -> pd.DataFrame:
    """Twice the epochs lower the loss by 2 % on Avenue, and not at all on UCSD."""
    longer = results["experiment"].str.startswith("plateau") & (results["metric"] == "validation_loss")
    avenue = results["dataset"] == "avenue"
    factor = np.where(longer & avenue, 0.985, np.where(longer, 1 / 0.995, 1.0))
    return results.assign(value=results["value"] * factor)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "alone", "settings"),
    [
        (lambda rows: infeasible(rows, 3), "5 of 8 constrained cells are feasible", 4),
        (lambda rows: infeasible(rows, 8), "0 of 8 constrained cells are feasible", 2),
        (without_study, "no study of twice the epochs of ut", 4),
        (not_ended, "twice the epochs lower f_L", 4),
    ],
    ids=["most of all cells feasible", "half of all cells", "one study", "plateau in the mean"],
)
def test_a_models_cells_of_all_parts_are_asked_together(
    results: pd.DataFrame, change: Callable, alone: str, settings: int, tmp_path: Path
) -> None:
    """One part by itself would be left out; the whole run is the reference."""
    changed = change(results)
    folders = two(changed, changed["dataset"] == "avenue", tmp_path)
    by_itself = pd.concat([scorecard.load(folder)[1] for folder in folders])
    assert by_itself["why"].str.contains(alone, regex=False).any()
    row, whole = judged(folders).loc["video_ood"], scorecard.scorecard(changed, real_params()).set_index("claim")
    same = ["estimate", "low", "high", "p_holm", "seeds", "settings", "items", "verdict", "why", "words"]
    pd.testing.assert_series_equal(row[same], whole.loc["video_ood", same])
    assert row["settings"] == settings


@pytest.mark.slow
def test_what_else_keeps_a_model_out_of_one_part_keeps_it_out_of_the_claim(
    results: pd.DataFrame, tmp_path: Path
) -> None:
    worse = of(results, "rmse", dataset="avenue", model="ut", arm="constrained")
    row = judged(
        two(results.assign(value=results["value"].mask(worse, 500.0)), results["dataset"] == "avenue", tmp_path)
    )
    assert row.loc["video_ood", "settings"] == 2 and "left out: ut (avenue: " in row.loc["video_ood", "words"]


@pytest.mark.slow
def test_seeds_are_counted_over_the_models_that_are_left_in(results: pd.DataFrame, tmp_path: Path) -> None:
    """One that fails has four seeds in the other part, and is of no account."""
    broken = infeasible(results, 8)
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
        parts.joined(folders, real_params())


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"profiles.demo.text.shifts": ["gaussian"]}, "profiles.demo.text.shifts"),
        ({"shifts.uniform.levels": [0.1]}, "shifts.uniform"),
        ({"text.evaluation.energies": [4.0]}, "text.evaluation.energies"),
    ],
)
def test_claims_about_shifts_alone_ask_for_the_same_shifts_and_of_one_model(
    changes: dict[str, object], key: str, tmp_path: Path
) -> None:
    for name, own in (("one", {}), ("other", changes)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "params.yaml").write_text(evidence.parameters(real_params(own)))
    folders = [tmp_path / "one", tmp_path / "other"]
    of_one = pd.DataFrame({"part": [0, 1], "model": ["ut_text", "ut_text"]})
    of_two = pd.DataFrame({"part": [0, 1], "model": ["ut_text", "distilbert"]})
    alike.check("text_ood", of_one, folders)
    alike.check("text_shifts", of_two, folders)
    with pytest.raises(UserError, match=f"pairs of text_shifts and differ in {key}: publish"):
        alike.check("text_shifts", of_one, folders)


@pytest.mark.slow
def test_parts_with_too_few_seeds_in_common_give_no_verdict(results: pd.DataFrame, tmp_path: Path) -> None:
    moved = results.assign(seed=results["seed"].where(results["dataset"] != "avenue", results["seed"] + 4))
    own = moved["dataset"] == "avenue"
    folders = two(moved, own, tmp_path)
    row = judged(folders).loc["video_ood"]
    assert row["verdict"] == NOT_TESTED and row["why"] == "4 seeds, and 8 are needed"


@pytest.mark.slow
def test_what_two_parts_trained_for_as_long_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    folders = [published(results, tmp_path / name) for name in PARTS]
    match = "small-00000001 and small-00000002 both hold .* on .*, trained and tuned for as long: remove the part"
    with pytest.raises(UserError, match=match):
        parts.joined(folders, real_params())
    with pytest.raises(UserError, match=match):
        parts.counting(folders)


@pytest.fixture(scope="module")
def again() -> pd.DataFrame:
    """DUST a second time, and the other way round."""
    return Made().video(gain=-GAIN, models=("dust_shared",), layers=(3,)).table()


@pytest.mark.slow
@pytest.mark.parametrize("longer", ["first", "second"])
def test_the_part_that_trained_a_model_for_longer_counts_in_its_place(
    results: pd.DataFrame, again: pd.DataFrame, longer: str, tmp_path: Path
) -> None:
    """The whole run of what counts is the reference; of the part that is replaced the other model stays."""
    old, new = (rows.assign(epochs=rows["metric"] == "epoch") for rows in (results, again))
    more = new if longer == "second" else old
    more["value"] = more["value"].mask(more["epochs"], more["value"] * 4)
    old, new = (rows.drop(columns="epochs") for rows in (old, new))
    folders = [published(old, tmp_path / PARTS[0]), published(new, tmp_path / PARTS[1])]
    kept = old[old["model"] != "dust_shared"]
    whole = pd.concat([kept, new], ignore_index=True) if longer == "second" else old
    expected = scorecard.scorecard(whole, real_params()).set_index("claim")
    pd.testing.assert_frame_equal(judged(folders), expected)
    counted = parts.counting(folders)
    of_dust = counted[(counted["model"] == "dust_shared") & counted["trained"]]
    assert set(of_dust["part"]) == {1 if longer == "second" else 0}
    assert set(counted[counted["model"] == "ut"]["part"]) == {0}
    gone = {(dataset, "dust_shared", 0 if longer == "second" else 1) for dataset in ("avenue", "ucsd")}
    assert parts.replaced(folders) == gone


@pytest.mark.slow
def test_of_equally_long_parts_the_one_with_more_trials_counts(
    results: pd.DataFrame, again: pd.DataFrame, tmp_path: Path
) -> None:
    folders = [published(results, tmp_path / PARTS[0]), published(again, tmp_path / PARTS[1])]
    tried = {"constrained": (1, 3), "unconstrained": (9, 3)}  # of an arm in either part: the fewer count
    for part, folder in enumerate(folders):
        own = [
            {"dataset": dataset, "model": "dust_shared", "arm": arm, "seeds": seeds[part]}
            for dataset in ("avenue", "ucsd")
            for arm, seeds in tried.items()
        ]
        pd.DataFrame(own).to_csv(folder / "trials.csv", index=False)
    row = judged(folders).loc["video_ood"]
    assert row["settings"] == 4 and abs(row["estimate"]) < GAIN / 2
    assert judged(folders[:1]).loc["video_ood", "estimate"] == pytest.approx(GAIN, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("lacking", [{"datasets": ("ucsd",)}, {"layers": (5,)}], ids=["data set", "depth"])
def test_a_longer_part_that_lacks_settings_of_the_other_is_refused(
    results: pd.DataFrame, lacking: dict, tmp_path: Path
) -> None:
    """Else they would be gone without a word, or counted with reasons of what is."""
    again = Made().video(**({"models": ("dust_shared",), "layers": (3,)} | lacking)).table()
    again["value"] = again["value"].mask(again["metric"] == "epoch", again["value"] * 2)
    folders = [published(results, tmp_path / PARTS[0]), published(again, tmp_path / PARTS[1])]
    with pytest.raises(
        UserError, match="small-00000001 holds settings of dust_shared that a part trained or tuned"
    ):
        parts.joined(folders, real_params())
