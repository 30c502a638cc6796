"""What the tables of a text data set look like at their source, and how they become ours: text, pair, label."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int64

from descent.errors import UserError

NO_AGREEMENT = "-"  # MultiNLI's gold label where its annotators did not agree
HIDDEN = -1
# The hub's name and MultiNLI's own; where both are there, the first.
LABELS = ("label", "gold_label")


@dataclass(frozen=True)
class Layout:
    """How one data set is stored.

    Args:
        train, test: what the names of the parts begin with, the first choice first.
        texts: sets of columns that hold the text, or the two texts.
        classes: names in the order of the labels; None takes those that the training part has.
        folders: for a folder of .txt files per class, the folders' names in the order of the labels.
        tree, address: what the message about a missing data set says.
    """

    train: tuple[str, ...] = ("train",)
    test: tuple[str, ...] = ("test",)
    texts: tuple[tuple[str, ...], ...] = (("text",), ("text", "pair"))
    classes: tuple[str, ...] | None = None
    folders: tuple[str, ...] = ()
    tree: str = "train* and test* (.parquet, .jsonl, .csv) with the columns text (and pair) and label"
    address: str = "the data set's authors"


LAYOUTS = {
    "imdb": Layout(
        texts=(("text",),),
        classes=("negative", "positive"),
        folders=("neg", "pos"),
        tree="train*.parquet and test*.parquet (or .jsonl, .csv) with the columns text and label,\n"
        "or the original train/pos/*.txt, train/neg/*.txt, test/pos/*.txt, test/neg/*.txt",
        address="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
    ),
    "mnli": Layout(
        train=("train", "multinli_1.0_train"),
        test=("validation_matched", "dev_matched", "multinli_1.0_dev_matched"),
        texts=(("premise", "hypothesis"), ("sentence1", "sentence2"), ("text", "pair")),
        classes=("entailment", "neutral", "contradiction"),
        tree="train*.parquet and validation_matched*.parquet (or .jsonl, .csv) with the columns premise,\n"
        "hypothesis and label, or the original multinli_1.0_train.jsonl and multinli_1.0_dev_matched.jsonl",
        address="https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
    ),
}


def layout(name: str) -> Layout:
    """The layout of a data set; one that is not known here has plain column names."""
    return LAYOUTS.get(name, Layout())


@dataclass(frozen=True)
class Part:
    """The training or the test part.

    Args:
        table: columns text, pair (for pairs) and label (int64).
        dropped: how many rows were left out, by reason.
    """

    table: pd.DataFrame
    dropped: dict[str, int]


def columns(found: list[str], form: Layout, where: str) -> list[str]:
    """Which of the columns found hold the text or texts, and, last, the label.

    Raises:
        UserError: some are not there.
    """
    texts = [names for names in form.texts if set(names) <= set(found)]
    labels = [name for name in LABELS if name in found]
    if not texts or not labels:
        expected = " or ".join(", ".join(names) for names in form.texts)
        raise UserError(
            f"{where} has the columns {', '.join(map(repr, found)) or '(none)'}; "
            f"expected {expected}, and {' or '.join(LABELS)}: rename them"
        )
    return [*max(texts, key=len), labels[0]]


def clean(frame: pd.DataFrame, form: Layout, classes: tuple[str, ...] | None, where: str) -> Part:
    """Only what is needed, under our names; empty texts and rows without an agreed label are dropped and counted.

    Args:
        classes: the names of the labels 0, 1, ...; None: see `class_names`.
        where: the file or the part that messages name.

    Raises:
        UserError: missing columns, texts that are none, unknown labels, or nothing left.
    """
    names = columns(list(frame.columns), form, where)
    table = frame[names].set_axis(["text", "pair", "label"] if len(names) == 3 else ["text", "label"], axis=1)
    agreed = table["label"] != NO_AGREEMENT
    filled = pd.Series(True, index=table.index)
    for name, original in zip(table.columns[:-1], names, strict=False):
        words = table[name].fillna("")
        if not pd.api.types.is_string_dtype(words):
            raise UserError(f"{where}: the column {original!r} holds something else than texts")
        filled &= words.str.strip() != ""
    kept = table[agreed & filled].reset_index(drop=True)
    dropped = {"empty": int((~filled).sum()), "no_label": int((filled & ~agreed).sum())}
    if kept.empty:
        counts = f"{dropped['empty']} are empty, {dropped['no_label']} have no label"
        raise UserError(f"{where}: none of the {len(table)} texts can be used ({counts})")
    kept["label"] = _numbers(kept["label"], classes or class_names(kept["label"]), where)
    return Part(kept, dropped)


def class_names(labels: pd.Series) -> tuple[str, ...]:
    """Names for the labels of a data set that is not known here: its strings sorted, or 0 ... largest."""
    names = set(map(str, labels)) - {NO_AGREEMENT}
    if all(name.isdecimal() for name in names):
        return tuple(map(str, range(max(map(int, names), default=0) + 1)))
    return tuple(sorted(names))


def _numbers(labels: pd.Series, classes: tuple[str, ...], where: str) -> Int64[np.ndarray, " texts"]:
    """Labels as numbers 0 ... classes - 1, from numbers, digits or names.

    Raises:
        UserError: a label that is none of these.
    """
    known: Mapping[object, int] = {str(number): number for number in range(len(classes))}
    known = known | {name: number for number, name in enumerate(classes)}
    numbers = labels.map(str).map(known)
    if numbers.isna().any():
        wrong = sorted(set(map(str, labels[numbers.isna()])))
        hint = " (-1 stands for a hidden label: take a part whose labels are published)" * (str(HIDDEN) in wrong)
        raise UserError(
            f"{where}: unknown labels {', '.join(wrong[:5])}{hint}; "
            f"expected 0 to {len(classes) - 1} or {', '.join(classes)}"
        )
    return numbers.to_numpy(np.int64)


def check_classes(part: Part, name: str) -> None:
    """Raises UserError where the training part holds one class only."""
    found = part.table["label"].unique()
    if len(found) < 2:
        raise UserError(f"{name}: all training texts have the label {found[0]}; a classifier needs two classes")
