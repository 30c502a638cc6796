"""Publishing evidence: what is in the folder, and what of it follows from what."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from descent import config, kept
from descent.analysis import grounds, scorecard
from descent.analysis.summary import CELL
from descent.config import Params
from descent.figures.video import fig03_depth
from descent.published import programme, run_folder
from stages import evidence as stage
from tests.fakes.runs import META, README, write
from tests.published.run.conftest import ROOT

PUBLISHED = sorted((ROOT / "data/evidence").glob("*-*/claims.csv"))


def test_published_parameters_can_be_read_by_todays_code() -> None:
    found = sorted(ROOT.glob("data/evidence/*/params.yaml"))
    assert found and {config.load(path).profile for path in found} <= {"small", "h200"}


def test_parts_of_other_settings_have_folders_of_their_own(params: Params) -> None:
    def name(*cells: str, own: Params = params) -> str:
        places = [Path("data/runs/video/ucsd") / cell for cell in cells]
        return run_folder.folder_name(own, {"ucsd": META}, places)

    one = name("ut/constrained-L3-eps0.13-seed0", "ut/unconstrained-L3-eps0.13-seed0")
    more = name(*(f"ut/{arm}constrained-L3-eps0.13-seed{seed}" for arm in ("un", "") for seed in range(12)))
    assert one == more, "further seeds"
    others = [name(f"{model}/constrained-L{depth}-eps0.13-seed0") for model in ("ut", "dust") for depth in (3, 5)]
    assert len({one, *others}) == 5, "other models, depths and arms"

    cell = "ut/constrained-L3-eps0.13-seed0"
    faster = params.with_budget("ut", {"lr": 0.5})
    assert name(cell, own=faster) == name(cell), "it takes the place of the part with another rate"
    alone = [one.model_copy(update={"judged": "alone"}) for one in (params, faster)]
    assert len({name(cell, own=own) for own in (params, *alone)}) == 3, "each is told by itself"


def test_a_run_judged_alone_on_new_seeds_stands_beside_the_one_that_it_repeats(
    params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "ROOT", tmp_path)
    alone = params.model_copy(update={"judged": "alone"})

    def name(*seeds: int, own: Params = alone) -> str:
        places = [Path(f"data/runs/video/ucsd/ut/constrained-L3-eps0.13-seed{seed}") for seed in seeds]
        trial = Path("data/runs/study/rates_ut/constrained-L3-eps0.13-seed100")
        return run_folder.folder_name(own, {"ucsd": META}, [*places, trial])

    first = name(0, 1)
    (tmp_path / first).mkdir()
    rows = [("video", True, 0), ("video", True, 1), ("video", False, 7), ("rates_ut", True, 100)]
    cells = pd.DataFrame(rows, columns=["experiment", "trained", "seed"]).assign(varied="")
    cells.to_csv(tmp_path / first / "cells.csv", index=False)
    (tmp_path / first / "params.yaml").write_text(run_folder.parameters(alone))
    assert name(0, 1) == name(1, 2) == first, "more seeds, and the same ones"
    assert len({first, name(6, 7), name(8, 9)}) == 3, "a map that learns nothing has no seed, trials are no pairs"
    strict = alone.objectives | {"constrained": alone.objectives["constrained"] | {"margin": 0.05}}
    slower = alone.training.model_copy(update={"betas": [0.95, 0.95]})
    others = [alone.model_copy(update=one) for one in ({"objectives": strict}, {"training": slower})]
    assert len({first, *(name(0, 1, own=own) for own in others)}) == 3, "what trains otherwise replaces nothing"
    together = name(0, 1, own=params)
    (tmp_path / first).rename(tmp_path / together)
    assert name(6, 7, own=params) == together, "of parts judged together they are one part's"


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
            "kinds",
            "stopped",
            "controls",
            "levels",
            "scores",
            "shift_scores",
            "epochs",
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
    text = run_folder.parameters(params)
    assert "/somewhere/of/mine" not in text and "components" not in text
    values = json.loads(kept.of_results(params))
    assert config.Params.model_validate(
        run_folder.yaml.safe_load(text) | {"components": values["components"]}
    ) == (config.Params.model_validate(values))


def test_the_environment_names_versions_and_no_place(project: Path, params: Params) -> None:
    lines = run_folder.environment(run_folder.records(params)).splitlines()
    assert any(line.startswith("torch==") for line in lines)
    assert "cells trained on cpu (x), with torch 2 and Python 3" in lines
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
    assert "old words" not in text and "(data/evidence/fig_verdicts.png)" in text
    stage.main()
    assert Path("README.md").read_text() == text


def test_a_part_that_is_judged_alone_is_told_whatever_its_profile_and_begins_no_readme(
    project: Path, params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = params.model_copy(update={"judged": "alone"})
    for own in (alone, params):
        monkeypatch.setattr("descent.config.load", lambda *_, own=own: own)
        write(Path("data/params.json"), kept.of_results(own))
        stage.main()
        if own is alone:
            assert Path("README.md").read_text() == README
            assert (run_folder.ROOT / "RUNS.md").read_text().startswith("# Runs beside each other")
            (first,) = Path("data/evidence").glob("small-*")
            assert programme.leading(run_folder.ROOT, alone) is None
    (second,) = {*Path("data/evidence").glob("small-*")} - {first}
    assert "old words" not in Path("README.md").read_text()
    assert "1 run judged together, and 1 run judged alone: [" in (run_folder.ROOT / "README.md").read_text()
    assert f"[{first.name}](" in (run_folder.ROOT / "RUNS.md").read_text()
    other = params.model_copy(update={"profile": "paper"})
    assert programme.parted(run_folder.ROOT, "small") == ([second], [first])
    assert programme.parted(run_folder.ROOT, "paper") == ([], [first])
    assert (
        programme.leading(run_folder.ROOT, other) is params
        and programme.leading(run_folder.ROOT, params) is params
    )


def test_a_readme_without_markers_is_left_alone(project: Path) -> None:
    Path("README.md").write_text("plain")
    stage.main()
    assert Path("README.md").read_text() == "plain"


def test_figures_that_hold_frames_are_not_published(
    project: Path, params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fig03_depth, "SINGLE_INPUTS", True, raising=False)
    assert [file.name for file in run_folder.pictures(params)] == ["table3_video_rmse.md"]


def test_a_figure_that_shows_nothing_is_not_published(project: Path, params: Params) -> None:
    (sidecar,) = (project / "data/shown").glob("*/fig03_depth.json")
    told = json.loads(sidecar.read_text())
    for shows, names in ((True, ["fig03_depth.png", "table3_video_rmse.md"]), (False, ["table3_video_rmse.md"])):
        sidecar.write_text(json.dumps(told | {"shows": shows}))
        assert [file.name for file in run_folder.pictures(params)] == names
