"""Publishing evidence: what is in the folder, what the words say, and the runs that are refused."""

import json
import math
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from descent import config
from descent.analysis import grounds, results, scorecard
from descent.analysis.summary import CELL, cells_table
from descent.cells import grid
from descent.config import Params
from descent.errors import UserError
from descent.figures.video import fig03_depth
from descent.report import evidence, first_screen, gains, held, published, reproduction, sections, trained
from stages import evidence as stage
from stages import figures
from tests.fakes.cards import card
from tests.fakes.results import fake_params, fake_results

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted((ROOT / "data/evidence").glob("*-*/claims.csv"))
LITTLE = {
    "profile": "small",
    "local_data": "/somewhere/of/mine",
    "video.datasets": ["ucsd"],
    "video.models": ["ut", "dust"],
    "text.datasets": [],
    "lm.datasets": [],
    "studies": [],
    "video.selection": "final",
    "arms": ["constrained", "unconstrained"],
}
META = {
    "repeated": 1,
    "digest": "ab" * 32,
    "sigma": 0.18,
    "synthetic": False,
    "frames": {"train": 300, "validation": 60, "test": 120},
    "clips": {"train": [["a", 0, 300]], "validation": [["b", 0, 60]], "test": [["c", 0, 60], ["d", 60, 60]]},
}
README = "# Title\n<!-- evidence -->\nold words\n<!-- /evidence -->\nthe rest\n"


@pytest.fixture(scope="module")
def params() -> Params:
    return fake_params(LITTLE)


@pytest.fixture(scope="module")
def made_up(params: Params) -> pd.DataFrame:
    rows = fake_results(params)
    return rows[rows["metric"].isin(results.METRICS)]


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


MODELS = pd.DataFrame(
    [
        {"model": "ut", "estimate": 0.02, "low": 0.01, "high": 0.03, "why": ""},
        {"model": "dust", "estimate": -0.5, "low": -0.6, "high": -0.4, "why": "twice the epochs"},
    ]
).assign(claim="video_ood", unit="percent", datasets="avenue, ucsd")


AVERAGES = pd.DataFrame(
    [
        {"average": "trimmed mean", "estimate": 0.02, "low": 0.01, "high": 0.03, "settings": 2},
        {"average": "one setting", "estimate": 0.04, "low": 0.01, "high": 0.07, "settings": 1}
        | {"dataset": "ucsd", "model": "ut", "layers": 3, "eps": 0.13},
    ]
).assign(claim="video_ood", seeds=8)


TRIALS = pd.DataFrame(
    [{"model": "ut", "arm": "constrained", "lr": 0.003, "missed": 0.0, "place": 1, "used": True}]
)


def run(params: Params, rows: pd.DataFrame, made_up: pd.DataFrame) -> reproduction.Run:
    return reproduction.Run(
        params=params,
        card=rows,
        models=MODELS,
        cells=cells_table(made_up, params),
        controls=pd.DataFrame(
            [{"study": "controls", "arm": "penalty", "varied": "", "trained": 6, "lost": 1} | GAINS]
        ),
        shifts=published.shifts(made_up, params),
        solver=held.solver(cells_table(made_up, params), params),
        longer=held.longer(cells_table(made_up, params)),
        turned=published.longer(made_up, params),
        averages=AVERAGES,
        datasets=card().assign(dataset="ucsd"),
        trials=TRIALS,
        selection=held.selection(made_up, params),
        numbers=pd.DataFrame([{"model": "ut", "layers": 3, "arm": "constrained", "numbers": 65536}]),
        metas={"ucsd": META},
        made=[{"seconds": 3600.0, "cells_in_stack": 2, "device": "cpu (x)", "fingerprint": n} for n in "abcda"],
        figures={"fig03_depth.png": {"title": "Depth <L>", "caption": "What depth does."}},
        protocol="abc1234 of 2026-01-01",
    )


GAINS = {"gain_out": 0.0123, "gain_out_low": 0.01, "gain_out_high": 0.015, "inflation": 0.25}
GAINS |= {"gain_in": -0.002, "gain_in_low": math.nan, "gain_in_high": math.nan}


