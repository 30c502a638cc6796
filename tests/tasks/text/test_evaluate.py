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
from descent.analysis.trials import text_columns
from descent.cells import Cell
from descent.errors import UserError
from descent.models import ut_text
from descent.runner.items import Item
from descent.tasks.text.data import Tokens
from descent.tasks.text.evaluate import gammas
from descent.tasks.text.sweep import TEST, sweep
from descent.training.noise import generator
from tests.fakes.core import serially
from tests.fakes.text import (
    CPU,
    DATASET,
    by_hand,
    cells,
    enter_text_project,
    evaluate_text,
    shaken,
    text_params,
    train_text,
)

BUDGET = "profiles.demo.text"
ARMS = ("constrained", "unconstrained")
SHORT = {f"{BUDGET}.trials": 1, f"{BUDGET}.ut_text.layers": [2], f"{BUDGET}.ut_text.epochs": 1}

REPLICATED = ["area", "accuracy_in_distribution", "accuracy_out_of_distribution", "descending"]
REPLICATED += ["ratio_mean", "ratio_median", "ratio_below_one"]


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    serially(monkeypatch)
    return enter_text_project(tmp_path / "project", monkeypatch)


def scored(*words: str, **changes: object) -> pd.DataFrame:
    return pd.read_parquet(evaluate_text(text_params(SHORT | changes), *words))


def change(item: Item, cell: Cell, **weights: Tensor) -> None:
    """Give a trained cell other weights."""
    file = item.runs / cell.name / "weights.safetensors"
    save_file(load_file(file) | {name.replace("__", "."): value for name, value in weights.items()}, file)


def binned(table: pd.DataFrame) -> bool:
    """Whether only histograms and resamples use the column `bin`."""
    return set(table.loc[table["bin"] != 0, "metric"]) == {"ratio_share", *(f"{n}_replicate" for n in REPLICATED)}


def levels_of(cell: Cell) -> list[float]:
    """The sweep, and the cell's own training level."""
    return sorted({0.0, 1.0, 2.0, cell.eps})


def values(table: pd.DataFrame, cell: Cell, metric: str, split: str = "test") -> pd.Series:
    own = table.query(f"layers == {cell.layers} and eps == {cell.eps} and seed == {cell.seed}")
    return (
        own[(own["split"] == split) & (own["metric"] == metric)]
        .set_index(["gamma", "layer"])["value"]
        .sort_index()
    )


def test_a_map_that_always_says_one_class_scores_its_share(tokens: Tokens) -> None:
    params = text_params(SHORT)
    item = train_text(params, DATASET, "ut_text", "constrained")
    for cell in item.cells:
        change(item, cell, head__weight=torch.zeros(6, 2), head__bias=torch.tensor([0.0, 1.5]))
    table = scored(DATASET, "ut_text", "constrained")
    labels = tokens.split("test").labels
    share, nats = labels.mean(), math.log(1 + math.exp(1.5))
    assert 0.2 < share < 0.8 and share != 0.5
    for cell in item.cells:
        accuracy, loss = values(table, cell, "accuracy"), values(table, cell, "loss")
        assert list(accuracy.index) == [(level, layer) for level in levels_of(cell) for layer in range(3)]
        np.testing.assert_allclose(accuracy, share, rtol=1e-12)
        np.testing.assert_allclose(loss, nats - 1.5 * share, rtol=1e-6)
        assert values(table, cell, "ratio_mean").tolist() == [1.0]
        assert values(table, cell, "ratio_below_one").tolist() == [0.0]
    area = text_columns(measured(table), params)["area"]
    np.testing.assert_allclose(area, 2 * share, rtol=1e-12)
    assert len(area) == 2


def plain(model: ut_text.TextUT, tokens: Tokens, level: float, draws: int, size: int) -> np.ndarray:
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
    asked = {"primal_dual.ut_text.alpha": 0.3}
    params = text_params(SHORT | asked)
    item = train_text(params, DATASET, "ut_text", "constrained")
    cell = item.cells[1]
    model = shaken(item.build([cell]))
    with torch.no_grad():
        model.head.weight *= 3
        model.head.bias[0, 1] += 0.5
    change(item, cell, **{name.replace(".", "__"): value[0] for name, value in model.state_dict().items()})
    table = scored(DATASET, "ut_text", "constrained", **asked)
    assert levels_of(cell) == [0.0, 0.4, 1.0, 2.0]
    for level in levels_of(cell):
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
    rows = table.query("metric == 'ratio_share' and eps == 0.4").sort_values("bin")
    assert len(rows) == 101 and rows["value"].sum() == pytest.approx(1, abs=1e-12)
    edges = np.append(np.arange(101) / 50, np.inf)
    expected = np.histogram(ratios, edges)[0] / len(ratios)
    np.testing.assert_allclose(rows["bin"], edges[:-1], atol=1e-12)
    assert np.abs(rows["value"].to_numpy() - expected).sum() < 2.5 / len(ratios), "but for one at an edge"
    assert rows["value"].iloc[-1] == (ratios >= 2).mean() > 0


