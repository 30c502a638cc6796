"""The rows that a text item gives, against loops over single texts and against maps that answer one thing."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from descent.analysis import results
from descent.analysis.select import measured
from descent.analysis.trials import accuracy_columns
from descent.cells import Cell
from descent.models.ut_text import TextUT
from descent.runner.items import Item
from descent.tasks.common import scored as scoring
from descent.tasks.text.data import Tokens
from descent.training.noise import TEST, generator
from tests.fakes.core import DIAGNOSED, seal, train_cells
from tests.fakes.text import (
    ARMS,
    BUDGET,
    DATASET,
    SHORT,
    by_hand,
    evaluate_text,
    scored,
    shaken,
    text_params,
    train_text,
)

REPLICATED = ["area", "accuracy_in_distribution", "accuracy_out_of_distribution", "descending"]
REPLICATED += ["ratio_mean", "ratio_median", "ratio_below_one"]


def of_arm(item: Item, arm: str) -> list[Cell]:
    return [cell for cell in item.cells if cell.arm == arm]


def change(item: Item, cell: Cell, **weights: Tensor) -> None:
    """Give a trained cell other weights."""
    file = item.runs / cell.name / "weights.safetensors"
    save_file(load_file(file) | {name.replace("__", "."): value for name, value in weights.items()}, file)
    seal(file.parent)


def binned(table: pd.DataFrame) -> bool:
    """Whether only histograms and resamples use the column `bin`."""
    by_epoch = {f"{name}_epoch" for name in ("loss", "violation", "multiplier", "weight")}
    asked = {"ratio_share", *(f"{name}_replicate" for name in REPLICATED)} | by_epoch
    return set(table.loc[table["bin"] != 0, "metric"]) == asked


def asked_levels(cell: Cell) -> list[float]:
    """The sweep, and the cell's own training level."""
    return sorted({0.0, 1.0, 2.0, cell.eps})


