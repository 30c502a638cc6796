"""What the page is made from: results, parameters and summaries as stage collect writes them, and read back."""

import json
from pathlib import Path

import pandas as pd
import pytest

from descent import config, kept
from descent.analysis import grounds, results, summary
from descent.analysis import scorecard as scorecard_tables
from descent.errors import UserError
from stages import collect, plots, scorecard
from tests.fakes.looks import keep_nothing
from tests.fakes.results import fake_params, fake_results
from tests.fakes.scores import write_scores
from tests.report.conftest import ROOT

pytestmark = pytest.mark.slow  # the page is made first


def test_what_stage_collect_writes(project: Path) -> None:
    cells = pd.read_csv(project / "data/summary.csv")
    assert {"mean_rmse", "worst_violation", "descending", "area", "varied"} <= set(cells.columns)
    assert len(cells) == len(pd.read_parquet(project / "data/results.parquet")[summary.CELL].drop_duplicates())
    written = (project / "data/arms.json").read_text()
    metrics = json.loads(written)
    assert "constrained" in metrics["video"]["rmse_in_distribution"] and "constrained" in metrics["text"]["area"]
    assert written.count(":") <= 35 + 30, "few numbers, under tasks and measures"
    assert written == json.dumps(json.loads(written), indent=1, sort_keys=True) + "\n"


def test_the_parameters_of_the_results_are_read_back_with_what_components_said(
    params, project, monkeypatch
) -> None:
    monkeypatch.chdir(project)
    found = config.load(kept.OF_RESULTS)
    assert found.components == params.components and found.arms == params.arms and found.study == params.study
    assert list(found.profiles) == ["demo"] and found.budget == params.budget


def test_results_of_two_profiles_or_of_another_are_refused(project: Path, tmp_path: Path) -> None:
    table = pd.read_parquet(project / "data/results.parquet")
    mixed = pd.concat([table, table.head(1).assign(profile="small")])
    results.write(mixed, tmp_path / "mixed.parquet")
    with pytest.raises(
        UserError, match=r"mixed.parquet is of demo, small, its parameters of demo: run `dvc repro`"
    ):
        results.read(tmp_path / "mixed.parquet", "demo")
    with pytest.raises(UserError, match="is of demo, small, not of demo"):
        results.collect([tmp_path / "mixed.parquet"], "demo")
    with pytest.raises(UserError, match="is of demo, its parameters of paper"):
        results.read(project / "data/results.parquet", "paper")
    with pytest.raises(UserError, match="missing"):
        results.read(tmp_path / "none.parquet", "demo")


def test_a_part_that_is_left_out_leaves_the_rest_whole(project: Path, tmp_path: Path, monkeypatch) -> None:
    """collect, scorecard, plots on video alone: a study that is not in use has a file without rows."""
    few = fake_params({"text.datasets": [], "lm.models": [], "studies": ["alpha", "infeasible"]})
    made_up = fake_results(few)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "paper").symlink_to(ROOT / "data" / "paper")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("descent.config.load", lambda *_: few)
    write_scores(made_up, few)
    assert len(pd.read_parquet("data/scores/study/alpha.parquet")) == 0
    with pytest.raises(UserError, match="avenue-looks is missing: run `dvc repro` to evaluate it"):
        collect.main()
    keep_nothing(few)
    collect.main()
    scorecard.main()
    plots.main()
    assert list(json.loads(Path("data/arms.json").read_text())) == ["video"]
    assert Path("data/plots/accuracy_vs_gamma.csv").read_text().count("\n") == 1
    assert Path("data/plots/rmse_vs_gamma.csv").read_text().count("\n") > 100
    card = pd.read_csv("data/scorecard.csv").set_index("claim")
    assert card.loc["text_wins", ["words", "why"]].tolist() == 2 * ["nothing to compare"]
    assert card.loc["video_wins", "why"] == "synthetic data"
    assert len(scorecard_tables.judged(*grounds.load(Path("data")))) == len(card)
