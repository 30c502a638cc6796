"""Published parts run again: which they are, that params.yaml survives, and what is told beside what."""

import subprocess
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from filelock import FileLock

from descent import config
from descent.analysis import scorecard
from descent.analysis.select import select
from descent.analysis.verdicts import NOT_TESTED
from descent.components import TASKS
from descent.costs.parts import Part
from descent.errors import UserError
from descent.published import files, parts, rerun, set_aside
from descent.published.programme import parted
from stages import parameters

ROOT = Path(__file__).parents[2]
PART = Part("", cells=8, missing=3, steps=10, training=180.0, scoring=60.0, memory=1, disk=1, slots=1, grown=False)


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_parameters_are_those_of_one_part() -> None:
    with pytest.raises(UserError, match="one part has parameters, not all of them"):
        parameters.main(rerun.ALL)


def test_a_study_that_was_run_again_counts_once() -> None:
    counted = parts.counted(parted(ROOT / "data/evidence", "small")[0])
    alpha = counted[counted["experiment"] == "alpha"]
    assert (alpha.groupby(["dataset", "model"])["part"].nunique() == 1).all() and len(alpha)


def test_the_primary_claims_are_judged_alike_without_the_parts_that_they_do_not_rest_on() -> None:
    folders = parted(ROOT / "data/evidence", "small")[0]
    resting = parts.resting(folders)
    assert 0 < len(resting) < len(folders)
    whole, less = (
        select(scorecard.judged(*parts.joined(own)), group="primary").set_index("claim")
        for own in (folders, resting)
    )
    same = ["estimate", "low", "high", "p_holm", "seeds", "settings", "verdict"]
    tested = whole["verdict"] != NOT_TESTED
    assert tested.sum() > 3 and (less.loc[~tested, "verdict"] == NOT_TESTED).all()
    pd.testing.assert_frame_equal(whole.loc[tested, same], less.loc[tested, same])


def test_without_names_all_that_the_claims_rest_on_is_meant_and_an_unknown_name_is_one_sentence() -> None:
    params = config.load()
    of_small = {folder.name for folder in parted(Path("data/evidence"), "small")[0]}
    found = rerun.chosen(params, [])
    assert found == rerun.chosen(params, ["all"]) and {folder.name for folder in found} < of_small
    assert rerun.chosen(params, [found[0].name]) == found[:1]
    with pytest.raises(UserError, match="has no part nonsense; it has small-"):
        rerun.chosen(params, ["nonsense"])


def test_without_a_published_part_it_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerun, "ROOT", tmp_path)
    with pytest.raises(UserError, match="has no published part that claims are judged on"):
        rerun.chosen(config.load(), [])


def test_copies_of_data_sets_that_are_not_there_are_told_before_anything_runs(tmp_path: Path) -> None:
    here = config.load().model_copy(update={"local_data": str(tmp_path)})
    with pytest.raises(UserError, match=f"{tmp_path}"):
        rerun.of_part(rerun.chosen(here, [])[0], here)


def test_a_part_may_be_tested_under_shifts_that_are_newer_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerun.inventory, "present", list)
    here, folder = config.load(), rerun.chosen(config.load(), [])[0]
    newer = here.model_copy(update={"shifts": {name: {"levels": [0.5]} for name in (*here.shifts, "newer")}})
    own, found = files.params(folder), rerun.of_part(folder, newer)
    assert found.shifts == own.shifts | {name: {"levels": [0.5]} for name in newer.shifts.keys() - own.shifts}
    assert "newer" in found.shifts and [found.shifts_of(task) for task in TASKS] == [
        own.shifts_of(task) for task in TASKS
    ]


