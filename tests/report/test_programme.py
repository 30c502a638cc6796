"""Published parts judged as one: each claim from the part that tested it, Holm over all, and no claim twice."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import effects, scorecard
from descent.analysis.select import select
from descent.errors import UserError
from descent.report import programme
from tests.fakes.evidence import Made, real_params

ROOT = Path(__file__).parents[2] / "data/evidence"
TASKS = ("video", "text", "lm")


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return Made().video(gain=0.05).accuracy("text", "imdb", "distilbert").table()


def published(results: pd.DataFrame, folder: Path) -> Path:
    pairs = effects.pairs(results, real_params())
    folder.mkdir()
    scorecard.save(pairs, scorecard.facts(pairs, results, real_params()), folder)
    return folder


@pytest.mark.slow
def test_two_parts_are_judged_as_the_whole_run_would_be(results: pd.DataFrame, tmp_path: Path) -> None:
    video = results["experiment"].isin(["video", "plateau_ut", "plateau_dust"])
    parts = [
        published(results[video], tmp_path / "small-00000001"),
        published(results[~video], tmp_path / "small-00000002"),
    ]
    assert programme.parts(tmp_path, "small") == parts
    card = scorecard.judged(*programme.joined(parts))
    pd.testing.assert_frame_equal(card, scorecard.scorecard(results, real_params()))
    alone = scorecard.judged(*scorecard.load(parts[1])).set_index("claim")
    assert alone.loc["video_ood", "verdict"] == "not tested"
    assert alone.loc["text_ood", "p_holm"] <= card.set_index("claim").loc["text_ood", "p_holm"]


@pytest.mark.slow
def test_a_claim_that_two_parts_tested_is_refused(results: pd.DataFrame, tmp_path: Path) -> None:
    parts = [published(results, tmp_path / name) for name in ("small-00000001", "small-00000002")]
    with pytest.raises(
        UserError, match=r"small-00000001 and .*small-00000002 both hold pairs of .*: remove the part"
    ):
        programme.joined(parts)


def test_the_published_scorecard_is_that_of_its_parts() -> None:
    """Of one profile, the one that the README begins with; no number of it is typed by hand."""
    saved = pd.read_csv(ROOT / programme.CLAIMS).set_index("claim")
    found = scorecard.judged(*programme.joined(programme.parts(ROOT, "small"))).set_index("claim")
    assert list(saved.index) == list(found.index) and (saved["verdict"] == found["verdict"]).all()
    numbers = found.select_dtypes("number").columns
    pd.testing.assert_frame_equal(
        saved[numbers].astype(float), found[numbers].astype(float), rtol=1e-5, atol=1e-12
    )
    tested = select(saved.reset_index(), group="primary")
    assert len(tested) == 6