def test_a_model_is_named_with_what_its_weights_start_from() -> None:
    params = fake_params({"profiles.demo.text.models.distilbert.weights": {"random": {"width": 48}}})
    assert sections.weighted(params, "distilbert") == "DistilBERT (random weights, width 48)"
    local = fake_params({"profiles.demo.text.models.distilbert.weights": {"path": "here/bert"}})
    assert sections.weighted(local, "distilbert") == "DistilBERT (here/bert)"
    assert sections.weighted(params, "ut_text") == "UT"


def test_gains_of_classifiers_are_told_in_points() -> None:
    row = {"study": "controls_distilbert", "arm": "penalty", "varied": "", "trained": 6, "lost": 0} | GAINS
    assert "| +1.23 points [+1.00 points, +1.50 points] |" in gains.controls(pd.DataFrame([row]), fake_params())


def part(report: str, title: str) -> str:
    return report.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_report_puts_every_claim_under_its_verdict(params: Params, made_up: pd.DataFrame) -> None:
    report = reproduction.report(run(params, card(), made_up))
    assert "as of commit abc1234 of 2026-01-01" in " ".join(report.split())
    named = {
        "Results that reproduce the paper": "video_ood",
        "Results that do not": "video_depth",
        "What cannot be told": "video_cost",
        "What was not tested": "text_ood",
    }
    for title, claim in named.items():
        assert [other for other in named.values() if f"Statement of {other}" in part(report, title)] == [claim]
    assert "| 5 % (outside) | 2 % | 1 % to 3 % | 1 % | 0.047 | 27 settings, 8 seeds | **reproduced** |" in report
    assert "nothing to compare" in part(report, "What was not tested")
    assert all(f"Statement of {claim}" in part(report, "Scope of reproducibility") for claim in named.values())


def test_the_report_follows_the_verdicts(params: Params, made_up: pd.DataFrame) -> None:
    report = reproduction.report(run(params, card().assign(verdict="no effect of interest"), made_up))
    assert "No claim was reproduced." in report and "Every claim was tested." in report
    assert part(report, "Results that do not").count("Statement of") == 4


def test_the_report_tells_data_budgets_cells_and_what_lies_beyond(params: Params, made_up: pd.DataFrame) -> None:
    report = reproduction.report(run(params, card(), made_up))
    assert (
        "| ucsd | 300 frames of 1 clips | 60 frames of 1 clips | 120 frames of 2 clips | 1 | abababab |" in report
    )
    assert "of 4 trainings in 2.0 hours of cpu (x)" in report, "a training that two cells share counts once"
    assert "65536" in report
    assert "| UT | constrained | 0.003 | 0 | 1 | yes |" in report
    assert "+1.23 % [+1.00 %, +1.50 %] | -0.20 % | 25.00 % | 6 | 1 |" in part(report, "Results beyond the paper")
    assert "| UCSD | Statement of video_ood | 2 % |" in part(report, "What the estimates rest on")
    assert "video: UT and DUST on UCSD" in report and "| all settings | 74 | 31 | 0 |" in report
    ours, budget = params.objective("constrained", "ucsd", "dust"), params.model_budget("dust")
    row = next(line for line in report.splitlines() if line.startswith("| DUST |") and "| constrained |" in line)
    assert f"| {budget['epochs']} | {budget['batch']} |" in row and f"| {ours['constraint']} |" in row
    assert "{{" not in report and "{%" not in report and "nan" not in report


def test_models_without_a_list_of_trials_are_named(params: Params, made_up: pd.DataFrame) -> None:
    whole = run(params, card(), made_up)

    def told(trials: pd.DataFrame) -> str:
        return " ".join(reproduction.report(replace(whole, trials=trials)).split())

    assert "in both arms; of DUST this run holds no list of them" in told(TRIALS)
    assert "in both arms; of UT and DUST this run holds no list of them" in told(TRIALS[:0])
    assert "Trials of the learning rates" in told(TRIALS) and "Trials of the" not in told(TRIALS[:0])
    both = pd.concat([TRIALS, TRIALS.assign(model="dust")])
    assert "searched with equally many trials in both arms. The constrained arm" in told(both)


def test_a_form_that_is_not_the_papers_is_admitted(made_up: pd.DataFrame) -> None:
    usual, own = "objectives.constrained.constraint", "profiles.small.video.models.dust.arms.constrained"
    adam = {"constraint": "difference", "dual_optimizer": "adam", "dual_lr": 0.01}
    paper = fake_params(LITTLE | {usual: "difference", own: adam})
    assert "The constrained problem of" not in reproduction.report(run(paper, card(), made_up))
    other = fake_params(LITTLE | {usual: "difference", own: adam | {"constraint": "ratio"}})
    report = reproduction.report(run(other, card(), made_up))
    assert "The constrained problem of DUST is solved with constraint ratio (difference)" in " ".join(
        report.split()
    )


