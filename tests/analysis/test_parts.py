"""Parts of a programme: judged together as the one run that they make up, however claims are spread over them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from descent.analysis import alike, effects, grounds, parts, scorecard, sensitivity
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
    grounds.save(pairs, grounds.facts(pairs, results, real_params()), folder)
    cells_table(results, real_params()).to_csv(folder / "cells.csv", index=False)
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
    whole = grounds.facts(effects.pairs(results, real_params()), results, real_params())
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
def test_parts_of_wholly_other_seeds_are_matched_in_their_order(results: pd.DataFrame, tmp_path: Path) -> None:
    """What is judged then is what parts of the same seeds would give."""
    own = results["dataset"] == "avenue"
    (tmp_path / "same").mkdir()
    (tmp_path / "others").mkdir()
    same = judged(two(results, own, tmp_path / "same")).loc["video_ood"]
    moved = results.assign(seed=results["seed"].where(~own, results["seed"] + 24))
    others = judged(two(moved, own, tmp_path / "others")).loc["video_ood"]
    assert others["seeds"] == 8 and others["settings"] == 4 and others["verdict"] == "reproduced"
    pd.testing.assert_series_equal(others, same)


@pytest.mark.slow
def test_what_was_said_of_seeds_that_are_replaced_is_said_no_more(results: pd.DataFrame, tmp_path: Path) -> None:
    few = (results["dataset"] == "ucsd") & (results["model"] == "dust_shared") & (results["seed"] > 6)
    folders = [published(results[~few], tmp_path / PARTS[0])]
    assert judged(folders).loc["video_ood", "why"] == "7 seeds, and 8 are needed"
    folders.append(published(twice(layers=(3,), datasets=("ucsd",)), tmp_path / PARTS[1]))
    row = judged(folders).loc["video_ood"]
    assert (row["why"], row["seeds"], row["settings"]) == ("", 8, 4)


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


def test_frames_of_unlike_sizes_are_refused_of_one_model_alone(tmp_path: Path) -> None:
    for name, size in (("one", 32), ("other", 16)):
        (tmp_path / name).mkdir()
        changes = {
            "video.frame": {"size": size, "patch": size // 4, "split": "official"},
            "profiles.demo.video.tokens": 3,
        }
        (tmp_path / name / "params.yaml").write_text(evidence.parameters(real_params(changes)))
    folders = [tmp_path / "one", tmp_path / "other"]
    alike.check("video_ood", pd.DataFrame({"part": [0, 1], "model": ["ut", "dust_shared"]}), folders)
    with pytest.raises(UserError, match=r"pairs of video_ood and differ in video\.frame: publish"):
        alike.check("video_ood", pd.DataFrame({"part": [0, 1], "model": ["ut", "ut"]}), folders)


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
        parts.joined(folders)
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
def test_a_longer_part_that_lacks_settings_of_the_other_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    """Else they would be gone without a word."""
    folders = [published(results, tmp_path / PARTS[0]), published(twice(layers=(5,)), tmp_path / PARTS[1])]
    with pytest.raises(UserError, match="small-00000001 holds settings of dust_shared on avenue that a part"):
        parts.joined(folders)


@pytest.mark.slow
def test_of_a_model_a_data_set_that_was_not_trained_for_longer_stays(
    results: pd.DataFrame, tmp_path: Path
) -> None:
    longer = twice(layers=(3,), datasets=("ucsd",), gain=-3 * GAIN)
    folders = [published(results, tmp_path / PARTS[0]), published(longer, tmp_path / PARTS[1])]
    assert parts.replaced(folders) == {("ucsd", "dust_shared", 0)}
    row = judged(folders).loc["video_ood"]
    assert row["settings"] == 4
    effects_of = parts.joined(folders)[0].query("claim == 'video_ood' and resample == 0")
    gains = effects_of.groupby(["dataset", "model"])["effect"].mean()
    assert gains["ucsd", "dust_shared"] == pytest.approx(-3 * GAIN, abs=0.01)
    assert gains.drop(("ucsd", "dust_shared")).to_numpy() == pytest.approx([GAIN] * 3, abs=0.01)


def twice(**what: object) -> pd.DataFrame:
    """DUST for twice the epochs."""
    rows = Made().video(models=("dust_shared",), **what).table()
    return rows.assign(value=rows["value"].mask(rows["metric"] == "epoch", rows["value"] * 2))
