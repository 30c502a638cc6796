"""What params.yaml leaves out is left out of figures and tables, which say so, and nothing else fails."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from descent import components
from descent.analysis import results as table
from descent.analysis.select import TRANSFER
from descent.analysis.wording import UNKNOWN
from descent.cells import REFERENCES, headline
from descent.config import Params
from descent.figures.parts import catalogue, drawing, style, tables
from descent.kept import OF_RESULTS, of_results
from stages import figures as stage
from tests.fakes.results import fake_params, fake_results

# These show single inputs, of which made-up results know nothing, and have tests of their own.
LOOKS = ("fig_attention", "fig_confidence", "fig_dictionary", "fig_frames", "fig_lens")
APART = ("fig16_completions", *LOOKS)
NAMES = [name for name in catalogue.names() if name not in APART]
SHIFTS = {"video.evaluation.shifts": ["gaussian"]}
FEW = {"profiles.demo.video.eps": [], "profiles.demo.text.eps": [], "profiles.demo.text.seeds": [0]}
LISTS = {
    "no video": {"video.datasets": [], "studies": ["alpha", "dual_lr", "resilience"]},
    "no text model": {"text.models": []},
    "no language model, no study": {"lm.datasets": [], "studies": []},
    "no constraints, no shift": {
        **SHIFTS,
        "arms": ["deep_supervision", "unconstrained"],
        "comparison": {"ours": "deep_supervision", "baseline": "unconstrained"},
        "method": "unconstrained",
    },
    "no genre": {"text.datasets": ["imdb"]},
    "one model, one data set": {
        "video.datasets": ["avenue"],
        "video.models": ["vit"],
        "text.datasets": ["mnli"],
        "text.models": ["ut_text"],
    },
}
GONE = {
    "no video": {
        "table_layers",
        "fig02_video_robustness",
        "fig_shifts",
        "table_shifts",
        "fig11_infeasible",
        "table3_video_rmse",
    },
    "no text model": {
        "fig_kinds",
        "fig04_text_robustness",
        "fig05_step_size",
        "fig12_layer_ratios",
        "table4_text_auc",
    },
    "no language model, no study": {
        "fig06_causal_lm",
        "table5_lm_hyperparameters",
        "fig05_step_size",
        "fig11_infeasible",
        "fig15_dual_lr_ablation",
    },
    "no constraints, no shift": {"fig_theory", "table_theory", "fig_shifts", "table_shifts"},
    "one model, one data set": {
        "fig05_step_size",
        "fig11_infeasible",
        "fig14_alpha_ablation",
        "fig_transfer",
    },
    "no genre": {"fig_kinds"},
}


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


@pytest.mark.slow
@pytest.mark.parametrize("case", LISTS)
def test_everything_is_made_of_what_is_left_in(case: str) -> None:
    params = fake_params(FEW | LISTS[case])
    style.use(params)
    results, gone = of_arms(params), set()
    for name in NAMES:
        entry = catalogue.module(name)
        if catalogue.left_out(entry, params):
            gone.add(name)
        elif catalogue.kind(entry) == "figure":
            figure = entry.render(results, params)
            assert figure.axes or any(
                said in words(figure) for said in ("no setting in this grid", "without epochs")
            )
        else:
            numbers, shown, notes = tables.made(entry, results, params)
            assert len(numbers) and len(shown) and tables.to_markdown(shown, notes)
        catalogue.sidecar(entry, params)
    assert GONE[case] <= gone and len(gone) < len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["video", "text", "all"])
def test_everything_is_made_or_left_out_where_every_model_of_a_task_is_lost(lost: str) -> None:
    """Such a cell has no row of test data, and no study spares it."""
    params = fake_params(FEW)
    style.use(params)
    results = fake_results(params)
    tasks = components.TASKS if lost == "all" else [lost]
    models = [name for task in tasks for name in params.section(task).models]
    trained = results["model"].isin(models) & ~results["arm"].isin(REFERENCES)
    results.loc[trained & (results["metric"] == "diverged"), "value"] = 1.0
    results.loc[trained & results["metric"].isin(["feasible", "descending"]), "value"] = 0.0
    results = results[~(trained & (results["split"] == "test"))]
    gone = set()
    for name in NAMES:
        entry = catalogue.module(name)
        if catalogue.left_out(entry, params, results):
            gone.add(name)
        elif catalogue.kind(entry) == "figure":
            entry.render(results, params)
        else:
            _, shown, notes = tables.made(entry, results, params)
            assert tables.to_markdown(shown, notes)
    assert ({"fig_shifts", "fig_transfer", "table_shifts"} <= gone) == ("video" in tasks)
    assert ("fig_kinds" in gone) == ("text" in tasks)


def of_arms(params: Params) -> pd.DataFrame:
    """Made-up results of the arms in use, which are made up with those of constraints beside them."""
    rows = fake_results(params if params.enforcing else fake_params(FEW))
    return rows[rows["arm"].isin([*params.arms, *REFERENCES])]


def test_the_reason_is_told() -> None:
    def why(name: str, **changes: Any) -> str:
        return catalogue.left_out(catalogue.module(name), fake_params(changes))

    assert why("fig04_text_robustness") == ""
    without = "params.yaml has no data set or no model of text in use"
    assert why("fig04_text_robustness", **{"text.datasets": []}) == without
    assert why("fig05_step_size", studies=["dual_lr"]) == "the study alpha is not in use"
    gone = why("fig05_step_size", **{"text.models": ["ut_text"]})
    assert gone == "imdb or roberta, of the study alpha, is not in use"
    video = {"task": "video", "dataset": "ucsd", "model": "dust"}
    moved = why("fig05_step_size", **{f"study.alpha.{key}": value for key, value in video.items()})
    assert moved == "the study alpha is one of video, and what stands here one of text"


def test_the_stages_write_empty_sheets_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = fake_params({"text.models": []})
    monkeypatch.chdir(tmp_path)
    OF_RESULTS.parent.mkdir()
    OF_RESULTS.write_text(of_results(params))
    table.write(fake_results(params), Path("data/results.parquet"))
    said, save = [], style.save
    monkeypatch.setattr(style, "save", lambda figure, path: (said.append(words(figure)), save(figure, path)))
    for name in ("fig04_text_robustness", "table4_text_auc"):  # one is drawn in this process
        stage.main("text", name)
    for name, endings in (("fig04_text_robustness", ("pdf", "png")), ("table4_text_auc", ("tex", "md", "csv"))):
        assert all(Path(f"figures/text/{name}.{ending}").stat().st_size for ending in endings)
        assert json.loads(Path(f"data/shown/text/{name}.json").read_text())["synthetic"] is False
    assert json.loads(Path("data/shown/text/fig04_text_robustness.json").read_text())["shows"] is False
    assert said[0].startswith("left out: params.yaml has no data set")
    shown = json.loads(Path("data/shown/text/table4_text_auc.json").read_text())
    assert shown["rows"] == [[UNKNOWN]] and "Left out: params.yaml has no data set" in shown["notes"][0]


def test_kinds_of_text_are_left_out_where_the_texts_lack_the_field_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params, why = fake_params(FEW), "the test texts of MNLI have no genre"
    results, entry = fake_results(params), catalogue.module("fig_kinds")
    of_kinds = (results["experiment"] == "text") & (results["shift"] == TRANSFER)
    plain = results[~of_kinds]
    assert catalogue.left_out(entry, params, results) == "" and catalogue.left_out(entry, params, plain) == why
    monkeypatch.chdir(tmp_path)
    style.use(params)
    drawing.draw(entry, plain, params)
    told = json.loads(Path("data/shown/beyond/fig_kinds.json").read_text())
    assert told["left_out"] == why and told["shows"] is False and Path("figures/beyond/fig_kinds.png").exists()


@pytest.mark.slow
def test_the_stages_draw_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params, papers = fake_params(SHIFTS), Path("data/paper").resolve()
    monkeypatch.chdir(tmp_path)
    OF_RESULTS.parent.mkdir()
    Path("data/paper").symlink_to(papers)
    OF_RESULTS.write_text(of_results(params))
    table.write(fake_results(params), Path("data/results.parquet"))
    stage.main("video", "fig07_video_descent", "table3_video_rmse")
    told = json.loads(Path("data/shown/video/fig07_video_descent.json").read_text())
    assert told["synthetic"] is True and told["shows"] is True
    assert "deep supervision" not in Path("figures/video/table3_video_rmse.md").read_text().splitlines()[0]


def test_a_study_over_words_has_no_axis_and_is_left_out() -> None:
    varied = {"study.dual_lr.vary": "dual_optimizer", "profiles.demo.studies.dual_lr.values": ["adam", "sgd"]}
    entry = catalogue.module("fig15_dual_lr_ablation")
    assert catalogue.left_out(entry, fake_params(varied)) == "the study dual_lr varies no number: adam, sgd"
    assert catalogue.left_out(entry, fake_params()) == ""


def test_kinds_at_another_noise_than_the_one_shown_are_none_to_show(params: Params) -> None:
    """Where every cell at the headline noise is lost, cells without noise have kinds of their own."""
    results = fake_results(params)
    entry, eps = catalogue.module("fig_kinds"), headline(params, "text")
    kinds = (results["shift"] == TRANSFER) & (results["experiment"] == "text")
    assert set(results.loc[kinds, "eps"]) > {eps} and not catalogue.left_out(entry, params, results)
    assert catalogue.left_out(entry, params, results[~(kinds & (results["eps"] == eps))])


def test_what_is_left_out_or_shows_real_inputs_is_not_published() -> None:
    lens, frames = (catalogue.module(name) for name in ("fig_lens", "fig_frames"))
    assert catalogue.unpublished(lens, fake_params()) == catalogue.unpublished(frames, fake_params()) == ""
    without = "params.yaml has no data set or no model of lm in use"
    assert catalogue.unpublished(lens, fake_params({"lm.datasets": []})) == without
    real = fake_params({"profiles.demo.data.ucsd": {"path": "ucsd"}})
    assert catalogue.unpublished(frames, real) == "it shows real data"
    assert catalogue.unpublished(catalogue.module("fig02_video_robustness"), real) == ""
