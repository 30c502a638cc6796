"""Every layout in which a text data set is handed out gives the same table, and bad files are named."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from descent import components
from descent.errors import UserError
from descent.tasks.text import readers
from descent.tasks.text.tables import Layout, Part, layout
from tests.fakes.layouts import (
    PAIR_PARTS,
    PAIRS,
    REVIEWS,
    as_csv,
    as_json_lines,
    as_parquet,
    as_shards,
    as_tree,
    glue_tabs,
    hub_layout,
    json_lines,
    official_json_lines,
    official_tabs,
)

OURS = Layout(
    name="ours",
    train=("train",),
    test=("test",),
    texts=(("text",), ("text", "pair")),
    classes=("sport", "world"),
    folders=(),
    tree="train*.jsonl and test*.jsonl",
)


def read(name: str, root: Path) -> dict[str, Part]:
    return readers.read(layout(components.load("tasks.text.datasets", name)), root)


def sorted_rows(table: pd.DataFrame) -> list[tuple]:
    return sorted(table.itertuples(index=False, name=None))


@pytest.mark.parametrize("write", [as_parquet, as_shards, as_json_lines, as_csv, as_tree])
def test_reviews_are_the_same_in_every_layout(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    parts = read("imdb", tmp_path)
    for split, rows in REVIEWS.items():
        assert sorted_rows(parts[split].table) == sorted(rows)
        assert parts[split].table["label"].dtype == "int64"
        assert parts[split].dropped == {"empty": 0, "no_label": 0}


@pytest.mark.parametrize("write", [hub_layout, official_json_lines, official_tabs, glue_tabs])
def test_pairs_are_the_same_in_every_layout(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    parts = read("mnli", tmp_path)
    for split, rows in PAIRS.items():
        assert sorted_rows(parts[split].table) == sorted(rows)
        assert list(parts[split].table.columns) == ["text", "pair", "label"]
        assert parts[split].dropped == {"empty": 0, "no_label": int(write is not hub_layout)}


def test_the_folder_with_both_parts_is_found_among_others(tmp_path: Path) -> None:
    for name in ("ax", "mnli", "mnli_mismatched"):
        (tmp_path / name).mkdir()
    hub_layout(tmp_path / "mnli")
    pd.DataFrame({"sentence": ["x"], "label": [1]}).to_parquet(tmp_path / "ax/train-00000-of-00001.parquet")
    parts = read("mnli", tmp_path)
    assert sorted_rows(parts["train"].table) == sorted(PAIRS["train"])


def test_a_file_beside_the_one_that_is_named_as_the_part_is_no_shard_of_it(tmp_path: Path) -> None:
    for name in ("train", "train_small", "test", "test_old"):
        rows = [{"text": f"{name} {number}", "label": label} for number, label in enumerate(("sport", "world"))]
        json_lines(tmp_path / f"{name}.jsonl", rows)
    parts = readers.read(OURS, tmp_path)
    assert parts["train"].table["text"].tolist() == ["train 0", "train 1"]
    assert parts["test"].table["text"].tolist() == ["test 0", "test 1"]


@pytest.mark.parametrize("labels", [[0, 1, 1], ["0", "1", "1"], ["sport", "world", "world"]])
def test_labels_are_numbers_digits_or_names(labels: list, tmp_path: Path) -> None:
    for split in ("train", "test"):
        json_lines(tmp_path / f"{split}.jsonl", [{"text": "a", "label": label} for label in labels])
    parts = readers.read(OURS, tmp_path)
    assert parts["train"].table["label"].tolist() == parts["test"].table["label"].tolist() == [0, 1, 1]


def test_empty_texts_are_dropped_and_counted(tmp_path: Path) -> None:
    rows = [{"premise": p, "hypothesis": h, "label": i % 3} for i, (p, h) in enumerate(("ab", " b", "a\t", "cd"))]
    rows.append({"premise": None, "hypothesis": "b", "label": 1})
    for name in PAIR_PARTS.values():
        json_lines(tmp_path / f"{name}.jsonl", [*rows, {"premise": "e", "hypothesis": "f", "label": 1}])
    parts = read("mnli", tmp_path)
    assert sorted_rows(parts["train"].table) == [("a", "b", 0), ("c", "d", 0), ("e", "f", 1)]
    assert parts["train"].dropped == {"empty": 3, "no_label": 0}


GOOD = [{"text": "a", "label": 0}, {"text": "b", "label": 1}]
BAD = {
    "columns": (
        [{"review": "a", "sentiment": 0}],
        r"train\.jsonl has the columns 'review', 'sentiment'; expected text",
    ),
    "no label": ([{"text": "a"}], r"train\.jsonl has the columns 'text'; expected text, and label"),
    "nothing": ([], r"train\.jsonl has the columns \(none\)"),
    "range": ([*GOOD, {"text": "c", "label": 2}], r"train\.jsonl: unknown labels 2; expected 0 to 1 or negative"),
    "hidden": ([*GOOD, {"text": "c", "label": -1}], r"unknown labels -1 \(-1 stands for a hidden label"),
    "names": (
        [*GOOD, {"text": "c", "label": "good"}],
        r"unknown labels good; expected 0 to 1 or negative, positive",
    ),
    "null": ([*GOOD, {"text": "c", "label": None}], r"train\.jsonl: unknown labels nothing; expected 0 to 1"),
    "all empty": ([{"text": " ", "label": 0}], r"none of the 1 texts can be used \(1 are empty"),
    "one class": ([{"text": "a", "label": 0}] * 3, r"imdb: all training texts have the label 0"),
    "numbers": ([{"text": 5, "label": 0}], r"the column 'text' holds something else than texts"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_told(case: str, tmp_path: Path) -> None:
    rows, message = BAD[case]
    json_lines(tmp_path / "train.jsonl", rows)
    json_lines(tmp_path / "test.jsonl", GOOD)
    with pytest.raises(UserError, match=message):
        read("imdb", tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("train.jsonl", b'{"text": "a", "label": 0}\n{"text": "b"', "line 2 is not one JSON object"),
        ("train.jsonl", b'["a", 0]\n', "line 1 is not one JSON object"),
        ("train.jsonl", b'{"text": "caf\xe9", "label": 0}\n', "utf-8"),
        ("train.parquet", b"PAR1 and then nothing", "cannot be read"),
        ("train.csv", b"", "No columns"),
        ("train.csv", b'text,label\n"a,0\n', "cannot be read"),
    ],
)
def test_a_damaged_file_is_named(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    json_lines(tmp_path / "test.jsonl", GOOD)
    with pytest.raises(UserError, match=r"train\.\w+ cannot be read .*get it again") as told:
        read("imdb", tmp_path)
    assert reason in str(told.value)


def test_a_damaged_text_of_a_tree_is_named(tmp_path: Path) -> None:
    as_tree(tmp_path)
    (tmp_path / "aclImdb/train/neg/9_9.txt").write_bytes(b"caf\xe9")
    with pytest.raises(UserError, match=r"train cannot be read \(neg/9_9\.txt is not UTF-8\)"):
        read("imdb", tmp_path)


@pytest.mark.parametrize(
    ("name", "only", "message"),
    [
        ("imdb", "train", r"there is no test part \(test\*\)"),
        ("imdb", "test", r"there is no train part \(train\*\)"),
        ("mnli", "train", r"there is no test part \(validation_matched\* or dev_matched\*"),
        ("mnli", "validation_matched", r"there is no train part \(train\*"),
        ("mnli", "test", r"there is no train part"),
    ],
)
def test_a_missing_part_is_told(name: str, only: str, message: str, tmp_path: Path) -> None:
    json_lines(tmp_path / f"{only}.jsonl", GOOD)
    with pytest.raises(UserError, match=rf"{name}: {message}(.|\n)*It should hold train") as told:
        read(name, tmp_path)
    assert str(tmp_path) in str(told.value)


def test_pairs_and_single_texts_do_not_mix(tmp_path: Path) -> None:
    json_lines(tmp_path / "train.jsonl", [{**row, "pair": "x"} for row in GOOD])
    json_lines(tmp_path / "test.jsonl", GOOD)
    with pytest.raises(UserError, match=r"holds pairs, the other does not"):
        readers.read(OURS, tmp_path)


@pytest.mark.parametrize("named", ["validation_mismatched", "multinli_1.0_dev_mismatched"])
def test_test_texts_keep_their_genre_and_training_texts_do_not(named: str, tmp_path: Path) -> None:
    """The mismatched part is one of its own; where it or a genre is missing, nothing else is."""
    rows = [{"premise": "a", "hypothesis": "b", "label": n, "genre": f"g{n}"} for n in (0, 1)]
    for name in ("train", "validation_matched"):
        json_lines(tmp_path / f"{name}.jsonl", rows)
    assert "elsewhere" not in read("mnli", tmp_path)
    json_lines(tmp_path / f"{named}.jsonl", [row | {"genre": None} for row in rows])
    parts = read("mnli", tmp_path)
    assert list(parts["train"].table.columns) == ["text", "pair", "label"]
    assert parts["test"].table["group"].tolist() == ["g0", "g1"]
    assert parts["elsewhere"].table["group"].tolist() == ["", ""]
    json_lines(tmp_path / "validation_matched.jsonl", [{"premise": "a", "hypothesis": "b", "label": 0}])
    assert "group" not in read("mnli", tmp_path)["test"].table


@pytest.mark.parametrize("kind", ["Int64", "float64", "string", "category"])
def test_a_missing_label_or_text_is_told_whatever_type_its_column_has(kind: str, tmp_path: Path) -> None:
    """pandas writes such columns, and a comparison with a missing value is neither true nor false."""
    good = pd.DataFrame(GOOD)
    good.to_parquet(tmp_path / "test.parquet")
    labels = pd.Series([0, 1, None]).astype("Int64").astype(kind)
    pd.DataFrame({"text": ["a", "b", "c"], "label": labels}).to_parquet(tmp_path / "train.parquet")
    with pytest.raises(UserError, match=r"train\.parquet: unknown labels nothing; expected 0 to 1"):
        read("imdb", tmp_path)
    texts = pd.Series(["a", "b", None], dtype="string" if kind == "string" else "category")
    pd.DataFrame({"text": texts, "label": labels.fillna(labels[0])}).to_parquet(tmp_path / "train.parquet")
    part = read("imdb", tmp_path)["train"]
    assert part.table["text"].tolist() == ["a", "b"] and part.table["label"].tolist() == [0, 1]
    assert part.dropped == {"empty": 1, "no_label": 0}


def test_a_shard_without_the_columns_is_named_and_not_taken_for_empty(tmp_path: Path) -> None:
    json_lines(tmp_path / "test.jsonl", GOOD)
    pd.DataFrame(GOOD).to_parquet(tmp_path / "train-00000-of-00002.parquet")
    other = pd.DataFrame(GOOD).rename(columns={"text": "sentence"})
    other.to_parquet(tmp_path / "train-00001-of-00002.parquet")
    with pytest.raises(UserError, match=r"train-00001-of-00002\.parquet has the columns 'sentence', 'label'; e"):
        read("imdb", tmp_path)