def test_the_rows_are_complete_and_agree_with_each_other(tokens: Tokens) -> None:
    changes = {f"{BUDGET}.trials": 3, f"{BUDGET}.ut_text.layers": [2, 3]}
    for method in ARMS:
        item = train_text(text_params(SHORT | changes), DATASET, "ut_text", method)
        table = scored(DATASET, "ut_text", method, **changes)
        assert list(table) == list(results.COLUMNS) and table.notna().all(axis=None)
        assert set(table["varied"]) == {""} and binned(table)
        dual = {"dual_lr", "alpha", "rho"} if method == "constrained" else set()
        for cell in item.cells:
            own = table.query(f"layers == {cell.layers} and eps == {cell.eps} and seed == {cell.seed}")
            counts = own.groupby(["split", "metric"]).size().to_dict()
            each, ratio = cell.layers + 1, ("mean", "median", "below_one", "below_target")
            expected = {("test", metric): len(levels_of(cell)) * each for metric in ("loss", "accuracy")}
            expected |= {("test", f"ratio_{word}"): 1 for word in ratio} | {("test", "ratio_share"): 101}
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
    tables = []
    for method in ARMS:
        item = train_text(text_params(SHORT), DATASET, "ut_text", method)
        model = shaken(item.build(item.cells[:1]))
        for cell in item.cells:
            change(item, cell, **{name.replace(".", "__"): value[0] for name, value in model.state_dict().items()})
        table = scored(DATASET, "ut_text", method).query("split == 'test'")
        tables.append(table.drop(columns="method").reset_index(drop=True))
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert tables[0].query("metric == 'loss' and layer == 2")["value"].nunique() == 4, "one for each noise level"


def test_cells_of_a_stack_score_what_they_score_alone(tokens: Tokens) -> None:
    params = text_params(SHORT)
    asked = [Cell("text", DATASET, "ut_text", "constrained", 2, eps, seed) for seed, eps in enumerate((0.4, 0.0))]
    levels = gammas(params, asked)
    stack = shaken(ut_text.build(params, tokens, asked))
    told: list[int] = []
    many = sweep(stack, tokens, levels, [0.4, 0.0], params.text.evaluation, CPU, told.append)
    assert levels == [0.0, 0.4, 1.0, 2.0] and sum(told) == 2 * 17
    for index, cell in enumerate(asked):
        single = ut_text.build(params, tokens, [cell]).eval()
        single.load_state_dict({name: value[index : index + 1] for name, value in stack.state_dict().items()})
        one = sweep(single, tokens, levels, [cell.eps], params.text.evaluation, CPU)
        np.testing.assert_allclose(one.loss[:, 0], many.loss[:, index], rtol=1e-5)
        np.testing.assert_allclose(one.ratios(0), many.ratios(index), rtol=1e-4)
    assert np.abs(many.loss[:, 0] - many.loss[:, 1]).min() > 1e-6


def test_more_draws_and_another_seed_are_other_noise(tokens: Tokens) -> None:
    model = shaken(ut_text.build(text_params(), tokens, cells("ut_text")))

    def loss(**changes: int) -> list[float]:
        settings = text_params({"text.evaluation": {"batch": 5} | changes}).text.evaluation
        return sweep(model, tokens, [0.0, 1.0], [0.0], settings, CPU).loss[:, 0, 2].tolist()

    found = [loss(seed=5, noise_draws=1), loss(seed=5, noise_draws=2), loss(seed=6, noise_draws=1)]
    assert len({noisy for _, noisy in found}) == 3 and loss(seed=5, noise_draws=1) == found[0]
    assert max(clean for clean, _ in found) == pytest.approx(min(clean for clean, _ in found), rel=1e-12)


def test_a_stale_or_missing_cell_is_refused_and_an_ablation_is_scored(tokens: Tokens) -> None:
    with pytest.raises(UserError, match="is missing: run `dvc repro`"):
        scored(DATASET, "ut_text", "constrained")
    train_text(text_params(SHORT), DATASET, "ut_text", "constrained")
    for changes in ({"primal_dual.ut_text.alpha": 0.3}, {f"{BUDGET}.ut_text.dual_lr": 0.06}):
        with pytest.raises(UserError, match="trained with other parameters"):
            scored(DATASET, "ut_text", "constrained", **changes)
    item = train_text(text_params(SHORT), "alpha")
    table = scored("alpha")
    assert set(table["experiment"]) == {"alpha"} and set(table["varied"]) == {"", "0.05", "0.1"}
    alpha = table.query("metric == 'alpha'").set_index("varied")["value"].to_dict()
    assert alpha == {"0.05": 0.05, "0.1": 0.1} and len(item.cells) == 3


@pytest.mark.parametrize("model", ["distilbert", "roberta"])
def test_an_encoder_goes_through_both_stages_and_ends_without_its_dropout(tokens: Tokens, model: str) -> None:
    changes = {f"{BUDGET}.trials": 1, f"{BUDGET}.{model}.dropout": 0.5}
    item = train_text(text_params(changes), DATASET, model, "constrained")
    tables = [pd.read_parquet(evaluate_text(text_params(changes), DATASET, model, "constrained"))]
    for file in Path(".cells/scores").iterdir():
        file.unlink()
    torch.random.manual_seed(123)
    tables.append(pd.read_parquet(evaluate_text(text_params(changes), DATASET, model, "constrained")))
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert len(item.cells) == 2 and set(tables[0]["eps"]) == {0.0, 0.4}


def test_experiments_that_share_cells_share_their_scores(tokens: Tokens) -> None:
    train_text(text_params(SHORT), DATASET, "ut_text", "constrained")
    main = scored(DATASET, "ut_text", "constrained")
    files = set(Path(".cells/scores").iterdir())
    train_text(text_params(SHORT), "dual_lr")
    table = scored("dual_lr")
    assert len(set(Path(".cells/scores").iterdir()) - files) == 2, "the other value and the unconstrained arm"
    why = ["experiment", "varied"]
    same = table[table["varied"] == "0.05"].drop(columns=why).reset_index(drop=True)
    shared = main[(main["eps"] == 0.4)].drop(columns=why).reset_index(drop=True)
    pd.testing.assert_frame_equal(same, shared)
    assert set(table["experiment"]) == {"dual_lr"} and set(main["varied"]) == {""}
