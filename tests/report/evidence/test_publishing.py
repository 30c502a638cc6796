"""Publishing evidence: what is in the folder, and the runs that are refused."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from descent import config
from descent.analysis import grounds, results, scorecard
from descent.analysis.summary import CELL
from descent.cells import grid
from descent.config import Params
from descent.errors import UserError
from descent.figures.video import fig03_depth
from descent.report import evidence
from stages import evidence as stage
from stages import figures
from tests.fakes.results import fake_params
from tests.fakes.runs import LITTLE, META

ROOT = Path(__file__).parents[3]
PUBLISHED = sorted((ROOT / "data/evidence").glob("*-*/claims.csv"))
README = "# Title\n<!-- evidence -->\nold words\n<!-- /evidence -->\nthe rest\n"


@pytest.fixture(scope="module")
def finished(params: Params, made_up: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a finished run of real data, trained after its protocol was committed."""
    root = tmp_path_factory.mktemp("finished")
    (root / "data").mkdir()
    shutil.copytree(ROOT / "data/paper", root / "data/paper")
    shutil.copy(ROOT / "requirements.txt", root)
    (root / "README.md").write_text(README)
    write(root / "data/evidence/PROTOCOL.md", "the rule\n")
    commit(root)
    write(root / "data/prepared/ucsd/meta.json", json.dumps(META))
    for model in params.video.models:
        for cell in grid(params, "video", "ucsd", model):
            made_by = {"finished": time.time() + 60, "seconds": 7.0, "cells_in_stack": 2, "device": "cpu (x)"}
            place = root / "data/runs/video/ucsd" / model / cell.name / "cell.json"
            write(place, json.dumps({"made_by": made_by, "fingerprint": f"{model} {cell.name}"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("descent.config.load", lambda *_: params)
        write(Path("data/params.json"), config.of_results(params))
        results.write(made_up, Path("data/results.parquet"))
        figures.main("video", "fig03_depth", "table3_video_rmse")
    return root


@pytest.fixture
def project(finished: Path, params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to spoil, as the working folder."""
    root = tmp_path / "project"
    shutil.copytree(finished, root)
    monkeypatch.chdir(root)
    monkeypatch.setattr("descent.config.load", lambda *_: params)
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(root: Path) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "data/evidence"], [*who, "commit", "-q", "-m", "protocol"]):
        subprocess.run(["git", *words], cwd=root, check=True)


def one_cell() -> Path:
    return sorted(Path("data/runs").rglob("cell.json"))[0]


def without(made_by: str) -> None:
    path = one_cell()
    record = json.loads(path.read_text())
    del record["made_by"][made_by]
    path.write_text(json.dumps(record))


def older() -> None:
    record = json.loads(one_cell().read_text())
    record["made_by"]["finished"] = evidence.committed(evidence.PROTOCOL) + 6.0  # training took 7 seconds
    one_cell().write_text(json.dumps(record))


def of_other_parameters() -> None:
    values = json.loads(Path("data/params.json").read_text())
    Path("data/params.json").write_text(json.dumps(values | {"eps": 0.15}))


def lacking_scores() -> None:
    rows = pd.read_parquet("data/results.parquet")
    rows[rows["layers"] != 3].to_parquet("data/results.parquet")


def synthetic() -> None:
    write(Path("data/prepared/ucsd/meta.json"), json.dumps(META | {"synthetic": True}))


def append(path: Path) -> Callable[[], None]:
    return lambda: path.write_bytes(path.read_bytes() + b"more")


def gone(path: Path) -> Callable[[], None]:
    return path.unlink


SPOILT = {
    "other parameters": (of_other_parameters, "not of this params.yaml"),
    "scores missing": (lacking_scores, "the scores of .* cells are missing"),
    "cell missing": (lambda: one_cell().unlink(), "is missing, so the run is not finished"),
    "data missing": (gone(Path("data/prepared/ucsd/meta.json")), "is missing, so the run is not finished"),
    "synthetic data": (synthetic, "holds generated ones"),
    "no protocol": (gone(evidence.PROTOCOL), "PROTOCOL.md is missing"),
    "changed protocol": (append(evidence.PROTOCOL), "not committed as it stands"),
    "never committed": (lambda: shutil.rmtree(".git"), "git cannot say|not committed"),
    "protocol newer": (older, r"data/runs/video/ucsd/\w+/[\w.-]+ was trained before the last commit"),
    "no time": (lambda: without("finished"), "does not say when it was trained"),
    "another figure": (append(Path("figures/video/fig03_depth.png")), "is not that of this run"),
    "no figure": (lambda: shutil.rmtree("data/shown"), "holds no figure"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SPOILT)
def test_a_spoilt_run_is_refused_in_one_sentence_and_writes_nothing(case: str, project: Path) -> None:
    spoil, told = SPOILT[case]
    spoil()
    with pytest.raises(UserError, match=told) as error:
        stage.main()
    assert "\n" not in str(error.value)
    assert not [path for path in Path("data/evidence").iterdir() if path.is_dir()]
    assert Path("README.md").read_text() == README


def test_generated_data_are_no_evidence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = fake_params()
    monkeypatch.setattr("descent.config.load", lambda *_: demo)
    with pytest.raises(UserError, match="evidence is of real data, and profile demo generates"):
        stage.main()


def test_weights_chosen_by_another_rule_are_no_evidence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    best = fake_params(LITTLE | {"video.selection": "best"})
    monkeypatch.setattr("descent.config.load", lambda *_: best)
    with pytest.raises(UserError, match=r"set video\.selection: final and run"):
        stage.main()


def test_published_parameters_can_be_read_by_todays_code() -> None:
    found = sorted(ROOT.glob("data/evidence/*/params.yaml"))
    assert found and all(config.load(path).profile == "small" for path in found)


def test_without_git_nothing_says_how_old_the_protocol_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="git is not there"):
        stage.main()


def test_parts_of_other_settings_have_folders_of_their_own(params: Params) -> None:
    def name(*cells: str) -> str:
        places = [Path("data/runs/video/ucsd") / cell for cell in cells]
        return evidence.folder_name(params, {"ucsd": META}, places)

    one = name("ut/constrained-L3-eps0.13-seed0", "ut/unconstrained-L3-eps0.13-seed0")
    more = name(*(f"ut/{arm}constrained-L3-eps0.13-seed{seed}" for arm in ("un", "") for seed in range(12)))
    assert one == more, "further seeds"
    others = [name(f"{model}/constrained-L{depth}-eps0.13-seed0") for model in ("ut", "dust") for depth in (3, 5)]
    assert len({one, *others}) == 5, "other models, depths and arms"


def test_a_finished_run_is_published_whole(project: Path, params: Params, made_up: pd.DataFrame) -> None:
    stage.main()
    (folder,) = [path for path in Path("data/evidence").iterdir() if path.is_dir()]
    assert re.fullmatch("small-[0-9a-f]{8}", folder.name)
    tables = {
        f"{name}.csv"
        for name in (
            "claims",
            "models",
            "cells",
            "facts",
            "shifts",
            "transfer",
            "controls",
            "levels",
            "longer",
            "sensitivity",
            "datasets",
            "trials",
        )
    }
    texts = {"REPORT.md", "params.yaml", "environment.txt", "data.sha256"}
    assert {path.name for path in folder.iterdir()} == tables | texts | {"pairs.parquet", "figures"}
    assert {path.name for path in (folder / "figures").iterdir()} == {"fig03_depth.png", "table3_video_rmse.md"}
    assert len(pd.read_csv(folder / "cells.csv")) == len(made_up[CELL].drop_duplicates())
    assert (folder / "data.sha256").read_text() == f"{META['digest']}  ucsd\n"
    recomputed(folder)


def recomputed(folder: Path) -> None:
    again = scorecard.judged(*grounds.load(folder))
    saved = pd.read_csv(folder / "claims.csv")
    numbers = again.select_dtypes("number").columns
    assert (again["verdict"] == saved["verdict"]).all() and list(again["claim"]) == list(saved["claim"])
    pd.testing.assert_frame_equal(
        again[numbers].astype(float), saved[numbers].astype(float), rtol=1e-5, atol=1e-12
    )


@pytest.mark.skipif(not PUBLISHED, reason="no run on real data is published yet")
@pytest.mark.parametrize("claims", PUBLISHED, ids=lambda path: path.parent.name)
def test_published_claims_follow_from_published_pairs(claims: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    recomputed(claims.parent)


def test_the_published_parameters_are_those_of_the_results_without_the_users_folders(params: Params) -> None:
    text = evidence.parameters(params)
    assert "/somewhere/of/mine" not in text and "components" not in text
    values = json.loads(config.of_results(params))
    assert config.Params.model_validate(evidence.yaml.safe_load(text) | {"components": values["components"]}) == (
        config.Params.model_validate(values)
    )


def test_the_environment_names_versions_and_no_place(project: Path, params: Params) -> None:
    lines = evidence.environment(evidence.records(params)).splitlines()
    assert any(line.startswith("torch==") for line in lines) and "cells trained on cpu (x)" in lines
    assert not [line for line in lines if "/" in line.split("==")[0].replace("cpu", "") and "cores" not in line]


@pytest.mark.slow
def test_an_earlier_folder_is_replaced(project: Path) -> None:
    stage.main()
    (folder,) = [path for path in Path("data/evidence").iterdir() if path.is_dir()]
    write(folder / "left.txt", "over")
    stage.main()
    assert not (folder / "left.txt").exists() and (folder / "REPORT.md").exists()


@pytest.mark.slow
def test_the_readme_begins_with_it_between_its_markers_alone(project: Path) -> None:
    stage.main()
    text = Path("README.md").read_text()
    assert text.startswith("# Title\n<!-- evidence -->\n**") and " on real data" in text.splitlines()[2]
    assert text.endswith("<!-- /evidence -->\nthe rest\n")
    assert "old words" not in text and "(data/evidence/fig_forest.png)" in text
    stage.main()
    assert Path("README.md").read_text() == text


def test_a_readme_without_markers_is_left_alone(project: Path) -> None:
    Path("README.md").write_text("plain")
    stage.main()
    assert Path("README.md").read_text() == "plain"


def test_figures_that_hold_frames_are_not_published(
    project: Path, params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fig03_depth, "FRAMES", True, raising=False)
    assert [file.name for file in evidence.pictures(params)] == ["table3_video_rmse.md"]


def test_a_figure_that_shows_nothing_is_not_published(project: Path, params: Params) -> None:
    (sidecar,) = (project / "data/shown").glob("*/fig03_depth.json")
    told = json.loads(sidecar.read_text())
    for shows, names in ((True, ["fig03_depth.png", "table3_video_rmse.md"]), (False, ["table3_video_rmse.md"])):
        sidecar.write_text(json.dumps(told | {"shows": shows}))
        assert [file.name for file in evidence.pictures(params)] == names