@pytest.mark.parametrize("code", [0, 1])
def test_params_yaml_is_the_part_s_while_it_runs_and_then_as_it_was(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = rerun.chosen(config.load(), [])[0]
    own = config.load(folder / "params.yaml").model_copy(update={"local_data": "/copies", "device": "cpu"})
    file, seen = tmp_path / "params.yaml", []
    file.write_text("eps: 1  # a comment of the user's\n")

    def ran(words: list[str], check: bool) -> SimpleNamespace:
        seen.append((words[2:], yaml.safe_load(file.read_text())))
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(set_aside, "FILE", file)
    monkeypatch.setattr(set_aside, "KEPT", tmp_path / "params.yaml.kept")
    monkeypatch.setattr(subprocess, "run", ran)
    (tmp_path / folder.name).mkdir()
    (tmp_path / folder.name / "params.yaml").write_text((ROOT / folder / "params.yaml").read_text())
    if code:
        with pytest.raises(UserError, match="did not end; what is finished is kept"):
            rerun.run(tmp_path / folder.name, own)
    else:
        rerun.run(tmp_path / folder.name, own)
    [(words, values)] = seen
    assert words[:3] == ["dvc", "exp", "run"] and words[-1] == f"again-{folder.name}" and "--temp" in words
    assert values["profile"] == "small" and (values["local_data"], values["device"]) == ("/copies", "cpu")
    assert file.read_text() == "eps: 1  # a comment of the user's\n"


def test_a_run_that_was_killed_left_the_user_s_file_and_what_the_user_changed_meanwhile_stays_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = rerun.chosen(config.load(), [])[0]
    own = config.load(folder / "params.yaml").model_copy(update={"local_data": "/copies", "device": "cpu"})
    part, file, kept = ROOT / folder, tmp_path / "params.yaml", tmp_path / "params.yaml.kept"
    monkeypatch.setattr(set_aside, "FILE", file)
    monkeypatch.setattr(set_aside, "KEPT", kept)
    file.write_text("eps: 1\n")

    class Killed(BaseException):
        pass

    def killed(words: list[str], check: bool) -> SimpleNamespace:
        assert kept.read_text() == "eps: 1\n"
        file.unlink()  # so that not even the clean-up gets to its end
        raise Killed

    monkeypatch.setattr(subprocess, "run", killed)
    with pytest.raises(FileNotFoundError):
        rerun.run(part, own)
    set_aside.restore()
    assert file.read_text() == "eps: 1\n" and not kept.exists()
    set_aside.restore()
    assert file.read_text() == "eps: 1\n", "there is nothing left to put back"

    kept.write_text("eps: 1\n")
    with pytest.raises(UserError, match="has been changed since"):
        set_aside.restore()
    assert (file.read_text(), kept.read_text()) == ("eps: 1\n", "eps: 1\n"), "nothing is lost"
    file.write_text(f"{set_aside.MARK}eps: 3\n")
    with FileLock(f"{kept}.lock"), pytest.raises(UserError, match="another `make programme` runs"):
        set_aside.restore()
    set_aside.restore()
    assert file.read_text() == "eps: 1\n" and not kept.exists()

    def changed(words: list[str], check: bool) -> SimpleNamespace:
        file.write_text("eps: 2\n")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", changed)
    with pytest.raises(UserError, match="was changed while small-"):
        rerun.run(part, own)
    assert (file.read_text(), kept.read_text()) == ("eps: 2\n", "eps: 1\n"), "nothing is lost"


def test_the_estimate_is_a_line_a_part_and_their_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    params = config.load(ROOT / "data/evidence/small-5ead8f89/params.yaml")
    monkeypatch.setattr(rerun.devices, "at_hand", lambda own: SimpleNamespace(told="on a made-up device"))
    monkeypatch.setattr(rerun, "Costs", lambda *told: SimpleNamespace(parts=lambda: [PART, PART]))
    asked = {Path("small-1"): params, Path("small-2"): params}
    found = [*rerun.estimated(asked)]
    lines, costs = [line for line, _ in found], [cost for _, cost in found if cost]
    assert lines[0] == "profile small, on a made-up device" and len(lines) == 5
    assert lines[2].split()[:7] == ["small-1", "16", "6", "6", "min", "2", "min"] and "ut on ucsd" in lines[2]
    assert lines[4].split()[:2] == ["in", "all"] and lines[4].split()[2:4] == ["32", "12"]
    assert rerun.left(costs) == "16 min" and rerun.left(costs[1:]) == "8 min"
    assert asdict(costs[0])["name"] == "small-1"


def test_what_becomes_of_a_part_is_told_beside_what_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ROOT / "data/evidence/small-5ead8f89"
    card = pd.read_csv(folder / "claims.csv")
    card.loc[card["claim"] == "video_cost", ["estimate", "verdict"]] = [0.5, "cannot tell"]
    monkeypatch.setattr(rerun.dvc.api, "read", lambda path, rev: card.to_csv(index=False))
    told = {line.split()[0]: line for line in rerun.compared(folder)}
    assert told["video_ood"].count("-1.25 % reversed") == 2
    assert (
        "published 16.3 % not reproduced" in told["video_cost"] and "here 50 % cannot tell" in told["video_cost"]
    )
    assert "text_ood" not in told, "it has no number of texts"


def test_what_is_written_has_every_parameter_that_dvc_asks_for() -> None:
    """DVC knows no defaults: a part that was published before a key was there would end at the stage that has it,
    hours after it began."""
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    asked = {
        (key, task) for name, stage in stages.items() for key in stage.get("params", ()) for task in _task(name)
    }
    assert ("judged", "") in asked and ("profiles.${profile}.data.${item.dataset}", "video") in asked
    older = 0
    for folder in rerun.chosen(config.load(), []):
        params = config.load(folder / "params.yaml")
        values = yaml.safe_load(rerun.whole(params))
        for key, task in asked:
            sets = params.section(task).datasets if "${item.dataset}" in key else [""]
            for dataset in sets:
                wanted = key.replace("${profile}", params.profile).replace("${item.dataset}", dataset)
                assert _has(values, wanted), (folder, wanted)
        older += not _has(yaml.safe_load((folder / "params.yaml").read_text()), "judged")
        assert config.Params(**values).model_dump() == params.model_dump()
    assert older, "or nothing was shown"


def _task(stage: str) -> list[str]:
    found = [task for task in ("video", "text", "lm") if stage.endswith(f"_{task}")]
    return found or [""]


def _has(values: dict, key: str) -> bool:
    for part in key.split("."):
        if part not in values:
            return False
        values = values[part]
    return True
