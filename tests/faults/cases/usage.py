"""Stages and commands in a wrong order, with wrong words, and after somebody damaged what lies between them."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pandas as pd

from descent.io.folders import write_text
from stages import (
    check_store,
    collect,
    complete,
    denoise,
    download,
    evaluate,
    evaluate_studies,
    figures,
    plots,
    preprocess,
    report,
    scorecard,
    train,
    train_studies,
)
from tests.fakes.core import make_project, write_params
from tests.faults.case import Case
from tests.faults.cases.store import PARAMS, cut

PREPARED = Path("data/prepared/ucsd")
META, FRAMES = PREPARED / "meta.json", PREPARED / "training.npy"
RESULTS, USED = Path("data/results.parquet"), Path("data/params.json")
STUDY = {"study.infeasible": {"model": "ut", "layers": 2}}
CLIP = Path("clip.png")


def within(*acts: Callable[[], object]) -> Callable[[], object]:
    """These, one after another, in a tiny project whose video data are prepared."""

    def act() -> None:
        os.environ.pop("DVC_ROOT", None)
        os.chdir(make_project(Path("project")))
        write_params(Path(), PARAMS | {"text.datasets": [], "lm.datasets": [], "studies": ["infeasible"]} | STUDY)
        for one in acts:
            one()

    return act


def trained() -> None:
    train.main("video", "ucsd")


def written(path: Path, content: str | bytes) -> Callable[[], object]:
    def make() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return make


def of_other_columns() -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    pd.DataFrame({"a": [1]}).to_parquet(RESULTS)


def picture(side: int = 16) -> None:
    assert cv2.imwrite(str(CLIP), np.full((side, side), 100, np.uint8))


def changed(change: Callable[[np.ndarray], np.ndarray]) -> None:
    np.save(FRAMES, change(np.load(FRAMES)))


AGAIN = "run `dvc repro`|missing|dvc repro"
ORDER: list[tuple[str, Callable[[], object], str]] = [
    ("training a task that is none", within(lambda: train.main("audio", "ucsd")), "unknown task 'audio'"),
    ("training a data set that is none", within(lambda: train.main("video", "nothing")), "nothing"),
    ("training a model that is none", within(lambda: train.main("video", "ucsd", "nothing")), "nothing"),
    ("training a study that is none", within(lambda: train_studies.main("nothing")), "nothing"),
    ("evaluating a study that is none", within(lambda: evaluate_studies.main("nothing")), "nothing"),
    ("downloading a data set that is none", within(lambda: download.main("video", "nothing")), "nothing"),
    (
        "downloading for a task that is none",
        within(lambda: download.main("audio", "ucsd")),
        "unknown task 'audio'",
    ),
    ("preprocessing for a task that is none", within(lambda: preprocess.main("audio", "ucsd")), "unknown task"),
    ("evaluating a task that is none", within(lambda: evaluate.main("audio", "ucsd")), "audio"),
    ("preprocessing what was not downloaded", within(lambda: preprocess.main("video", "ucsd")), AGAIN),
    ("training what was not prepared", within(META.unlink, trained), AGAIN),
    ("evaluating what was not trained", within(lambda: evaluate.main("video", "ucsd")), AGAIN),
    ("evaluating a study that was not trained", within(lambda: evaluate_studies.main("infeasible")), AGAIN),
    ("collecting what was not evaluated", within(collect.main), AGAIN),
    ("judging what was not collected", within(scorecard.main), AGAIN),
    ("drawing what was not collected", within(lambda: figures.main("video")), AGAIN),
    ("the page of what was not collected", within(report.main), AGAIN),
    ("curves of what was not collected", within(plots.main), AGAIN),
    ("a cell to denoise with where none was trained", within(lambda: denoise.main("x.avi")), "is trained"),
    ("a cell to complete with where none was trained", within(lambda: complete.main("x")), AGAIN + "|no cell|lm"),
]
BETWEEN: list[tuple[str, Callable[[], object], str]] = [
    ("prepared data without their frames", within(FRAMES.unlink, trained), AGAIN),
    ("prepared data cut in half", within(lambda: cut(FRAMES), trained), AGAIN),
    ("prepared data of garbage", within(written(FRAMES, b"garbage" * 99), trained), AGAIN),
    ("prepared data of fewer frames", within(partial(changed, lambda frames: frames[:5]), trained), AGAIN),
    ("prepared data of no bytes", within(written(FRAMES, b""), trained), AGAIN),
    ("prepared data of fractions", within(partial(changed, lambda frames: frames / 255), trained), AGAIN),
    ("prepared data of a frame size of their own", within(partial(changed, lambda f: f[:, :6]), trained), AGAIN),
    ("prepared data with meta.json a list", within(written(META, "[]"), trained), AGAIN),
    ("prepared data with meta.json of garbage", within(written(META, "{"), trained), AGAIN),
    ("prepared data with meta.json of nothing", within(written(META, "{}"), trained), AGAIN),
    ("results of garbage", within(written(RESULTS, b"garbage" * 9), written(USED, "{}"), plots.main), AGAIN),
    ("results that are empty", within(written(RESULTS, b""), written(USED, "{}"), plots.main), AGAIN),
    ("results of other columns", within(of_other_columns, written(USED, "{}"), plots.main), AGAIN),
    ("parameters of the results cut", within(written(USED, '{"profile": '), plots.main), r"params\.json"),
    (
        "scores that are garbage",
        within(written(Path("data/scores/video/ucsd.parquet"), b"x"), collect.main),
        AGAIN,
    ),
    ("scores that are empty", within(written(Path("data/scores/video/ucsd.parquet"), b""), collect.main), AGAIN),
    ("a file for data/runs", within(written(Path("data/runs"), "x"), trained), "data/runs"),
    ("a file for the item's output", within(written(Path("data/runs/video/ucsd"), "x"), trained), "data/runs"),
    ("a file for the folder of locks", within(written(Path(".cells/locks"), "x"), trained), "locks"),
]
TYPED: list[tuple[str, Callable[[], object], str]] = [
    ("no clip to denoise", within(denoise.main), "name a video or a folder"),
    ("a clip that is not there", within(trained, lambda: denoise.main("nowhere.avi")), "nowhere"),
    (
        "a clip of garbage",
        within(trained, written(Path("c.avi"), b"x" * 99), lambda: denoise.main("c.avi")),
        "c.avi",
    ),
    (
        "a pipe in place of a frame",
        within(trained, lambda: (Path("clips").mkdir(), os.mkfifo("clips/1.png")), lambda: denoise.main("clips")),
        "is no video",
    ),
    (
        "a device in place of a frame",
        within(
            trained,
            lambda: (Path("clips").mkdir(), Path("clips/1.png").symlink_to("/dev/zero")),
            lambda: denoise.main("clips"),
        ),
        "is no video",
    ),
    ("noise of a word", within(trained, picture, lambda: denoise.main(str(CLIP), "", "much")), "NOISE=much"),
    ("noise of NaN", within(trained, picture, lambda: denoise.main(str(CLIP), "", "nan")), "NOISE|noise|level"),
    ("noise below zero", within(trained, picture, lambda: denoise.main(str(CLIP), "", "-1")), "NOISE|noise|level"),
    ("a cell that is not there", within(trained, picture, lambda: denoise.main(str(CLIP), "data/runs/x/y")), "x"),
    ("a cell outside the project", within(trained, picture, lambda: denoise.main(str(CLIP), "/etc")), "etc"),
    ("a prompt of nothing", within(lambda: complete.main("")), "PROMPT|lm|cell"),
    ("a figure of a part that is none", within(lambda: figures.main("nothing")), "nothing|missing"),
]
HANDLED: list[tuple[str, Callable[[], object]]] = [
    ("a store to check where there is none", within(check_store.main)),
    ("a stage that writes where nothing is", within(lambda: write_text(Path("data/new/it.csv"), "x"))),
]
CASES = [
    *(Case("order of stages", name, act, told, alone=True) for name, act, told in ORDER),
    *(Case("between stages", name, act, told, alone=True) for name, act, told in BETWEEN),
    *(Case("command", name, act, told, alone=True) for name, act, told in TYPED),
    *(Case("command", name, act, alone=True) for name, act in HANDLED),
]
