"""The demo texts: the same from the same seed, of the promised lengths, and labels that words tell of."""

import re
import time
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest

from descent.tasks.text.schema import GenerateTexts
from descent.tasks.text.synthetic import texts
from descent.tasks.text.synthetic.pairs import OPPOSITES, PURPOSES
from tests.fakes.tokens import DEMO, KNOWN


def generate(name: str, seed: int = 4) -> dict[str, pd.DataFrame]:
    wanted = GenerateTexts(seed=seed, train_texts=2000, test_texts=600)
    return texts.generate(name, len(KNOWN[name].CLASSES), KNOWN[name].write, wanted)


@cache
def made(name: str, seed: int = 4) -> dict[str, pd.DataFrame]:
    return generate(name, seed)


def sentences(name: str, split: str) -> pd.Series:
    table = made(name)[split]
    return table["text"] + (" | " + table["pair"] if "pair" in table else "")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("name", DEMO)
def test_the_same_seed_makes_the_same_texts_and_another_seed_others(name: str) -> None:
    again = generate(name)
    for split in ("train", "test"):
        pd.testing.assert_frame_equal(again[split], made(name)[split])
        assert (made(name, seed=5)[split]["text"] != made(name)[split]["text"]).mean() > 0.9


@pytest.mark.parametrize("name", DEMO)
def test_counts_columns_and_classes(name: str) -> None:
    classes = len(KNOWN[name].CLASSES)
    for split, count in (("train", 2000), ("test", 600)):
        table = made(name)[split]
        assert list(table.columns) == (["text", "pair", "group", "label"] if name == "mnli" else ["text", "label"])
        assert len(table) == count and table["label"].dtype == np.int64
        shares = np.bincount(table["label"], minlength=classes) / count
        assert len(shares) == classes and shares == pytest.approx(1 / classes, abs=0.05)
        assert not table["label"].is_monotonic_increasing


@pytest.mark.parametrize("name", DEMO)
def test_few_texts_occur_twice_and_hardly_any_in_both_parts(name: str) -> None:
    train, test = sentences(name, "train"), sentences(name, "test")
    assert train.duplicated().mean() < 0.01
    assert test.isin(set(train)).mean() < 0.01


def test_reviews_have_15_to_60_words_in_sentences() -> None:
    lengths = made("imdb")["train"]["text"].map(lambda text: len(text.split()))
    assert lengths.min() >= 15 and lengths.max() <= 60 and lengths.std() > 5
    assert made("imdb")["train"]["text"].str.fullmatch(r"([A-Z][^.]+\.( |$))+").all()
    assert "{" not in "".join(made("imdb")["train"]["text"])


def test_pairs_are_short_sentences() -> None:
    table = made("mnli")["train"]
    for column, longest in (("text", 25), ("pair", 25)):
        assert table[column].str.fullmatch(r"[A-Z][a-z ]+\.").all()
        assert table[column].map(lambda text: len(text.split())).between(3, longest).all()
    assert (table["text"] != table["pair"]).all()


def naive_bayes(train: pd.Series, labels: pd.Series, test: pd.Series) -> np.ndarray:
    """Labels of the test texts by their words, counted alone."""
    kinds = sorted(set(labels))
    counts = {kind: Counter(word for text in train[labels == kind] for word in set(words(text))) for kind in kinds}
    sizes = labels.value_counts()

    def score(text: str, label: int) -> float:
        return sum(np.log((counts[label][word] + 0.5) / (sizes[label] + 1)) for word in set(words(text)))

    return np.array([max(counts, key=lambda label: score(text, label)) for text in test])


@pytest.mark.parametrize(("name", "least", "most"), [("imdb", 0.78, 0.95), ("mnli", 0.75, 0.95)])
def test_words_alone_tell_much_and_not_all(name: str, least: float, most: float) -> None:
    found = naive_bayes(sentences(name, "train"), made(name)["train"]["label"], sentences(name, "test"))
    assert least < (found == made(name)["test"]["label"]).mean() < most


def test_premises_alone_tell_nothing_and_hypotheses_not_all() -> None:
    train, test = made("mnli")["train"], made("mnli")["test"]
    premises = naive_bayes(train["text"], train["label"], test["text"])
    hypotheses = naive_bayes(train["pair"], train["label"], test["pair"])
    assert (premises == test["label"]).mean() == pytest.approx(1 / 3, abs=0.07)
    assert 0.6 < (hypotheses == test["label"]).mean() < 0.92


def test_cues_lean_and_do_not_decide() -> None:
    table = made("mnli")["train"]
    for phrases, label in ((PURPOSES, 1), (OPPOSITES, 2), (("nobody", "not "), 2)):
        hit = table["pair"].str.lower().str.contains("|".join(phrases))
        assert 0.65 < (table["label"][hit] == label).mean() < 0.99
        assert hit.mean() > 0.08


def test_a_contradiction_of_changed_facts_keeps_the_other_words() -> None:
    table = made("mnli")["train"]
    plain = table[~table["pair"].str.lower().str.contains("|".join((*OPPOSITES, *PURPOSES, "not ", "nobody")))]
    plain = plain[plain["label"] == 2]
    sets = [(set(words(a)), set(words(b))) for a, b in zip(plain["text"], plain["pair"], strict=True)]
    shared = [len(premise & hypothesis) / len(hypothesis) for premise, hypothesis in sets]
    assert np.median(shared) > 0.6  # no cue, and most words of the premise


def test_generation_is_fast() -> None:
    begin = time.process_time()  # and not of the clock: other tests keep the cores busy
    for name in DEMO:
        generate(name, seed=0)
    assert time.process_time() - begin < 2.0
