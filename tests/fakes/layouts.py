"""A few reviews and pairs of texts in every layout in which such data sets are handed out."""

import csv
import json
from pathlib import Path

import pandas as pd

REVIEWS = {
    "train": [("a dull, long film", 0), ('she said "no" <br />twice', 0), ("NA", 1), ("a café in\nspring", 1)],
    "test": [("null", 1), ("dull", 0)],
}
NAMES = ("entailment", "neutral", "contradiction")
PAIRS = {
    "train": [("a dog runs", "an animal runs", 0), ('the "red" hat', "a hat", 1), ("NA", "nobody, ever", 2)],
    "test": [("two men", "one man", 2), ("one cat", "a cat", 0)],
}
PAIR_PARTS = {"train": "train", "test": "validation_matched"}
OFFICIAL_PARTS = {"train": "multinli_1.0_train", "test": "multinli_1.0_dev_matched"}


def json_lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def frame(split: str) -> pd.DataFrame:
    return pd.DataFrame(REVIEWS[split], columns=["text", "label"])


def as_parquet(root: Path) -> None:
    for split in REVIEWS:
        frame(split).to_parquet(root / f"{split}.parquet")


def as_shards(root: Path) -> None:
    (root / "plain_text").mkdir()
    for split in REVIEWS:
        for number in (0, 1):
            rows = frame(split).iloc[number::2].sort_index()
            rows.to_parquet(root / f"plain_text/{split}-{number:05d}-of-00002.parquet")
    frame("test").to_parquet(root / "plain_text/unsupervised-00000-of-00001.parquet")


def as_json_lines(root: Path) -> None:
    for split in REVIEWS:
        json_lines(root / f"{split}.jsonl", [{"id": 7, **row} for row in frame(split).to_dict("records")])


def as_csv(root: Path) -> None:
    for split in REVIEWS:
        frame(split).replace({"label": {0: "negative", 1: "positive"}}).to_csv(root / f"{split}.csv", index=False)


def as_tree(root: Path) -> None:
    for split, rows in REVIEWS.items():
        for folder in ("pos", "neg", "unsup"):
            (root / "aclImdb" / split / folder).mkdir(parents=True)
        (root / f"aclImdb/{split}/unsup/0_0.txt").write_text("no label")
        (root / f"aclImdb/{split}/urls_pos.txt").write_text("http://")
        for number, (text, label) in enumerate(rows):
            (root / f"aclImdb/{split}/{('neg', 'pos')[label]}/{number}_9.txt").write_text(text, encoding="utf-8")
    (root / "__MACOSX").mkdir()
    (root / "__MACOSX/._train.csv").write_text("junk")


def hub_layout(root: Path) -> None:
    for split, rows in PAIRS.items():
        columns = ["premise", "hypothesis", "label"]
        pd.DataFrame(rows, columns=columns).to_parquet(root / f"{PAIR_PARTS[split]}-00000-of-00001.parquet")
    hidden = pd.DataFrame([("a", "b", -1)], columns=columns)
    hidden.to_parquet(root / "test_matched-00000-of-00001.parquet")
    hidden.to_parquet(root / "test_mismatched-00000-of-00001.parquet")


def official_rows(split: str) -> list[dict]:
    disputed = {"gold_label": "-", "sentence1": "x", "sentence2": "y"}
    rows = [{"gold_label": NAMES[label], "sentence1": a, "sentence2": b} for a, b, label in PAIRS[split]]
    return [*rows, disputed]


def official_json_lines(root: Path) -> None:
    folder = root / "multinli_1.0"
    folder.mkdir()
    for split in PAIRS:
        json_lines(folder / f"{OFFICIAL_PARTS[split]}.jsonl", official_rows(split))
        (folder / f"{OFFICIAL_PARTS[split]}.txt").write_text("the same once more")
    json_lines(folder / "multinli_1.0_dev_mismatched.jsonl", official_rows("test"))


def tabs(path: Path, rows: list[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None)
        writer.writeheader()
        writer.writerows(rows)


def official_tabs(root: Path) -> None:
    for split in PAIRS:
        tabs(root / f"{OFFICIAL_PARTS[split]}.txt", official_rows(split))


def glue_tabs(root: Path) -> None:
    for split, name in (("train", "train"), ("test", "dev_matched")):
        tabs(root / f"{name}.tsv", official_rows(split))
    tabs(root / "test_matched.tsv", [{"sentence1": "x", "sentence2": "y"}])
