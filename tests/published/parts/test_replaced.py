"""Parts that hold the same cells: the one that trained or tuned for longer counts in place of the other."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import scorecard
from descent.errors import UserError
from descent.published import parts
from tests.fakes.evidence import Made, real_params
from tests.fakes.parts import GAIN, PARTS, judged, published

LONGER = {"profiles.demo.video.models.dust.epochs": 24}


@pytest.mark.slow
def test_what_was_said_of_seeds_that_are_replaced_is_said_no_more(results: pd.DataFrame, tmp_path: Path) -> None:
    few = (results["dataset"] == "ucsd") & (results["model"] == "dust_shared") & (results["seed"] > 6)
    folders = [published(results[~few], tmp_path / PARTS[0])]
    assert judged(folders).loc["video_ood", "why"] == "7 seeds, and 8 are needed"
    folders.append(published(dust(datasets=("ucsd",)), tmp_path / PARTS[1], LONGER))
    row = judged(folders).loc["video_ood"]
    assert (row["why"], row["seeds"], row["settings"]) == ("", 8, 4)


@pytest.mark.slow
def test_what_two_parts_trained_for_as_long_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    folders = [published(results, tmp_path / name) for name in PARTS]
    match = "small-00000001 and small-00000002 both hold .* on .*, trained and tuned for as long: remove the part"
    with pytest.raises(UserError, match=match):
        parts.joined(folders)
    with pytest.raises(UserError, match=match):
        parts.counted(folders)


@pytest.mark.slow
def test_a_pass_that_was_cut_in_epochs_was_not_trained_for_longer(results: pd.DataFrame, tmp_path: Path) -> None:
    of_text = results[results["model"] == "distilbert"]
    cut = {"profiles.demo.text.models.distilbert.parts": 9}
    folders = [published(of_text, tmp_path / PARTS[0]), published(of_text, tmp_path / PARTS[1], cut)]
    with pytest.raises(UserError, match="trained and tuned for as long"):
        parts.replaced(folders)


@pytest.fixture(scope="module")
def again() -> pd.DataFrame:
    """DUST a second time, and the other way round."""
    return dust(gain=-GAIN)


@pytest.mark.slow
@pytest.mark.parametrize("longer", ["first", "second"])
def test_the_part_that_trained_a_model_for_longer_counts_in_its_place(
    results: pd.DataFrame, again: pd.DataFrame, longer: str, tmp_path: Path
) -> None:
    """The whole run of what counts is the reference; of the part that is replaced the other model stays."""
    old, new = results, again
    folders = [
        published(rows, tmp_path / name, LONGER if part == longer else None)
        for part, rows, name in zip(("first", "second"), (old, new), PARTS, strict=True)
    ]
    kept = old[old["model"] != "dust_shared"]
    whole = pd.concat([kept, new], ignore_index=True) if longer == "second" else old
    expected = scorecard.scorecard(whole, real_params()).set_index("claim")
    pd.testing.assert_frame_equal(judged(folders), expected)
    counted = parts.counted(folders)
    of_dust = counted[(counted["model"] == "dust_shared") & counted["trained"]]
    assert set(of_dust["part"]) == {1 if longer == "second" else 0}
    assert set(counted[counted["model"] == "ut"]["part"]) == {0}
    gone = {(dataset, "dust_shared", 0 if longer == "second" else 1) for dataset in ("avenue", "ucsd")}
    assert parts.replaced(folders) == gone


@pytest.mark.slow
@pytest.mark.parametrize("told", [0, 1])
def test_of_equal_parts_the_one_that_tells_how_far_it_is_solved_counts(
    results: pd.DataFrame, again: pd.DataFrame, told: int, tmp_path: Path
) -> None:
    folders = [published(rows, tmp_path / name) for rows, name in zip((results, again), PARTS, strict=True)]
    for part, folder in enumerate(folders):
        cells = pd.read_csv(folder / "cells.csv").drop(columns="slackness", errors="ignore")
        cells = cells.assign(slackness=0.05) if part == told else cells
        cells.to_csv(folder / "cells.csv", index=False)
    gone = {(dataset, "dust_shared", 1 - told) for dataset in ("avenue", "ucsd")}
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
    for dataset in ("avenue", "ucsd"):
        assert (dataset, "dust_shared", 0) in parts.replaced(folders)
    alone = pd.read_csv(folders[1] / "trials.csv").query("arm == 'unconstrained'")
    alone.to_csv(folders[1] / "trials.csv", index=False)
    assert ("ucsd", "dust_shared", 1) in parts.replaced(folders), "an arm without trials has none"
    assert judged(folders[:1]).loc["video_ood", "estimate"] == pytest.approx(GAIN, abs=0.01)


@pytest.mark.slow
def test_a_longer_part_that_lacks_settings_of_the_other_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    """Else they would be gone without a word."""
    folders = [published(results, tmp_path / PARTS[0]), published(dust(layers=(5,)), tmp_path / PARTS[1], LONGER)]
    with pytest.raises(UserError, match="small-00000001 holds settings of dust_shared on avenue that a part"):
        parts.joined(folders)


@pytest.mark.slow
def test_of_a_model_a_data_set_that_was_not_trained_for_longer_stays(
    results: pd.DataFrame, tmp_path: Path
) -> None:
    more = dust(datasets=("ucsd",), gain=-3 * GAIN)
    folders = [published(results, tmp_path / PARTS[0]), published(more, tmp_path / PARTS[1], LONGER)]
    assert parts.replaced(folders) == {("ucsd", "dust_shared", 0)}
    row = judged(folders).loc["video_ood"]
    assert row["settings"] == 4
    effects_of = parts.joined(folders)[0].query("claim == 'video_ood' and resample == 0")
    gains = effects_of.groupby(["dataset", "model"])["effect"].mean()
    assert gains["ucsd", "dust_shared"] == pytest.approx(-3 * GAIN, abs=0.01)
    assert gains.drop(("ucsd", "dust_shared")).to_numpy() == pytest.approx([GAIN] * 3, abs=0.01)


@pytest.mark.slow
def test_a_part_whose_models_are_lost_early_was_trained_for_no_shorter(
    results: pd.DataFrame, again: pd.DataFrame, tmp_path: Path
) -> None:
    """What was asked for counts: else what diverges would hand its place to what was trained for less."""
    early = again.assign(value=again["value"].mask(again["metric"] == "epoch", 1.0))
    folders = [published(results, tmp_path / PARTS[0]), published(early, tmp_path / PARTS[1], LONGER)]
    assert parts.replaced(folders) == {(dataset, "dust_shared", 0) for dataset in ("avenue", "ucsd")}


def dust(layers: tuple[int, ...] = (3,), **what: object) -> pd.DataFrame:
    return Made().video(models=("dust_shared",), layers=layers, **what).table()
