"""Tables about video from a made-up results table: numbers, marks, the paper's beside them, LaTeX and Markdown."""

import pandas as pd
import pytest

from descent.analysis.select import select
from descent.analysis.wording import UNKNOWN
from descent.config import Params
from descent.figures.beyond import fig_shifts, table_layers, table_shifts
from descent.figures.parts import catalogue, remarks, tables
from descent.figures.video import table1_video_hyperparameters as table1
from descent.figures.video import table3_video_rmse as table3
from tests.fakes.results import change, fake_params, fake_results


def table3_setting(table: pd.DataFrame, model: str = "dust") -> pd.Series:
    return select(table, dataset="ucsd", model=model, layers=5, eps=0.13).squeeze()


def in_print(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """What a reader sees of DUST on UCSD at the headline level, by depth."""
    shown = table3.display(table, params)
    heads = shown[("", "", "model")] + shown[("", "", "eps")]
    return shown[heads == "DUST0.13"].set_index(("", "", "L"))["UCSD"]


def test_table3_numbers_by_hand(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13}
    for step, gamma in enumerate(params.video.evaluation.gammas):
        change(results, 10.0 + step, **cell, arm="constrained", metric="rmse", gamma=gamma)
    table = table3.build(results, params)
    found = table3_setting(table)
    assert found["constrained"] == pytest.approx(16.0)  # the mean of 10 ... 22; the training level is no part
    assert (found["paper_constrained"], found["paper_unconstrained"]) == (13.240, 13.257)
    levels, depths = {*params.budget.video.eps, params.eps}, params.budget.video.layers
    each = 2 * len(depths) + 1  # ViT has one depth
    assert len(table) == len(params.video.datasets) * each * len(levels)


def test_table3_bold_daggers_dashes_and_wins(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13}
    change(results, 0.0, **cell, arm="constrained", metric="feasible")
    change(results, 1.0, **cell, arm="unconstrained", metric="rmse")
    lost = select(results, **(cell | {"layers": 3}), arm="unconstrained").index
    table = table3.build(results.drop(lost), params)
    rows = in_print(table, params)
    (marked, best), (alone, lost) = (rows.loc[layers, "ours"] for layers in ("5", "3"))
    assert marked.endswith(tables.DAGGER) and "**" not in marked and best == "**1.00**"
    assert lost == UNKNOWN and "**" not in alone
    assert rows.loc["5", "paper"].tolist() == ["**13.2**", "13.3"]
    notes = table3.notes(table, params)
    assert notes[0] == "The constrained arm is better in 42 of 44 settings."  # but what changed and a ViT's
    assert "orientation only" in notes[-1]


def test_numbers_that_are_printed_alike_are_a_tie(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13, "metric": "rmse"}
    for theirs, bold in ((10.004, False), (10.006, True)):
        change(results, 10.0, **cell, arm="constrained")
        change(results, theirs, **cell, arm="unconstrained")
        ours = in_print(table3.build(results, params), params).loc["5", "ours"]
        assert ours.tolist() == (["**10.00**", "10.01"] if bold else ["10.00", "10.00"])


@pytest.mark.slow
def test_table3_says_of_all_seeds_whether_the_constraints_acted_and_held_on_test_data(params: Params) -> None:
    several = fake_params({"profiles.demo.video.seeds": [0, 1]})
    results, cell = fake_results(several), {"dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13}
    ours = cell | {"experiment": "video", "arm": "constrained"}
    change(results, 0.0, **ours, seed=0, metric="feasible", split="test")
    last = select(results, **ours, metric="epoch").sort_values("seed")
    acted = {"active_epochs": [0.5, 1.0], "active_reported": [0.0, 1.0]}
    rows = [last.assign(metric=metric, value=values) for metric, values in acted.items()]
    shown = in_print(table3.build(pd.concat([results, *rows]), several), several)
    assert shown.loc["5", "constraints"].tolist() == ["75% / 50%", "100% / 50%"]
    unknown = in_print(table3.build(results, several), several)
    assert unknown.loc["5", "constraints"].tolist() == [f"{UNKNOWN} / {UNKNOWN}", "100% / 50%"]


@pytest.mark.slow
def test_table3_counts_the_papers_wins_over_the_whole_grid(params: Params) -> None:
    paper = fake_params({"profile": "paper"})
    notes = table3.notes(table3.build(fake_results(paper), paper), paper)
    assert notes[1] == "In the same settings of the paper's table it is in 74 of 105 settings."
    assert len(notes) == 4 and "the images of hub: google/vit-base-patch16-224" in notes[3]


def test_table1_stands_beside_what_is_known_of_the_papers(results, params: Params) -> None:
    table = table1.build(results, params).set_index("parameter")
    assert table.loc["R0", ["ut ours", "ut paper", "dust ours", "dust paper"]].tolist() == [5.5, 5.5, 6.5, 6.5]
    assert table.loc["1 - alpha", ["ut paper", "dust paper"]].tolist() == [0.78, 0.75]
    assert table.loc["lr", ["ut paper", "dust paper"]].isna().all()
    shown = table1.display(table.reset_index(), params)
    assert shown[("UT", "paper")].tolist().count(UNKNOWN) == len(shown) - 2
    assert shown[("DUST", "ours")].iloc[0] == "6.5"
    assert table.loc[["R0", "1 - alpha", "L"], "vit ours"].tolist() == [0.44, 0.71, "4"]
    assert table.loc[["R0", "1 - alpha"], "vit paper"].tolist() == [0.44, 0.71]
    assert (
        table.loc["weights", "vit ours"] == "random, width 48" and table.loc[["T", "N"], "vit ours"].isna().all()
    )


def test_what_stands_for_a_patch_is_told_where_it_is_not_the_patch(params: Params) -> None:
    (direct,) = remarks.frames(params)
    assert "resized to 32 x 32" in direct and "unfolding" not in direct
    (other,) = remarks.frames(fake_params({"profiles.demo.video.models.vit.weights.random.width": 24}))
    assert "through a fixed orthonormal unfolding, its width being 24 and not 48." in other
    assert remarks.frames(fake_params({"video.models": ["ut"]})) == []


def test_beside_shifts_energies_are_told_to_be_equal_before_resizing(results, params: Params) -> None:
    told = "Energies of noise are equal before resizing, which noise that neighbouring pixels share survives"
    assert told in catalogue.sidecar(fig_shifts, params)["caption"]
    table = table_shifts.build(results, params)
    assert any(told in note for note in table_shifts.notes(table, params))
    of_patches = fake_params({"video.models": ["ut", "dust"]})
    assert told not in catalogue.sidecar(fig_shifts, of_patches)["caption"]
    assert not any(told in note for note in table_shifts.notes(table, of_patches))


def test_arms_of_other_capacity_are_told(params: Params) -> None:
    (note,) = remarks.capacity(params, params.video.models)
    assert "DUST differ in dictionaries (constrained: per_layer, unconstrained: shared, deep supervision" in note
    assert remarks.capacity(fake_params({"models.dust.arms": {}}), params.video.models) == []


def test_latex_and_markdown_say_the_same() -> None:
    columns = pd.MultiIndex.from_tuples([("", "model_a"), ("UCSD", "ours"), ("UCSD", "paper")])
    table = pd.DataFrame([["UT", "**1.50**", "2.00†"], ["DUST", UNKNOWN, "3 %"]], columns=columns)
    latex = tables.to_latex(table, ["a note"])
    assert r" & \multicolumn{2}{c}{UCSD} \\" in latex and "% a note" in latex
    assert r"UT & \textbf{1.50} & 2.00$^{\dagger}$ \\" in latex and r"DUST & -- & 3 \% \\" in latex
    assert r"model\_a" in latex
    lines = tables.to_markdown(table, ["a note"]).splitlines()
    assert lines[0] == "| model_a | UCSD ours | UCSD paper |" and lines[2] == "| UT | **1.50** | 2.00† |"
    assert lines[-1] == "a note" or lines[-2] == "a note"


def test_every_layer_of_the_deepest_model_has_its_measures(results, params: Params) -> None:
    cell = {
        "experiment": "video",
        "dataset": "ucsd",
        "model": "dust",
        "layers": 5,
        "eps": 0.13,
        "arm": "constrained",
    }
    change(results, 7.5, **cell, metric="rmse_layer", layer=3, seed=0)
    change(results, 31.25, **cell, metric="psnr_layer", layer=3, seed=0)
    gone = select(results, **cell, metric="rmse_layer", layer=2).index
    table = table_layers.build(results.drop(gone), params)
    own = select(table, model="dust", arm="constrained").set_index("layer")
    assert own.index.tolist() == [0, 1, 2, 3, 4, 5] and set(table["dataset"]) == {"ucsd"}
    assert own.loc[3, ["rmse_layer", "psnr_layer"]].tolist() == [7.5, 31.25]
    assert select(table, model="vit")["layers"].eq(4).all() and list(table["arm"].unique()) == params.arms
    shown = table_layers.display(table, params)
    line = shown[(shown[("", "model")] == "DUST") & (shown[("", "layer")] == "2")].iloc[0]
    assert line["RMSE ↓"]["constrained"] == UNKNOWN and line["RMSE ↓"]["unconstrained"] != UNKNOWN
    assert (line["SSIM ↑"] == UNKNOWN).all(), "these results hold none"
    assert table_layers.notes(table, params)[0].endswith("DUST L = 5, ViT L = 4; seeds: 1.")


def test_layers_that_one_map_is_run_on_for_stand_in_brackets(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "ut", "layers": 5, "eps": 0.13}
    last = select(results, **cell, arm="constrained", metric="rmse_layer", layer=5, split="test")
    more = [last.assign(metric="rmse_further", layer=layer, value=8.0 - layer) for layer in (5, 6, 7)]
    shown = table_layers.display(table_layers.build(pd.concat([results, *more]), params), params)
    own = shown[shown[("", "model")] == "UT"].set_index(("", "layer"))["RMSE ↓"]
    assert own.index.tolist() == ["0", "1", "2", "3", "4", "5", "(6)", "(7)"]
    assert own.loc[["(6)", "(7)"], "constrained"].tolist() == ["2.00", "1.00"]
    assert own.loc["5", "constrained"] != "3.00", "the last layer's own number is that of all arms"
    assert (own.loc[["(6)", "(7)"], "unconstrained"] == UNKNOWN).all()


def test_a_layer_of_an_arm_that_diverged_or_is_infeasible_is_marked(results, params: Params) -> None:
    cell = {"experiment": "video", "dataset": "ucsd", "model": "dust", "layers": 5, "eps": 0.13}
    plain = table_layers.display(table_layers.build(results, params), params)
    for arm, metric, value, word in (
        ("constrained", "feasible", 0.0, "infeasible"),
        ("unconstrained", "diverged", 1.0, "diverged"),
    ):
        rows = results.copy()
        change(rows, value, **cell, arm=arm, metric=metric)
        table = table_layers.build(rows, params)
        shown = table_layers.display(table, params)
        differ = (shown != plain).any()
        assert {head[1] for head in differ[differ].index} == {arm}
        assert f"† DUST, {arm}: {word}." in table_layers.notes(table, params)
