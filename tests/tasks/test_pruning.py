"""The store keeps what some params.yaml asks for, and nothing else."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from descent.errors import UserError
from descent.io.folders import HERE, HOUR, PARTIAL, atomic_file, atomic_folder
from descent.runner import store
from descent.tasks.common import pruning
from descent.tasks.video.data import Prepared
from tests.fakes.core import enter_project, evaluate_cells, serially, small_params, train_cells, write_params

ITEM = ("video", "ucsd", "ut")
TINY = {
    "video.models": ["ut"],
    "studies": [],
    "profiles.demo.video": {"layers": [2], "eps": [0.1], "epochs": 2},
    "profiles.paper.video.tokens": 5,  # fewer than a patch here has pixels
    "text.datasets": [],
    "lm.datasets": [],
}


@pytest.fixture(autouse=True)
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    found = enter_project(tmp_path / "project", monkeypatch)
    serially(monkeypatch)
    return found


def names() -> set[str]:
    return {path.name for path in store.root().iterdir()} - {"locks", "scores", "stacks"}


def test_what_is_asked_for_stays_and_what_is_not_goes() -> None:
    asked = small_params(TINY | {"eps": 0.1})
    train_cells(asked, *ITEM)
    evaluate_cells(asked, "video", "ucsd")
    ours, scores = names(), len(list((store.root() / "scores").iterdir()))
    train_cells(small_params(TINY | {"eps": 0.3}), *ITEM)
    train_cells(small_params(TINY | {"eps": 0.1, "objectives.constrained.alpha": 0.4}), *ITEM)
    (store.root() / "b.damaged").mkdir()
    assert len(names()) == len(ours) + 4, "two of another level, one of another alpha, one damaged"
    assert pruning.prune(store.root(), [asked]) == (len(ours) + scores, 4) and names() == ours


def test_unfinished_stacks_are_forgotten_after_a_week() -> None:
    stacks = store.root() / "stacks"
    stacks.mkdir(parents=True)
    for name, age in (("old.json", 9), ("old.pt", 8), ("long.json", 9), ("long.pt", 1), ("new.json", 0)):
        (stacks / name).write_text("x")
        os.utime(stacks / name, (time.time() - age * 24 * 3600,) * 2)
    (stacks / "new.pt.damaged").write_text("x")
    assert pruning.prune(store.root(), [small_params(TINY)]) == (3, 3)
    assert {path.name for path in stacks.iterdir()} == {"long.json", "long.pt", "new.json"}


def aged(place: Path, seconds: float) -> None:
    os.utime(place, (time.time() - seconds,) * 2)


def test_what_a_running_stage_writes_stays_and_what_a_killed_one_left_goes() -> None:
    stacks, seen = store.root() / "stacks", store.root() / ".seen-1"
    stacks.mkdir(parents=True)
    elsewhere = [stacks / f".{name}.pt{PARTIAL}{'0' * 6}1" for name in "ab"]
    for place, age in ((elsewhere[0], 60), (elsewhere[1], 8 * 24 * HOUR), (seen, 60)):
        place.touch()
        aged(place, age)
    with atomic_folder(store.root() / "c") as cell, atomic_file(stacks / "c.json") as names:
        for name, age in ((".seen-2", 8 * 24 * HOUR), (f".a{PARTIAL}{HERE}1", 0), (f".b{PARTIAL}{'0' * 6}1", 0)):
            (store.root() / name).mkdir()
            aged(store.root() / name, age)
        assert pruning.prune(store.root(), [small_params(TINY)]) == (5, 3), "another host's has no lock that tells"
        assert cell.exists() and names.exists()
    left = {path.name for path in (*store.root().iterdir(), *stacks.iterdir())}
    assert left == {"stacks", elsewhere[0].name, ".seen-1", f".b{PARTIAL}{'0' * 6}1", "c", "c.json"}


def test_what_a_running_stage_removed_meanwhile_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [store.root() / name for name in ("stacks/a.json", f"stacks/.a.pt{PARTIAL}1", ".b", "c")]
    monkeypatch.setattr(pruning, "_entries", lambda root: gone)
    assert pruning.prune(store.root(), [small_params(TINY)]) == (0, 4)


@pytest.mark.parametrize("where", ["profiles.demo.studies.rates_ut", "study.rates_ut"])
def test_a_study_is_asked_of_those_profiles_that_have_values_for_it_or_takes_its_own(where: str) -> None:
    rates = {"task": "video", "dataset": "ucsd", "model": "ut", "layers": 2, "eps": 0.1, "overrides": {}}
    rates |= {"arm": "constrained", "beside": ["unconstrained"], "vary": "lr"}
    sections = {"study.rates_ut": rates, "profiles.demo.studies.rates_ut": {}}
    sections[where] = sections[where] | {"values": [0.001], "seeds": [0]}
    asked = small_params(TINY | sections | {"studies": ["rates_ut"]})
    item = train_cells(asked, "rates_ut")
    before = names()
    assert len(item.cells) == 2 and pruning.prune(store.root(), [asked]) == (2, 0) and names() == before
    assert pruning.prune(store.root(), [small_params(TINY | {"eps": 0.2})]) == (0, 2), "nobody else asks for them"


def test_a_profile_too_short_for_a_grid_or_a_study_asks_for_nothing_of_it_unless_it_is_in_use() -> None:
    """A study of a half of the epochs may leave one to another profile, the warm-up's."""
    half = {"task": "video", "dataset": "ucsd", "model": "ut", "layers": 2, "eps": 0.1, "overrides": {}}
    half |= {"arm": "constrained", "beside": ["unconstrained"], "vary": None, "times": 0.5}
    whole = small_params(
        TINY
        | {"eps": 0.1, "study.half_ut": half, "studies": ["half_ut"]}
        | {"profiles.demo.studies.half_ut": {"seeds": [0]}, "profiles.demo.video.epochs": 4}
    )
    for words in (ITEM, ["half_ut"]):
        train_cells(whole, *words)
    before, demo = names(), whole.profiles["demo"]
    for epochs in (2, 1):
        short = demo.model_copy(update={"video": demo.video.model_copy(update={"epochs": epochs})})
        asked = whole.model_copy(update={"profiles": {"short": short, "demo": demo}})
        assert pruning.prune(store.root(), [asked]) == (4, 0) and names() == before
        with pytest.raises(UserError, match="warmup_epochs 1 leaves none of the 1 epochs to the duals"):
            pruning.prune(store.root(), [asked.model_copy(update={"profile": "short"})])
    wrong = short.video.model_copy(update={"models": {"ut": short.video.models["ut"] | {"lr": "fast"}}})
    both = {"wrong": short.model_copy(update={"video": wrong}), "demo": demo}
    with pytest.raises(UserError, match="lr: Input should be a valid number"):
        pruning.prune(store.root(), [whole.model_copy(update={"profiles": both})])


