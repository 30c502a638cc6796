"""The line before a long stage: what is left to train, nothing where nothing is, and never in the stage's way."""

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from descent.cells import grid
from descent.config import Params
from descent.costs import ahead, parts
from descent.costs.parts import Costs, Part
from descent.costs.steps import Step
from descent.costs.testable import UntestableError
from descent.errors import UserError
from descent.runner import announced
from descent.runner.items import Item
from tests.fakes.core import DATASET, enter_project, environment, small_params, write_params

REAL = {"profiles.demo.data": {"ucsd": {"path": "ucsd"}}}
WORDS = ("video", "ucsd", "dust", "ut")


def part(name: str, missing: int, training: float, slots: int = 2) -> Part:
    return Part(name, 8, missing, 100, training, 5.0, 2e6, 3e6, slots, grown=False)


def test_the_line_says_how_much_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"dust": part("dust", 3, 600.0), "ut": part("ut", 2, 1200.0)}
    monkeypatch.setattr(Costs, "of", lambda costs, task, dataset, *models: [left[name] for name in models])
    said = ahead.line(small_params({"device": "cpu"}), *WORDS)
    assert said.startswith("video-ucsd: 5 of 16 cells to train, about 30 min with ")
    assert said.endswith("2 MB of memory, 6 MB of disk")
    left["dust"] = left["ut"] = part("none", 0, 0.0)
    assert ahead.line(small_params({"device": "cpu"}), *WORDS) is None


def test_the_line_says_that_the_stacks_side_by_side_depend_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"dust": part("dust", 3, 600.0, slots=3), "ut": part("ut", 2, 60.0, slots=1)}
    monkeypatch.setattr(Costs, "of", lambda costs, task, dataset, *models: [left[name] for name in models])
    params = small_params({"device": "cpu"})
    assert " with 1 to 3 stacks side by side, by their model on this CPU" in ahead.line(params, *WORDS)
    left["ut"] = part("ut", 0, 0.0, slots=1)
    assert " with 3 stacks side by side on this CPU" in ahead.line(params, *WORDS), (
        "the other has nothing to train"
    )


def test_a_data_set_or_a_model_that_nobody_knows_is_told() -> None:
    for words, told in (
        (("ped3",), "data set: unknown name 'ped3'"),
        (("ucsd", "vti"), "model: unknown name 'vti'"),
    ):
        with pytest.raises(UserError, match=f"video {told}"):
            ahead.line(small_params({"device": "cpu"}), "video", *words)


def test_studies_are_asked_for_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Costs, "of", lambda costs, *names: [part(name, 1, 60.0) for name in names])
    said = ahead.line(small_params({"device": "cpu"}), "alpha", "solver")
    assert said.startswith("studies: 2 of 16 cells to train, about 2 min with ")


def asked(params: Params, *words: str, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []

    def run(command: list[str], **options: Any) -> None:
        commands.append(command[1:])
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", run)
    announced.announce(params, *words)
    return commands


def test_a_stage_asks_for_it_where_data_are_real(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(small_params(REAL), *WORDS, monkeypatch=monkeypatch) == [["-m", "stages.ahead", *WORDS]]
    ray = small_params(REAL | {"executor": "ray"})
    assert asked(ray, *WORDS, monkeypatch=monkeypatch) == [["-m", "stages.ahead", *WORDS]]
    assert asked(small_params(), *WORDS, monkeypatch=monkeypatch) == [], "the demo takes minutes"
    assert asked(small_params(REAL), monkeypatch=monkeypatch) == [], "no study, no question"


def test_of_a_cluster_it_says_what_is_left_without_a_step_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "timed", lambda *_: pytest.fail("a step was taken"))
    cells = sum(len(grid(small_params(), "video", DATASET, model)) for model in WORDS[2:])
    for device in ("auto", "cuda"):
        said = ahead.line(small_params({"executor": "ray", "device": device}), *WORDS)
        assert said == f"video-ucsd: {cells} of {cells} cells to train, on a cluster"


@pytest.mark.slow
def test_the_stage_itself_tells_what_is_left_and_then_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    enter_project(tmp_path, monkeypatch)
    changes = {"video.models": ["dust"], "video.datasets": [DATASET], "text.datasets": [], "lm.datasets": []}
    changes |= {"studies": [], "profiles.demo.data": {"ucsd": {"path": "ucsd"}}}
    write_params(tmp_path, changes)
    meta = Path("data/prepared") / DATASET / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"profile": "demo"}))
    words = ("video", DATASET, "dust")
    with monkeypatch.context() as env:
        for name, value in environment().items():
            env.setenv(name, value)
        announced.announce(small_params(REAL), *words)
        said = capfd.readouterr()
        assert said.out.startswith("video-ucsd: 12 of 12 cells to train, about "), said
        train = [sys.executable, "-m", "stages.train", *words]
        done = subprocess.run(train, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("video-ucsd: 12 of 12 cells to train"), "before anything else"
        announced.announce(small_params(REAL), *words)
    assert capfd.readouterr().out == "", "nothing is left"


@pytest.mark.parametrize(("code", "ends"), [(announced.UNTESTABLE, True), (1, False), (0, False)])
def test_what_could_not_be_tested_ends_the_stage_and_no_other_failure_does(
    code: int, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess:
        return subprocess.CompletedProcess(command, code, stderr=b"shifts.blur: 9 is too much \xff\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(UserError, match=r"nothing was trained.*9 is too much") if ends else nullcontext():
        announced.announce(small_params(REAL), *WORDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shifts.blur": {"levels": [99.0]}}, "shifts.blur is not right"),
        (
            {"video.evaluation.energies": [0.15, 40.0]},
            "nothing was trained, since it could not be tested: shifts.salt",
        ),
    ],
)
def test_a_level_out_of_a_shifts_range_is_told_before_anything_is_trained(
    changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    changes |= {"video.models": ["dust"], "video.datasets": [DATASET], "text.datasets": [], "lm.datasets": []}
    changes |= {"studies": [], "profiles.demo.data": {"ucsd": {"path": "ucsd"}}}
    changes |= {"profiles.demo.video.shifts": ["gaussian", "blur", "salt_and_pepper"]}
    write_params(tmp_path, changes)
    meta = Path("data/prepared") / DATASET / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"profile": "demo"}))
    words = [sys.executable, "-m", "stages.train", "video", DATASET, "dust"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 1 and done.stderr.startswith(f"\ntrain.py: {said}"), done.stderr
    assert "Traceback" not in done.stderr
    assert not list(Path("data/runs").rglob("cell.json"))


def test_what_could_not_be_tested_of_any_part_is_found_before_the_first_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    timed: list[object] = []
    monkeypatch.setattr(parts, "timed", lambda *stack: timed.append(stack) or Step(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    tested = parts.inputs

    def failing(params: Params, task: str, data: object, item: Item) -> int:
        if item.name.endswith(" ut"):
            raise UntestableError("shifts.blur: 9 is too much")
        return tested(params, task, data, item)

    monkeypatch.setattr(parts, "inputs", failing)
    for executor in ("local", "ray"):
        with pytest.raises(UntestableError, match="too much"):
            ahead.line(small_params({"executor": executor}), *WORDS)
    assert timed == []


def test_one_that_cannot_begin_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **options: Any) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "run", run)
    announced.announce(small_params(REAL), *WORDS)


def test_one_that_fails_says_nothing_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # where there is no such stage
    announced.announce(small_params(REAL), *WORDS)
    assert capfd.readouterr() == ("", "")
