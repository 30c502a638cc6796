"""What the tables of a text data set look like at their source, and how they become ours: text, pair, label."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pandas as pd
from jaxtyping import Int64

from descent.errors import UserError
from descent.io import sources

NO_AGREEMENT = "-"  # MultiNLI's gold label where its annotators did not agree
HIDDEN = -1
NOTHING = "nothing"  # what a missing label is called
# The hub's name and MultiNLI's own; where both are there, the first.
LABELS = ("label", "gold_label")


@dataclass(frozen=True)
class Layout:
    """How one data set is stored: what its file in datasets/ says.

    Args:
        train, test: what the names of the parts begin with, the first choice first.
        texts: sets of columns that hold the text, or the two texts.
        classes: their names, in the order of the labels.
        folders: for a folder of .txt files per class, the folders' names in the order of the labels.
        tree: what the message about a missing part says.
        elsewhere: of a second test part, of kinds of text that training has not seen; it may be absent.
        group: the column that names a test text's kind.
    """

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    folders: tuple[str, ...]
    tree: str
    elsewhere: tuple[str, ...] = ()
    group: str = ""


def layout(dataset: ModuleType) -> Layout:
    """The layout of a data set, from its file."""
    return Layout(
        name=sources.name(dataset),
        train=dataset.TRAIN,
        test=dataset.TEST,
        texts=dataset.TEXTS,
        classes=dataset.CLASSES,
        folders=getattr(dataset, "FOLDERS", ()),
        tree=dataset.TREE,
        elsewhere=getattr(dataset, "ELSEWHERE", ()),
        group=getattr(dataset, "GROUP", ""),
    )


@dataclass(frozen=True)
class Part:
    """The training or a test part.

    Args:
        table: columns text, pair (for pairs), label (int64), and group (of test texts) where the source has it.
        dropped: how many rows were left out, by reason.
    """

    table: pd.DataFrame
    dropped: dict[str, int]


def columns(found: list[str], form: Layout, where: str) -> dict[str, str]:
    """Our names of the columns found that matter: text, pair, label, group.

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
    named = dict(zip(max(texts, key=len), ("text", "pair"), strict=False)) | {labels[0]: "label"}
    groups = [name for name in (form.group, "group") if form.group and name in found]  # the source's name, or ours
    return named | ({groups[0]: "group"} if groups else {})


def clean(frame: pd.DataFrame, form: Layout, where: str) -> Part:
    """Only what is needed, under our names; empty texts and rows without an agreed label are dropped and counted.

    Args:
        where: the file or the part that messages name.

    Raises:
        UserError: missing columns, texts that are none, unknown labels, or nothing left.
    """
    names = columns(list(frame.columns), form, where)
    table = frame[list(names)].rename(columns=names)
    # Of a type that knows missing values a comparison with one is neither true nor false.
    table["label"] = table["label"].astype(object).where(table["label"].notna(), NOTHING)
    agreed = table["label"] != NO_AGREEMENT
    filled = pd.Series(True, index=table.index)
    for original, name in names.items():
        if name not in ("text", "pair"):
            continue
        words = table[name].astype(object).fillna("")
        if not pd.api.types.is_string_dtype(words):
            raise UserError(f"{where}: the column {original!r} holds something else than texts")
        filled &= words.str.strip() != ""
    kept = table[agreed & filled].reset_index(drop=True)
    dropped = {"empty": int((~filled).sum()), "no_label": int((filled & ~agreed).sum())}
    if kept.empty:
        counts = f"{dropped['empty']} are empty, {dropped['no_label']} have no label"
        raise UserError(f"{where}: none of the {len(table)} texts can be used ({counts})")
    kept["label"] = _numbers(kept["label"], form.classes, where)
    if "group" in kept:
        kept["group"] = kept["group"].astype(object).fillna("").astype(str)  # of whatever type a file has it
    return Part(kept, dropped)


def _numbers(labels: pd.Series, classes: tuple[str, ...], where: str) -> Int64[np.ndarray, " texts"]:
    """Labels as numbers 0 ... classes - 1, from numbers, digits or names.

    Raises:
        UserError: a label that is none of these.
    """
    known: Mapping[object, int] = {str(number): number for number in range(len(classes))}
    known = known | {name: number for number, name in enumerate(classes)}
    words = labels.map(_word)
    numbers = words.map(known)
    if numbers.isna().any():
        wrong = sorted(set(words[numbers.isna()]))
        hint = " (-1 stands for a hidden label: take a part whose labels are published)" * (str(HIDDEN) in wrong)
        raise UserError(
            f"{where}: unknown labels {', '.join(wrong[:5])}{hint}; "
            f"expected 0 to {len(classes) - 1} or {', '.join(classes)}"
        )
    return numbers.to_numpy(np.int64)


def _word(label: object) -> str:
    """A label as it is written; a column of integers that lacks one is of floats."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def check_classes(part: Part, name: str) -> None:
    """Raises UserError where the training part holds one class only."""
    found = part.table["label"].unique()
    if len(found) < 2:
        raise UserError(f"{name}: all training texts have the label {found[0]}; a classifier needs two classes")
