"""Parts that measured otherwise are not judged together: what must be alike in them, by claim."""

from pathlib import Path

import pandas as pd
import pytest

from descent.errors import UserError
from descent.published import parts, run_folder, same_measures
from tests.fakes.evidence import real_params
from tests.fakes.parts import two


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("video.evaluation.gammas", [0.0, 0.3]),
        ("eps", 0.2),
        ("video.evaluation.bootstrap", 7),
        ("video.noise_scale", 0.9),
    ],
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
        (tmp_path / name / "data.sha256").touch()
        (tmp_path / name / "params.yaml").write_text(run_folder.parameters(real_params(own)))
    folders = [tmp_path / "one", tmp_path / "other"]
    of_one = pd.DataFrame({"part": [0, 1], "model": ["ut_text", "ut_text"], "dataset": "imdb"})
    of_two = pd.DataFrame({"part": [0, 1], "model": ["ut_text", "distilbert"], "dataset": "imdb"})
    same_measures.check("text_ood", of_one, folders)
    same_measures.check("text_shifts", of_two, folders)
    with pytest.raises(UserError, match=f"pairs of text_shifts and differ in {key}: publish"):
        same_measures.check("text_shifts", of_one, folders)


def test_frames_of_unlike_sizes_are_refused_of_one_model_alone(tmp_path: Path) -> None:
    for name, size in (("one", 32), ("other", 16)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.sha256").touch()
        changes = {
            "video.frame": {"size": size, "patch": size // 4, "split": "official"},
            "profiles.demo.video.tokens": 3,
        }
        (tmp_path / name / "params.yaml").write_text(run_folder.parameters(real_params(changes)))
    folders = [tmp_path / "one", tmp_path / "other"]
    two_models = pd.DataFrame({"part": [0, 1], "model": ["ut", "dust_shared"], "dataset": "ucsd"})
    same_measures.check("video_ood", two_models, folders)
    with pytest.raises(UserError, match=r"pairs of video_ood and differ in video\.frame: publish"):
        same_measures.check("video_ood", two_models.assign(model="ut"), folders)


def test_a_data_set_is_tested_on_the_same_items_by_all_that_hold_it(tmp_path: Path) -> None:
    for name, skip in (("one", {}), ("other", {"test_skip": 40})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.sha256").touch()
        changes = {"profiles.demo.data.imdb": {"path": "imdb", "test_texts": 40} | skip}
        (tmp_path / name / "params.yaml").write_text(run_folder.parameters(real_params(changes)))
    folders = [tmp_path / "one", tmp_path / "other"]
    apart = pd.DataFrame({"part": [0, 1], "model": ["ut_text", "roberta"], "dataset": ["imdb", "mnli"]})
    same_measures.check("text_ood", apart, folders)
    with pytest.raises(UserError, match=r"text_ood and differ in profiles\.demo\.data\.imdb\.test_skip: publish"):
        same_measures.check("text_ood", apart.assign(dataset="imdb"), folders)


def test_a_data_set_is_tested_on_one_copy_by_all_that_cut_it_alike(tmp_path: Path) -> None:
    frame = {"video.frame": {"size": 80, "patch": 20, "split": "official"}, "profiles.demo.video.tokens": 3}
    digests = {
        "one": "aa  avenue\nbb  ucsd\n",
        "other": "cc  avenue\nbb  ucsd\n",
        "older": "",
        "cut": "dd  avenue\n",
    }
    for name, told in digests.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.sha256").write_text(told)
        changes = frame if name == "cut" else {}
        (tmp_path / name / "params.yaml").write_text(run_folder.parameters(real_params(changes)))
    folders = [tmp_path / name for name in digests]

    def pairs(*held: int, dataset: str) -> pd.DataFrame:
        models = ["ut", "dust", "dust_shared"][: len(held)]
        return pd.DataFrame({"part": held, "model": models, "dataset": dataset})

    same_measures.check("video_ood", pairs(0, 1, 2, dataset="ucsd"), folders)
    same_measures.check("video_ood", pairs(0, 2, 3, dataset="avenue"), folders)
    with pytest.raises(UserError, match=r"made from other copies of avenue \(data\.sha256\): publish one"):
        same_measures.check("video_ood", pairs(0, 1, dataset="avenue"), folders)
