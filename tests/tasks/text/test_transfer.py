"""A text cell by kind of test text: shares of its ordinary accuracy, and texts of kinds it has not seen."""

import json
from pathlib import Path

import numpy as np
import pytest

from descent.analysis.select import TRAINED, TRANSFER, select
from descent.tasks.text import transfer
from descent.tasks.text.data import Tokens
from tests.fakes.core import serially
from tests.fakes.text import BUDGET, DATASET, enter_text_project, evaluate_text, text_params, train_text

SHORT = {"text.models": ["ut_text"], f"{BUDGET}.seeds": [0], f"{BUDGET}.models.ut_text.layers": [2]}
MODEL = "ut_text"


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """A tiny data set whose test texts are of two kinds, and as texts of another kind the same ones again."""
    serially(monkeypatch)
    tokens = enter_text_project(tmp_path / "project", monkeypatch)
    file = tokens.folder / "meta.json"
    meta, texts = json.loads(file.read_text()), len(tokens.split("test"))
    for part in ("tokens", "offsets", "labels"):
        np.save(tokens.folder / f"elsewhere_{part}.npy", np.load(tokens.folder / f"test_{part}.npy"))
    np.save(tokens.folder / "test_groups.npy", np.arange(texts) % 3 // 2)
    meta["texts"]["elsewhere"] = texts
    file.write_text(json.dumps(meta | {"groups": {"test": ["long", "short"]}, "kinds_digest": "ab"}))
    monkeypatch.setattr(transfer, "apart", lambda name: name == DATASET)
    return tokens


def test_the_kinds_share_the_ordinary_accuracy_and_unseen_texts_are_marked(tokens: Tokens) -> None:
    params = text_params(SHORT)
    train_text(params, MODEL)
    rows, usual = transfer.of_all(params), evaluate_text(params, MODEL)
    assert set(rows["shift"]) == {TRANSFER} and set(rows["metric"]) == {"accuracy"}
    assert set(rows["tested"]) == {"long", "short", "of no kind (unseen)"}
    assert (rows["gamma"] == rows["eps"]).all() and (rows["layer"] == rows["layers"]).all()
    count = len(tokens.split("test"))
    short = count // 3
    for (arm, eps), own in rows.groupby(["arm", "eps"]):
        by = own.set_index("tested")["value"]
        place = {"split": "test", "shift": TRAINED, "metric": "accuracy", "arm": arm, "eps": eps}
        whole = select(usual, **place, gamma=float(eps), layer=2)["value"].item()
        assert (by["long"] * (count - short) + by["short"] * short) / count == pytest.approx(whole, abs=1e-12)
        assert by["of no kind (unseen)"] == pytest.approx(whole, abs=1e-12)
    assert rows.groupby(["arm", "eps"])["value"].nunique().max() > 1, "all alike would tell nothing"


@pytest.mark.parametrize("groups", [{}, {"test": [""], "elsewhere": [""]}], ids=["no field", "an empty one"])
def test_texts_of_no_kind_that_is_told_have_no_rows(tokens: Tokens, groups: dict[str, list[str]]) -> None:
    file = tokens.folder / "meta.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"groups": groups}))
    assert transfer.apart(DATASET) and transfer.of_all(text_params(SHORT)).empty


def test_a_data_set_of_one_kind_has_no_rows(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert transfer.apart("mnli") and not transfer.apart("imdb")
    assert transfer.of_all(text_params(SHORT)).empty