def test_a_profile_that_lacks_a_model_in_use_asks_for_nothing() -> None:
    """It cannot be run; who leaves a model out of it meets no fault here."""
    whole = small_params(TINY | {"eps": 0.1})
    lacking = whole.profiles["demo"].model_dump()
    del lacking["video"]["models"]["ut"]
    asked = whole.model_copy(
        update={"profiles": {"lacking": type(whole.profiles["demo"])(**lacking)} | whole.profiles}
    )
    train_cells(asked, *ITEM)
    before = names()
    assert pruning.prune(store.root(), [asked]) == (2, 0) and names() == before


def test_a_study_that_runs_alone_is_asked_of_the_profiles_that_have_a_budget_for_its_model() -> None:
    study = {"study.alpha.alone": True, "study.alpha.model": "distilbert", "study.alpha.layers": 6}
    alone = {"studies": ["alpha"], "text.datasets": ["imdb"], "text.models": ["ut_text"]} | study
    whole = small_params(TINY | alone | {"eps": 0.1})
    lacking = whole.profiles["demo"].model_dump()
    del lacking["text"]["models"]["distilbert"]
    profiles = {"lacking": type(whole.profiles["demo"])(**lacking), "demo": whole.profiles["demo"]}
    asked = whole.model_copy(update={"profiles": profiles})
    train_cells(asked, *ITEM)
    before = names()
    assert pruning.prune(store.root(), [asked]) == (2, 0) and names() == before
    with pytest.raises(
        UserError, match=r"profiles\.lacking\.text\.models says nothing of distilbert, which alpha trains"
    ):
        pruning.prune(store.root(), [asked.model_copy(update={"profile": "lacking"})])


