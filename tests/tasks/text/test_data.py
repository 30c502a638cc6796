"""Batches hold the texts they say they hold, every text once, with little padding."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from descent.errors import UserError
from descent.schema import TokenizerSource, TrainTokenizer
from descent.tasks.text import data as text
from descent.tasks.text import prepare as tokenize
from descent.tasks.text.data import Texts, batches, by_length
from descent.tasks.text.raw import fetch
from descent.tasks.text.schema import GenerateTexts, Source
from tests.fakes.text import padding_waste


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("text")
    source = Source(generate=GenerateTexts(seed=0, train_texts=200, test_texts=30))
    fetch("mnli", source, "", place / "raw")
    tokenizer = TokenizerSource(train=TrainTokenizer(kind="wordpiece", vocabulary=300))
    how = tokenize.Tokenising("mnli", "bert", tokenizer, 40, 0.2, "", "demo")
    tokenize.prepare(place / "raw", place / "mnli-bert", how)
    return place / "mnli-bert"


def made(lengths: list[int], pad: int = 7) -> Texts:
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = rng.integers(8, 100, offsets[-1]).astype(np.uint16)
    return Texts(tokens, offsets, rng.integers(0, 3, len(lengths)), pad)


def random_lengths(count: int) -> np.ndarray:
    """Skewed as those of real texts, at most 256."""
    return np.minimum(np.random.default_rng(1).lognormal(4.5, 0.8, count).astype(np.int64) + 2, 256)


@pytest.mark.parametrize("index", [[0], [3, 1], [2, 2, 0, 3], [1, 0, 2, 3]])
def test_gather_equals_a_plain_loop(index: list[int]) -> None:
    texts = made([2, 9, 5, 3])
    tokens, lengths, labels = texts.gather(np.array(index))
    longest = max(texts.lengths[index])
    for row, number in enumerate(index):
        own = texts.tokens[texts.offsets[number] : texts.offsets[number + 1]].tolist()
        assert tokens[row].tolist() == own + [7] * (longest - len(own))
        assert lengths[row] == len(own) and labels[row] == texts.labels[number]
    assert tokens.shape == (len(index), longest)
    assert tokens.dtype == lengths.dtype == labels.dtype == torch.int64


def test_the_last_text_needs_no_token_beyond_the_end() -> None:
    texts = made([50, 2])
    tokens, _, _ = texts.gather(np.array([0, 1]))
    assert tokens[1, 2:].eq(7).all()


def test_gather_leaves_the_data_alone(folder: Path) -> None:
    train = text.load(folder).split("train")
    before = train.labels.copy()
    tokens, lengths, labels = train.gather(np.arange(8))
    for tensor in (tokens, lengths, labels):
        tensor.fill_(0)
    np.testing.assert_array_equal(train.labels, before)
    assert train.gather(np.arange(8))[0].min() >= 0 and train.gather(np.arange(8))[0].max() > 0


def test_every_text_comes_once_but_for_the_remainder() -> None:
    lengths = random_lengths(1000)
    found = batches(lengths, np.random.default_rng(2).permutation(1000), 32, 4, np.random.default_rng(3))
    assert len(found) == 1000 // 32 and {len(batch) for batch in found} == {32}
    assert len(set(np.concatenate(found))) == 31 * 32


def test_the_remainder_is_the_end_of_the_order_and_not_the_longest_texts() -> None:
    lengths, order = random_lengths(100), np.random.default_rng(0).permutation(100)
    found = np.concatenate(batches(lengths, order, 30, 2, np.random.default_rng(1)))
    assert set(found) == set(order[:90])


def test_batches_are_pools_sorted_by_length_and_shuffled() -> None:
    lengths, order = random_lengths(960), np.random.default_rng(0).permutation(960)
    found = batches(lengths, order, 16, 5, np.random.default_rng(1))
    pools = [sorted(order[begin : begin + 80], key=lambda i: lengths[i]) for begin in range(0, 960, 80)]
    expected = [tuple(pool[begin : begin + 16]) for pool in pools for begin in range(0, 80, 16)]
    assert sorted(tuple(batch) for batch in found) == sorted(expected)
    assert [tuple(batch) for batch in found] != expected
    longest = [lengths[batch].max() for batch in found]
    assert abs(np.corrcoef(longest[:-1], longest[1:])[0, 1]) < 0.4  # short batches do not follow one another


def test_batches_are_deterministic_and_differ_between_epochs() -> None:
    lengths, order = random_lengths(300), np.random.default_rng(0).permutation(300)

    def run(seed: int, size: int = 8) -> list[list[int]]:
        return [batch.tolist() for batch in batches(lengths, order, size, 4, np.random.default_rng(seed))]

    assert run(1) == run(1) != run(2)
    assert run(1, size=301) == []


def test_one_batch_to_a_pool_keeps_the_order_within() -> None:
    order = np.random.default_rng(0).permutation(64)
    found = batches(np.full(64, 5), order, 8, 1, np.random.default_rng(0))
    assert sorted(batch.tolist() for batch in found) == sorted(order.reshape(8, 8).tolist())


def test_by_length_has_every_text_once_the_shortest_first() -> None:
    lengths = random_lengths(100)
    found = by_length(lengths, 32)
    assert [len(batch) for batch in found] == [32, 32, 32, 4]
    assert sorted(np.concatenate(found)) == list(range(100))
    assert (np.diff(lengths[np.concatenate(found)]) >= 0).all()


def test_padding_waste_is_the_share_of_pads_in_gathered_batches() -> None:
    texts = made([2, 9, 5, 3, 30])
    found = [np.array([0, 1]), np.array([3, 4, 2])]
    gathered = [texts.gather(batch)[0] for batch in found]
    pads = sum(int((tokens == 7).sum()) for tokens in gathered)
    assert padding_waste(texts.lengths, found) == pytest.approx(pads / sum(tokens.numel() for tokens in gathered))


def test_pools_waste_little() -> None:
    lengths = random_lengths(5000)
    order = np.random.default_rng(0).permutation(5000)
    pooled = batches(lengths, order, 32, 32, np.random.default_rng(0))
    shuffled = batches(lengths, order, 32, 1, np.random.default_rng(0))
    assert padding_waste(lengths, pooled) < 0.05 < 0.4 < padding_waste(lengths, shuffled)
    assert padding_waste(lengths, by_length(lengths, 32)) < 0.02


def test_load_gives_the_splits_and_what_describes_them(folder: Path) -> None:
    tokens = text.load(folder)
    meta = json.loads((folder / "meta.json").read_text())
    assert (tokens.name, tokens.tokenizer, tokens.classes, tokens.pad) == ("mnli", "bert", 3, 0)
    assert (tokens.vocabulary, tokens.max_tokens, tokens.digest) == (meta["vocabulary"], 40, meta["digest"])
    assert tokens.synthetic and tokens.frequencies.sum() == meta["tokens"]["train"]
    for split, texts in meta["texts"].items():
        found = tokens.split(split)
        assert len(found) == len(found.lengths) == texts
        assert 2 < found.lengths.max() <= 40
        assert isinstance(found.tokens, np.memmap)


@pytest.mark.parametrize(
    "lost",
    ["everything", "meta.json", "test_tokens.npy", "frequencies.npy", "texts", "tokens", "emptied", "null", "zip"],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # numpy leaves the file open
def test_incomplete_data_are_told(lost: str, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "mnli/bert"
    if lost != "everything":
        copy.mkdir(parents=True)
        for path in folder.iterdir():
            if path.name != lost:
                (copy / path.name).write_bytes(path.read_bytes())
    if lost == "emptied":  # as a power cut leaves a file
        (copy / "train_offsets.npy").write_bytes(b"")
    if lost == "zip":
        (copy / "frequencies.npy").write_bytes(b"PK\x03\x04 and no more")
    if lost == "null":
        (copy / "meta.json").write_text("null")
    if lost == "texts":
        np.save(copy / "train_labels.npy", np.zeros(3, np.int64))
    if lost == "tokens":
        np.save(copy / "train_tokens.npy", np.zeros(3, np.uint16))
    with pytest.raises(UserError, match=r"missing or incomplete.*dvc repro --force preprocess_text@mnli"):
        text.load(copy)


@pytest.mark.slow
def test_training_imports_neither_the_tokenizers_nor_the_readers() -> None:
    code = "import sys, descent.tasks.text.data; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": "src"}, capture_output=True, text=True)
    assert "descent.tasks.text.data" in found.stdout.split()
    assert not {"tokenizers", "transformers", "datasets", "pandas", "pyarrow", "pydantic"} & set(
        found.stdout.split()
    )
