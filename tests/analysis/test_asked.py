"""What params.yaml asks for: which cells must be there, and what is left out."""

from pathlib import Path

import pandas as pd
import pytest

from descent.analysis import asked
from descent.analysis.select import select
from descent.config import Params
from descent.errors import UserError
from tests.fakes.results import fake_params

UT = {"experiment": "video", "dataset": "ucsd", "model": "ut", "arm": "constrained", "layers": 3, "eps": 0.13}


def test_what_is_asked_for_is_every_data_set_in_use_and_every_study(params: Params) -> None:
    files = asked.asked(params)
    tasks = {"video": params.video, "text": params.text, "lm": params.lm}
    matrix = {f"data/scores/{task}/{name}.parquet" for task, part in tasks.items() for name in part.datasets}
    studies = {f"data/scores/study/{name}.parquet" for name in params.studies}
    transfer = Path("data/scores/transfer.parquet")
    assert {path.as_posix() for path in files} == matrix | studies | {transfer.as_posix()}
    assert {cell[1] for cell in files[transfer]} == {*params.video.datasets, "mnli"}, "IMDb is of one kind"
    assert {cell[3] for cell in files[transfer]} == set(params.arms), "no map that learns nothing"
    ucsd = files[Path("data/scores/video/ucsd.parquet")]
    maps = 5 + 5 + 4  # of each model; single frames have no mean
    assert len(ucsd) == 3 * (2 + 2 + 1) * 3 + maps == len(set(ucsd))  # arms x depths x levels
    assert ("video", "ucsd", "vit", "nl_means", 0, 0.0, 0, "") in ucsd


def test_what_is_asked_for_follows_the_lists() -> None:
    lists = {"video.datasets": ["ucsd"], "video.models": ["ut"], "arms": ["constrained", "unconstrained"]}
    few = fake_params(lists | {"text.models": ["roberta"], "lm.datasets": [], "studies": ["alpha", "infeasible"]})
    files = {path.relative_to("data/scores").as_posix(): cells for path, cells in asked.asked(few).items()}
    wanted = ["text/imdb.parquet", "text/mnli.parquet", "transfer.parquet", "video/ucsd.parquet"]
    assert {cell[1] for cell in files["transfer.parquet"]} == {"mnli"}, "a single data set of video has no other"
    assert sorted(files) == ["study/alpha.parquet", "study/infeasible.parquet", *wanted]
    assert {cell[2:4] for cell in files["video/ucsd.parquet"] if cell[4]} == {("ut", arm) for arm in few.arms}
    assert files["study/infeasible.parquet"] == [] and len(files["study/alpha.parquet"]) == 12
    assert "video/ucsd.parquet" not in {
        path.relative_to("data/scores").as_posix() for path in asked.asked(fake_params({"video.models": []}))
    }


OTHERS = "solver, controls, controls_ut, controls_dust_overcomplete, controls_distilbert"
OTHERS += ", controls_ut_text, controls_rates_distilbert, controls_rates_ut_text"
OTHERS += ", plateau_ut, plateau_dust_per_layer, plateau_dust_shared"


def test_what_is_left_out_is_said(params: Params) -> None:
    assert asked.left_out(params) == [f"of the studies {OTHERS} (not in studies)"]
    lists = {"video.datasets": [], "video.models": [], "text.models": ["ut_text", "roberta"], "studies": ["alpha"]}
    assert asked.left_out(fake_params(lists | {"text.datasets": ["mnli"]})) == [
        "video (video.datasets is empty, video.models is empty)",
        "text of imdb",
        "text of distilbert",
        "the study alpha (imdb or roberta is not in use)",
        f"of the studies dual_lr, resilience, {OTHERS}, infeasible (not in studies)",
    ]


def test_check_asked_accepts_what_was_asked_for_and_nothing_else(params: Params, results: pd.DataFrame) -> None:
    asked.check_asked(results, params)
    stray = results.tail(1).assign(dataset="kitchen")
    with pytest.raises(UserError, match=r"1 cells are not asked for.*kitchen"):
        asked.check_asked(pd.concat([results, stray]), params)
    with pytest.raises(UserError, match=r"1 cells are missing.*ucsd ut constrained 3 0.13"):
        asked.check_asked(results.drop(select(results, **UT).index), params)