def test_a_profile_that_is_not_right_otherwise_keeps_the_store_whether_or_not_it_is_in_use() -> None:
    """Its cells are asked for as soon as the mistake is mended."""
    other = {"profile": "small", "video.frame": {"size": 16, "patch": 4}}
    wrong = small_params(TINY | other | {"profiles.demo.video": TINY["profiles.demo.video"] | {"tokens": 16}})
    told = r"profile demo is not right:\n.*profiles\.demo\.video\.tokens: a sequence of 16 patches"
    with pytest.raises(UserError, match=told):
        pruning.prune(store.root(), [wrong])
    Path("params.yaml").write_text(wrong.model_dump_json(exclude={"components"}))
    with pytest.raises(UserError, match=rf"params\.yaml of params\.yaml cannot be read.*\n{told}"):
        pruning.every_params()


def test_what_another_branch_asks_for_stays() -> None:
    one, other = small_params(TINY | {"eps": 0.1}), small_params(TINY | {"eps": 0.3})
    for params in (one, other):
        train_cells(params, *ITEM)
    before = names()
    pruning.prune(store.root(), [one, other])
    assert names() == before


def git(*words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


def test_the_parameters_of_all_branches_and_experiments_are_read() -> None:
    git("init", "-q", "-b", "one")
    for eps, name in ((0.1, "refs/heads/one"), (0.2, "refs/exps/12/34/one/bold-name"), (0.3, "")):
        write_params(Path(), TINY | {"eps": eps})
        if name:
            git("add", "params.yaml")
            git("commit", "-q", "-m", "x")
            git("update-ref", name, "HEAD")
    git("reset", "-q", "--soft", "HEAD~1")
    assert sorted(params.eps for params in pruning.every_params()) == [0.1, 0.2, 0.3]


def test_the_parameters_of_all_queued_experiments_are_read_and_not_of_the_newest_alone() -> None:
    """DVC's queue is a stash: its ref is the newest entry, and the ref's log holds the others."""
    git("init", "-q", "-b", "one")
    write_params(Path(), TINY | {"eps": 0.1})
    git("add", "params.yaml")
    git("commit", "-q", "-m", "x")
    for eps in (0.2, 0.25, 0.3):
        write_params(Path(), TINY | {"eps": eps})
        git("commit", "-q", "-a", "-m", "queued")
        git("update-ref", "--create-reflog", "-m", "queued", "refs/exps/celery/stash", "HEAD")
    git("reset", "-q", "--hard", "HEAD~3")
    assert sorted(params.eps for params in pruning.every_params()) == [0.1, 0.2, 0.25, 0.3]


def test_of_a_project_in_a_folder_of_a_repository_its_own_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own").mkdir()
    git("init", "-q", "-b", "one")
    git("commit", "-q", "--allow-empty", "-m", "a branch without parameters asks for nothing")
    git("branch", "none")
    for eps in (0.1, 0.2):
        write_params(Path("own"), TINY | {"eps": eps})
        write_params(Path(), TINY | {"eps": 0.4})
        git("add", ".")
        git("commit", "-q", "-m", "x")
        git("branch", f"branch-{eps}")
    monkeypatch.chdir("own")
    assert sorted(params.eps for params in pruning.every_params()) == [0.1, 0.2]


def test_a_branch_that_git_cannot_show_keeps_the_store() -> None:
    write_params(Path(), TINY)
    git("init", "-q", "-b", "one")
    git("add", "params.yaml")
    git("commit", "-q", "-m", "x")
    write_params(Path(), TINY | {"eps": 0.3})
    blob = subprocess.run(["git", "rev-parse", "HEAD:params.yaml"], capture_output=True, text=True).stdout.strip()
    (Path(".git/objects") / blob[:2] / blob[2:]).unlink()
    with pytest.raises(UserError, match=r"git cannot tell what branches .*kept whole"):
        pruning.every_params()


def test_a_git_that_cannot_answer_keeps_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    write_params(Path(), TINY)
    assert len(pruning.every_params()) == 1, "a folder without a repository has this file alone"
    git("init", "-q")
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    with pytest.raises(UserError, match=r"git cannot tell what branches .*not a git repository.*kept whole"):
        pruning.every_params()


def test_parameters_that_cannot_be_read_stop_it() -> None:
    write_params(Path(), {"gamma": 1})
    with pytest.raises(UserError, match=r"cannot be read by this code.*\n.*is not right:\n  gamma: unknown key"):
        pruning.every_params()