def screen(params: Params, rows: pd.DataFrame, made_up: pd.DataFrame, folder: Path) -> str:
    return first_screen.first_screen(rows, MODELS, AVERAGES, cells_table(made_up, params), [folder], params)


def behind(params: Params, rows: pd.DataFrame, made_up: pd.DataFrame, folder: Path) -> str:
    rows.to_csv(folder / "claims.csv")
    return first_screen.behind(rows, MODELS, AVERAGES, cells_table(made_up, params), [folder], params)


def test_the_first_screen_says_what_holds_and_how_much_stands_behind_it(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    sentence, picture, verdicts, hidden, legend, scope = screen(params, card(), made_up, folder).split("\n\n")
    assert sentence.startswith(
        "**1 of the paper's 3 primary claims is reproduced on real data** (1 cannot tell, 1 not tested, up to 27 "
        "settings and 8 seeds a claim). On validation data the loss falls at every layer in "
    )
    each = re.findall(r"(\d+) of (\d+)", sentence.split("On validation data")[1])
    cells = cells_table(made_up, params)
    cells = cells[(cells["experiment"] == "video") & cells["trained"].astype(bool)]
    own = [cells[cells["arm"] == arm]["descending"].astype(bool) for arm in ("constrained", "unconstrained")]
    assert each == [(str(falls.sum()), str(len(falls))) for falls in own]
    assert picture.endswith(f"({tmp_path}/fig_forest.png)")
    head, _, *rows = verdicts.splitlines()
    assert head == "| claim | the paper | here | verdict |" and len(rows) == 3
    assert rows[0].endswith(" | 2 % (1 to 3) | **reproduced** |") and "; 5 % (" in rows[0]
    assert " | – | **not tested**" in rows[2]  # noqa: RUF001
    assert hidden.startswith("- **Models that a precondition keeps out**") and hidden.count("\n") == 0
    assert legend.startswith("*ERM* is plain training") and "*Not tested*" in legend
    assert scope.startswith("Scope of what was tested: UT on Avenue and UCSD; samples"), (
        "what fails a precondition is no part of it"
    )
    assert f"({tmp_path}/README.md)" in scope and f"({tmp_path}/PROTOCOL.md)" in scope
    none = screen(params, card().assign(verdict="not tested"), made_up, folder)
    assert none.startswith("**None of the paper's 3 primary claims could be tested on real data yet.** Below is")
    assert "Scope" not in none


def test_gains_at_one_learning_rate_stand_beside_the_claims(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    folder.mkdir()
    row = {"study": "controls_rates_x", "arm": "constrained", "varied": 0.001}
    rows = [
        row | {"gain_out_low": -0.01, "gain_out_high": 0.02},
        row | {"varied": 0.004, "gain_out_low": 0.01, "gain_out_high": 0.03},
        row | {"arm": "unconstrained", "gain_out_low": 0.0, "gain_out_high": 0.0},
        row | {"study": "controls", "gain_out_low": 0.5, "gain_out_high": 0.6},
    ]
    pd.DataFrame(rows).to_csv(folder / "controls.csv", index=False)
    held = [  # how many of three seeds are feasible
        (rows[0]["study"], "constrained", "0.001", 1),
        (rows[0]["study"], "constrained", "0.004", 3),
        (rows[0]["study"], "unconstrained", "0.001", 2),
        (rows[3]["study"], "constrained", "0.001", 0),
    ]
    columns = ["experiment", "arm", "varied"]
    cells = [dict(zip(columns, place, strict=True), feasible=k < n) for *place, n in held for k in range(3)]
    pd.DataFrame(cells).to_csv(folder / "cells.csv", index=False)
    study = {"controls_rates_x": {"model": "ut", "task": "text"}}
    (folder / "params.yaml").write_text(yaml.safe_dump({"study": study}))
    told = part(behind(params, card(), made_up, folder), "Beside them").strip()
    assert told.endswith(
        "is of UT -1 points to 2 points at 0.001 (1 of 3) and 1 points to 3 points at 0.004 (3 of 3)."
    )


def test_how_the_constraints_hold_by_tolerance_is_a_row_a_model(params: Params) -> None:
    shares = {"at_zero": 0.25, "at_half": 0.5, "at_tolerance": 1.0, "worst": -0.0123}
    found = pd.DataFrame([{"model": "ut", "alpha": 0.22, "cells": 4, "tolerance": 0.02} | shares])
    told = trained.constraints(found, params)
    assert "(tolerances: 0 / 0.01 / 0.02;" in told and told.endswith(
        "| UT | 0.22 | 4 | 25% | 50% | 100% | -0.012 |"
    )
    assert trained.constraints(found[:0], params) == ""


def test_a_claim_that_several_models_could_not_test_names_how_many_and_where_to_read_why(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    rows = card().assign(verdict="not tested", why="DUST failed; UT failed")
    one = screen(params, rows, made_up, folder)
    assert "**not tested** (DUST failed; UT failed)" in one and "meets the preconditions" not in one
    both = MODELS.assign(why="failed")
    several = first_screen.first_screen(rows, both, AVERAGES, cells_table(made_up, params), [folder], params)
    row = next(line for line in several.splitlines() if line.startswith("| Statement of video_ood"))
    assert row.endswith(f"(none of its 2 models meets the preconditions, [why]({tmp_path}/README.md)) |")
    one_left = first_screen.first_screen(rows, MODELS, AVERAGES, cells_table(made_up, params), [folder], params)
    assert "meets the preconditions" not in one_left, "UT meets them, and the claim has another reason"


def test_a_page_beside_the_parts_says_what_the_verdicts_rest_on(
    params: Params, made_up: pd.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "small-1"
    folder.mkdir()
    card().assign(dataset="ucsd").to_csv(folder / "datasets.csv")
    words = behind(params, card(), made_up, folder)
    assert "[small-1](small-1/REPORT.md)" in part(words, "The published parts"), "beside this page"
    assert "Trained: video: DUST on UCSD (L = 3 " in part(words, "The published parts")
    assert len(part(words, "The primary claims").strip().splitlines()) == 2 + 3 + 2
    aside = part(words, "Beside them").strip()
    assert aside.startswith("Exploratory: published parts and their data sets, each judged by itself, give 4 ")
    assert "(2 reproduced and 2 cannot tell), listed below." in aside, "of those it could test"
    descent = part(words, "Descent").strip()
    assert descent.startswith("Cells whose loss falls at every layer, on validation data: DUST (video) ")
    assert re.search(r"; UT \(video\) \d+ of \d+ constrained and \d+ of \d+ unconstrained\.$", descent)
    averages = part(words, "Other averages, and each setting")
    assert len(averages.strip().splitlines()) == 2 + 2
    assert "| mean over 2, the protocol's | 2 % | 1 % to 3 % |  |" in averages
    assert re.search(r"UCSD, UT, L = 3 \| 4 % \| 1 % to 7 % \| \d+ / \d+ of \d+ \|", averages)
    each = part(words, "Each published part, and each data set of one that has several, by itself")
    assert each.count("| small-1 | all of it |") == 2, "the two claims that this part could test"
    assert each.count("| small-1 | UCSD |") == 2, "and those of its data sets"
    models = part(words, "Each model alone, and what keeps it out of a claim")
    assert len(models.strip().splitlines()) == 2 + 2 and "twice the epochs" in models
    lost = made_up.copy()
    lost.loc[(lost["metric"] == "diverged") & (lost["arm"] == "constrained"), "value"] = 1.0
    assert re.search(r"UT \(video\) 0 of (\d+) constrained", behind(params, card(), lost, folder))
    none = behind(params, card().assign(verdict="not tested"), made_up, folder)
    assert none.count("Statement of video_ood (not tested)") == 1, "a setting, and no average"


def test_a_run_without_controls_or_shifts_has_empty_tables(params: Params, made_up: pd.DataFrame) -> None:
    rows = made_up[made_up["shift"] == "gaussian"]
    assert published.controls(rows, params).empty and published.shifts(rows, params).empty
    grid = rows[~rows["experiment"].str.startswith("plateau")]
    assert published.longer(grid, params).empty and not gains.turned(published.longer(grid, params), params)
    assert published.transferred(rows, params).empty
