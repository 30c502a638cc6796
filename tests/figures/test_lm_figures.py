"""Figures 6 and 16 and Table 5 from made-up results: what they draw and say, and what they miss."""

import json
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from descent.analysis.metrics import metrics
from descent.analysis.results import METRICS
from descent.analysis.select import select
from descent.analysis.summary import cells_table
from descent.analysis.wording import UNKNOWN
from descent.errors import UserError
from descent.figures.lm import fig06_causal_lm, fig16_completions, table5_lm_hyperparameters
from descent.figures.parts import catalogue, drawing, style
from tests.fakes.results import change, fake_params, fake_results

PARAMS = fake_params()
RESULTS = select(fake_results(PARAMS), experiment="lm")
LAYERS = 4
BUDGET = "profiles.demo.lm.models.causal_lm"


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_figure_6_draws_all_arms_the_bound_and_the_training_level() -> None:
    figure = drawing.shown(fig06_causal_lm, RESULTS, PARAMS)
    loss, accuracy = figure.axes
    lines = {line.get_label(): line for line in loss.lines}
    assert set(lines) == {"constrained", "unconstrained", "deep supervision", "implied bound"}
    asked = PARAMS.problem("alpaca", "causal_lm")
    bound = [asked.R0 * (1 - asked.alpha) ** layer for layer in range(LAYERS + 1)]
    assert lines["implied bound"].get_ydata() == pytest.approx(bound)
    cell = {"arm": "constrained", "metric": "accuracy", "layer": LAYERS}
    right = select(RESULTS, **cell).sort_values("gamma")["value"]
    drawn = next(line for line in accuracy.lines if line.get_label() == "constrained")
    assert drawn.get_ydata() == pytest.approx(right.to_numpy())
    assert any("synthetic" in word for word in words(figure))


def test_figure_6_marks_an_infeasible_run_and_asks_for_rows_that_are_missing() -> None:
    results = RESULTS.copy()
    change(results, 0.0, metric="feasible", arm="constrained", split="validation")
    assert any("constrained (infeasible)" in word for word in words(fig06_causal_lm.render(results, PARAMS)))
    with pytest.raises(UserError, match="stage evaluate_lm makes them"):
        fig06_causal_lm.render(RESULTS.iloc[:0], PARAMS)


def test_table_5_stands_beside_the_papers() -> None:
    table = table5_lm_hyperparameters.build(RESULTS, PARAMS)
    ours, paper = table.to_dict("records")
    assert paper["LoRA r"] == 6 and paper["R0"] == 12.0 and paper["1 - alpha"] == 0.95 and pd.isna(paper["lr"])
    assert ours["rho"] == PARAMS.problem("alpaca", "causal_lm").rho and pd.isna(ours["LoRA r"])
    shown = table5_lm_hyperparameters.display(table, PARAMS)
    assert shown.iloc[0, 1].startswith("random, width") and shown.iloc[1, -1] == UNKNOWN
    lora = {"rank": 3, "scale": 8.0, "dropout": 0.1}
    adapted = fake_params({f"{BUDGET}.lora": lora, f"{BUDGET}.weights": {"hub": {"id": "some/llama"}}})
    first = table5_lm_hyperparameters.build(RESULTS, adapted).iloc[0]
    assert (first["LoRA r"], first["model"]) == (3, "some/llama")
    hard = fake_params({"objectives.constrained.models.causal_lm.resilience": "none"})
    assert pd.isna(table5_lm_hyperparameters.build(RESULTS, hard).iloc[0]["rho"]), "nothing is relaxed by it"


def write_completions(folder: Path, text: str) -> None:
    found = {
        fig16_completions.key(PARAMS, arm, float(gamma)): [
            {"instruction": f"Ask {n}", "output": f"{arm} at {gamma}: {text}"} for n in range(6)
        ]
        for arm in PARAMS.comparison.arms
        for gamma in PARAMS.lm.completions.gammas
    }
    (folder / "data").mkdir()
    (folder / "data/texts.json").write_text(json.dumps(found))


def test_figure_16_shows_prompts_and_both_arms_texts_within_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="stage collect makes it"):
        fig16_completions.render(RESULTS, PARAMS)
    write_completions(tmp_path, "a word for $5, " * 60)
    figure = fig16_completions.render(RESULTS, PARAMS)
    found = words(figure)
    assert sum(word.startswith("Ask") for word in found) == 2 * fig16_completions.SHOWN
    low, high = min(PARAMS.lm.completions.gammas), max(PARAMS.lm.completions.gammas)
    for arm in PARAMS.comparison.arms:
        for gamma in (low, high):
            assert any(word.startswith(f"{arm} at {gamma}") for word in found)
    figure.draw_without_rendering()
    sheet = figure.bbox
    for text in figure.texts:
        box = text.get_window_extent()
        assert sheet.x0 <= box.x0 and box.x1 <= sheet.x1 + 1 and sheet.y0 <= box.y0 and box.y1 <= sheet.y1 + 1
    style.save(figure, tmp_path / "one.png")
    style.save(fig16_completions.render(RESULTS, PARAMS), tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_sidecars_name_the_stage_and_say_what_is_synthetic() -> None:
    for entry in (fig06_causal_lm, fig16_completions, table5_lm_hyperparameters):
        told = catalogue.sidecar(entry, PARAMS)
        assert (
            told["synthetic"] and told["made_by"]["stage"] == "figures@lm" and told["parameters"]["lm.eps"] == 0.25
        )


def test_the_summary_has_areas_over_the_language_models_own_levels() -> None:
    row = select(cells_table(RESULTS, PARAMS), arm="constrained").iloc[0]
    last = select(RESULTS, arm="constrained", metric="accuracy", layer=LAYERS)
    levels = sorted(PARAMS.lm.evaluation.gammas)
    values = [select(last, gamma=float(level))["value"].item() for level in levels]
    steps = zip(levels[:-1], levels[1:], values[:-1], values[1:], strict=True)
    assert row["area"] == pytest.approx(sum((b - a) * (x + y) / 2 for a, b, x, y in steps))
    assert row["accuracy_clean"] == pytest.approx(values[0]) and row["descending"]
    found = metrics(cells_table(RESULTS, PARAMS), PARAMS)["lm"]
    assert found["feasible_share"] == {"constrained": 1.0} and set(found["area"]) == set(PARAMS.arms)
    assert set(RESULTS["metric"]) <= set(METRICS) and set(RESULTS["model"]) == {"causal_lm"}