def rows_of(table: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    place = f"arm == '{cell.arm}' and layers == {cell.layers} and eps == {cell.eps} and seed == {cell.seed}"
    return table.query(place)


def values(table: pd.DataFrame, cell: Cell, metric: str, split: str = "test") -> pd.Series:
    own = rows_of(table, cell)
    return (
        own[(own["split"] == split) & (own["metric"] == metric)]
        .set_index(["gamma", "layer"])["value"]
        .sort_index()
    )


def test_a_map_that_always_says_one_class_scores_its_share(tokens: Tokens) -> None:
    params = text_params(SHORT)
    item = train_text(params, "ut_text")
    for cell in item.cells:
        change(item, cell, head__weight=torch.zeros(6, 2), head__bias=torch.tensor([0.0, 1.5]))
    table = scored("ut_text")
    labels = tokens.split("test").labels
    share, nats = labels.mean(), math.log(1 + math.exp(1.5))
    assert 0.2 < share < 0.8 and share != 0.5
    for cell in item.cells:
        accuracy, loss = values(table, cell, "accuracy"), values(table, cell, "loss")
        assert list(accuracy.index) == [(level, layer) for level in asked_levels(cell) for layer in range(3)]
        np.testing.assert_allclose(accuracy, share, rtol=1e-12)
        assert values(table, cell, "most_frequent").tolist() == [pytest.approx(max(share, 1 - share))]
        np.testing.assert_allclose(loss, nats - 1.5 * share, rtol=1e-6)
        assert values(table, cell, "ratio_mean").tolist() == [1.0]
        assert values(table, cell, "ratio_below_one").tolist() == [0.0]
    area = accuracy_columns(measured(table), params)["area"]
    np.testing.assert_allclose(area, 2 * share, rtol=1e-12)
    assert len(area) == 2 * len(ARMS)


def plain(model: TextUT, tokens: Tokens, level: float, draws: int, size: int) -> np.ndarray:
    """Losses and hits (2, texts times draws, layers) of the one cell, a text at a time, at one noise level."""
    texts, found = tokens.split("test"), []
    own = np.split(texts.tokens.astype(np.int64), texts.offsets[1:-1])
    table = model.table[0].detach()
    entries = np.concatenate([table[int(token)].numpy() for token in tokens.split("train").tokens])
    order = sorted(range(len(texts)), key=lambda text: texts.lengths[text])
    for number, first in enumerate(range(0, len(order), size)):
        batch = order[first : first + size]
        for draw in range(draws):
            shape = (1, len(batch), max(texts.lengths[text] for text in batch), 6)
            unit = torch.randn(shape, generator=generator(TEST, 5, number, draw))
            for place, text in enumerate(batch):
                noisy = table[own[text]] + level * entries.std() * unit[0, place, : len(own[text])]
                scores, label = np.array(by_hand(model, 0, noisy.numpy())), texts.labels[text]
                nats = np.log(np.exp(scores).sum(1)) - scores[:, label]
                found.append([nats, scores.argmax(1) == label])
    return np.array(found, dtype=np.float64).transpose(1, 0, 2)


def test_rows_equal_a_plain_loop_over_texts_and_draws(tokens: Tokens) -> None:
    asked = {"objectives.constrained.models.ut_text.alpha": 0.3}
    params = text_params(SHORT | asked)
    item = train_text(params, "ut_text")
    cell = of_arm(item, "constrained")[1]
    model = shaken(item.feed.build([cell]))
    with torch.no_grad():
        model.head.weight *= 3
        model.head.bias[0, 1] += 0.5
    change(item, cell, **{name.replace(".", "__"): value[0] for name, value in model.state_dict().items()})
    table = scored("ut_text", **asked)
    assert asked_levels(cell) == [0.0, 0.4, 1.0, 2.0]
    for level in asked_levels(cell):
        loss, hits = plain(model, tokens, level, draws=2, size=5)
        assert loss.shape == (2 * 17, 3)
        np.testing.assert_allclose(values(table, cell, "loss")[level], loss.mean(0), rtol=1e-5)
        np.testing.assert_allclose(values(table, cell, "accuracy")[level], hits.mean(0), rtol=1e-12)
        if level == cell.eps:
            ratios = (loss[:, 1:] / loss[:, :-1]).flatten()
    summary = {
        "ratio_mean": ratios.mean(),
        "ratio_median": np.median(ratios),
        "ratio_below_one": (ratios < 1).mean(),
        "ratio_below_target": (ratios <= 0.7).mean(),
    }
    assert 0.05 < summary["ratio_below_target"] < summary["ratio_below_one"] < 0.95 and ratios.max() > 2
    for metric, value in summary.items():
        assert values(table, cell, metric).to_dict() == {(0.4, 2): pytest.approx(value, rel=1e-4)}, metric
    rows = rows_of(table, cell).query("metric == 'ratio_share'").sort_values("bin")
    assert len(rows) == 101 and rows["value"].sum() == pytest.approx(1, abs=1e-12)
    edges = np.append(np.arange(101) / 50, np.inf)
    expected = np.histogram(ratios, edges)[0] / len(ratios)
    np.testing.assert_allclose(rows["bin"], edges[:-1], atol=1e-12)
    assert np.abs(rows["value"].to_numpy() - expected).sum() < 2.5 / len(ratios), "but for one at an edge"
    assert rows["value"].iloc[-1] == (ratios >= 2).mean() > 0


@pytest.mark.slow
def test_the_rows_are_complete_and_agree_with_each_other(tokens: Tokens) -> None:
    changes = {f"{BUDGET}.seeds": [0, 1, 2], f"{BUDGET}.models.ut_text.layers": [2, 3]}
    item = train_text(text_params(SHORT | changes), "ut_text")
    whole = scored("ut_text", **changes)
    assert list(whole) == list(results.COLUMNS) and whole.notna().all(axis=None)
    assert set(whole["varied"]) == {""} and set(whole["shift"]) == {"gaussian"} and binned(whole)
    assert set(whole["arm"]) == set(ARMS)
    for arm in ARMS:
        table, dual = whole[whole["arm"] == arm], {"dual_lr", "alpha", "rho"} if arm == "constrained" else set()
        for cell in of_arm(item, arm):
            own = rows_of(table, cell)
            own = own[~own["metric"].isin(DIAGNOSED)]
            counts = own.groupby(["split", "metric"]).size().to_dict()
            each, ratio = cell.layers + 1, ("mean", "median", "below_one", "below_target")
            expected = {("test", metric): len(asked_levels(cell)) * each for metric in ("loss", "accuracy")}
            expected |= {("test", f"ratio_{word}"): 1 for word in ratio} | {("test", "ratio_share"): 101}
            expected |= {("test", "most_frequent"): 1}
            expected |= {("test", f"{name}_replicate"): 1 + 7 for name in REPLICATED} | {("test", "test_items"): 1}
            expected |= {(split, "violation"): each for split in ("test", "validation")}
            expected |= {(split, "feasible"): 1 for split in ("test", "validation")}
            expected |= {("validation", name): 1 for name in {"diverged", "epoch", "lr"} | dual}
            assert counts == expected | {("validation", "validation_loss"): each}
            for split, metric in (("test", "loss"), ("validation", "validation_loss")):
                f = values(table, cell, metric, split)[cell.eps].to_numpy()
                v = np.array([f[0] / 0.6 - 1, *(f[1:] / f[:-1] - 0.9)])
                np.testing.assert_allclose(values(table, cell, "violation", split)[cell.eps], v, atol=1e-6)
                assert values(table, cell, "feasible", split).tolist() == [float(v.max() <= 0.02)]
            for name in {"lr"} | dual:
                (value,) = values(table, cell, name, "validation")
                used = {"lr": 0.02, "dual_lr": 0.05, "alpha": 0.1, "rho": 3.0}[name]
                assert (value == used) == (cell.seed == 0 or name in ("lr", "alpha")), name
        rho = table.query("metric == 'rho'").groupby(["layers", "eps"])["value"].nunique()
        assert (rho == 3).all() if dual else rho.empty


def test_two_arms_of_the_same_weights_score_the_same(tokens: Tokens) -> None:
    item = train_text(text_params(SHORT), "ut_text")
    model = shaken(item.feed.build(item.cells[:1]))
    for cell in item.cells:
        change(item, cell, **{name.replace(".", "__"): value[0] for name, value in model.state_dict().items()})
    table = scored("ut_text").query("split == 'test'")
    tables = [table[table["arm"] == arm].drop(columns="arm").reset_index(drop=True) for arm in ARMS]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert tables[0].query("metric == 'loss' and layer == 2")["value"].nunique() == 4, "one for each noise level"


def test_the_score_file_of_a_data_set_holds_every_model_and_arm(tokens: Tokens) -> None:
    arms = [*ARMS, "deep_supervision"]
    small = {f"{BUDGET}.models.distilbert.epochs": 1, "arms": arms, "text.models": ["ut_text", "distilbert"]}
    params = text_params(SHORT | small)
    for model in params.text.models:
        train_cells(params, "text", DATASET, model)
    table = scoring.of_dataset(params, "text", DATASET)
    loss = table.query("metric == 'loss' and layer == layers and gamma == 2.0")
    assert set(zip(loss["model"], loss["arm"], strict=True)) == {(m, a) for m in params.text.models for a in arms}
    held = table.query("metric == 'feasible' and split == 'test'")
    assert set(held["arm"]) == set(arms), "every arm is measured against the constraints"
    assert not set(table.query("arm != 'constrained'")["metric"]) & {"dual_lr", "alpha", "rho"}


@pytest.mark.parametrize("model", ["distilbert", "roberta"])
def test_an_encoder_goes_through_both_stages_and_ends_without_its_dropout(tokens: Tokens, model: str) -> None:
    params = text_params({f"{BUDGET}.seeds": [0], f"{BUDGET}.models.{model}.dropout": 0.5})
    item = train_text(params, model)
    tables = [evaluate_text(params, model)]
    for file in Path(".cells/scores").iterdir():
        file.unlink()
    torch.random.manual_seed(123)
    tables.append(evaluate_text(params, model))
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert len(item.cells) == 4 and set(tables[0]["eps"]) == {0.0, 0.4}
