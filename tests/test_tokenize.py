"""Tokenizers lay texts out as BERT and RoBERTa do, the same in every process; splits are what they say."""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from descent import params
from descent.datasets import synthetic_text, text, tokenizers
from descent.datasets.tokenize import held_out, prepare
from descent.errors import UserError
from descent.schema_text import GenerateTexts, Hub, TokenizerSource, TrainTokenizer
from stages import download_text, preprocess_text

DEMO = {
    name: synthetic_text.generate(name, GenerateTexts(seed=3, train_texts=300, test_texts=40))
    for name in ("imdb", "mnli")
}
SOURCES = {kind: TokenizerSource(train=TrainTokenizer(kind=kind, vocabulary=400)) for kind in ("wordpiece", "bpe")}
TRAINED = {kind: tokenizers.build(source, DEMO["imdb"]["train"]["text"], "") for kind, source in SOURCES.items()}
ENDS = {"wordpiece": ("[CLS]", ["[SEP]"], "[SEP]"), "bpe": ("<s>", ["</s>", "</s>"], "</s>")}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


@pytest.mark.parametrize("kind", SOURCES)
def test_special_tokens_have_the_numbers_of_the_original(kind: str) -> None:
    found = [TRAINED[kind].id_to_token(number) for number in range(5)]
    expected = {
        "wordpiece": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        "bpe": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    }
    assert found == expected[kind]
    assert tokenizers.special(TRAINED[kind]).pad == {"wordpiece": 0, "bpe": 1}[kind]
    assert 300 < tokenizers.vocabulary(TRAINED[kind]) <= 400


@pytest.mark.parametrize("kind", SOURCES)
def test_single_texts_and_pairs_are_enclosed(kind: str) -> None:
    first, between, last = ENDS[kind]
    tokenizer = TRAINED[kind]
    a, b = (tokenizer.encode(words, add_special_tokens=False).tokens for words in ("the plot", "a good cast"))
    assert tokenizer.encode("the plot").tokens == [first, *a, last]
    assert tokenizer.encode("the plot", "a good cast").tokens == [first, *a, *between, *b, last]


@pytest.mark.parametrize("kind", SOURCES)
def test_decoding_gives_the_text_back(kind: str) -> None:
    for original in DEMO["imdb"]["test"]["text"]:
        decoded = TRAINED[kind].decode(TRAINED[kind].encode(original).ids)
        if kind == "bpe":
            assert decoded == original
        else:
            assert decoded.replace(" ", "") == original.lower().replace(" ", "")


def test_byte_level_has_no_unknown_text_and_wordpiece_has() -> None:
    odd = "naïve 映画 \N{GRINNING FACE}"
    assert TRAINED["bpe"].decode(TRAINED["bpe"].encode(odd).ids) == odd
    assert "[UNK]" in TRAINED["wordpiece"].encode(odd).tokens
    assert TRAINED["wordpiece"].encode("FILM").ids == TRAINED["wordpiece"].encode("film").ids


def test_training_is_the_same_in_every_process() -> None:
    code = (
        "import hashlib\n"
        "from descent.datasets import synthetic_text, tokenizers\n"
        "from descent.schema_text import *\n"
        "wanted = GenerateTexts(seed=3, train_texts=300, test_texts=1)\n"
        "texts = synthetic_text.generate('imdb', wanted)['train']['text']\n"
        "for kind in ('wordpiece', 'bpe'):\n"
        "    source = TokenizerSource(train=TrainTokenizer(kind=kind, vocabulary=400))\n"
        "    print(hashlib.sha256(tokenizers.build(source, texts, '').to_str().encode()).hexdigest())"
    )
    source = str(Path(__file__).parents[1] / "src")
    found = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONPATH": source, "PYTHONHASHSEED": seed}
        found.add(
            subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout
        )
    assert len(found) == 1 and len(found.pop().split()) == 2


def test_every_trained_word_is_made_of_characters_that_have_both_forms() -> None:
    vocabulary = TRAINED["wordpiece"].get_vocab()
    single = {token for token in vocabulary if len(token) == 1}
    assert all(f"##{character}" in vocabulary for character in single)
    assert set("".join(DEMO["imdb"]["train"]["text"]).lower()) - {" "} == single
    assert TRAINED["wordpiece"].encode("##a").tokens == [
        "[CLS]",
        "[UNK]",
        "[UNK]",
        "a",
        "[SEP]",
    ]  # no special tokens


def files(folder: Path, kind: str) -> Path:
    """The original layouts: vocab.txt, or vocab.json and merges.txt."""
    folder.mkdir(parents=True)
    tokenizer = TRAINED[kind]
    if kind == "wordpiece":
        words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        (folder / "vocab.txt").write_text("".join(f"{word}\n" for word, _ in words), encoding="utf-8")
    else:
        tokenizer.model.save(str(folder))
    return folder


def fails(path: str, message: str) -> str:
    with pytest.raises(UserError, match=message) as told:
        tokenizers.build(TokenizerSource(path=path), [], "local")
    return str(told.value)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_local_folder_gives_the_same_tokenizer(kind: str, here: Path) -> None:
    files(here / "local/original", kind)
    (here / "local/whole").mkdir()
    TRAINED[kind].save(str(here / "local/whole/tokenizer.json"))
    for folder in ("original", "whole"):
        found = tokenizers.build(TokenizerSource(path=folder), [], "local")
        for first, second in zip(DEMO["mnli"]["test"]["text"], DEMO["mnli"]["test"]["pair"], strict=True):
            assert found.encode(first, second).ids == TRAINED[kind].encode(first, second).ids
        assert found.encode("a </s> b [SEP]").ids == TRAINED[kind].encode("a </s> b [SEP]").ids


def test_limits_and_layout_stored_with_a_tokenizer_do_not_hold(here: Path) -> None:
    odd = Tokenizer.from_str(TRAINED["wordpiece"].to_str())
    odd.enable_truncation(3)
    odd.enable_padding(length=9)
    odd.post_processor = None
    (here / "local/odd").mkdir(parents=True)
    odd.save(str(here / "local/odd/tokenizer.json"))
    found = tokenizers.build(TokenizerSource(path="odd"), [], "local")
    assert found.to_str() == TRAINED["wordpiece"].to_str()


def test_a_local_tokenizer_that_is_missing_or_damaged_is_told(here: Path) -> None:
    message = fails("nowhere", r"there is no tokenizer in local/nowhere; it should hold tokenizer\.json")
    assert "local_data" in message and "merges.txt" in message
    for name, content in (("a/tokenizer.json", "{"), ("b/vocab.json", "{"), ("b/merges.txt", "")):
        (here / "local" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "local" / name).write_text(content)
    fails("a", r"cannot read local/a/tokenizer\.json")
    fails("b", r"cannot read local/b/vocab\.json and merges\.txt")


def test_a_tokenizer_without_special_tokens_is_told(here: Path) -> None:
    plain = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    plain.normalizer, plain.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    (here / "local/plain").mkdir(parents=True)
    plain.save(str(here / "local/plain/tokenizer.json"))
    fails("plain", r"neither \[PAD\], \[CLS\], \[SEP\] and \[UNK\] \(BERT\) nor <pad>.*params\.yaml")


def test_without_the_hub_the_local_way_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Offline:
        @staticmethod
        def from_pretrained(name: str, revision: str) -> None:
            raise OSError(f"cannot reach {name} at {revision}")

    monkeypatch.setattr(tokenizers, "Tokenizer", Offline)
    with pytest.raises(
        UserError, match=r"tokenizer of a/b from the Hugging Face hub \(cannot reach a/b at main\)"
    ) as told:
        tokenizers.build(TokenizerSource(hub=Hub(id="a/b")), [], "local")
    assert "`path`" in str(told.value) and "vocab.txt" in str(told.value)


def raw(folder: Path, name: str = "mnli", parts: dict[str, pd.DataFrame] | None = None) -> Path:
    folder.mkdir(parents=True)
    for part, table in (parts or DEMO[name]).items():
        table.to_parquet(folder / f"{part}.parquet")
    names = ["entailment", "neutral", "contradiction"] if name == "mnli" else ["negative", "positive"]
    (folder / "source.json").write_text(json.dumps({"synthetic": True, "classes": names, "dropped": {}}))
    return folder


def prepared(here: Path, kind: str = "wordpiece", name: str = "mnli", limit: int = 26, out: str = "out") -> Path:
    folder = here / "raw" if (here / "raw").exists() else raw(here / "raw", name)
    prepare(name, folder, here / out, SOURCES[kind], "bert", limit, 0.1, "local", "demo")
    return here / out


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", DEMO)
def test_tokens_are_those_of_each_text_alone(kind: str, name: str, here: Path) -> None:
    out = prepared(here, kind, name)
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    meta = json.loads((out / "meta.json").read_text())
    tokenizer.enable_truncation(26, strategy="longest_first")
    train = DEMO[name]["train"]
    held = held_out(train["text"].tolist(), 0.1)
    tables = {"train": train[~held], "validation": train[held], "test": DEMO[name]["test"]}
    everything = Counter()
    for split, table in tables.items():
        tokens, offsets, labels = (
            np.load(out / f"{split}_{array}.npy") for array in ("tokens", "offsets", "labels")
        )
        expected = [tokenizer.encode(*row[:-1]) for row in table.itertuples(index=False, name=None)]
        found = [tokens[first:last].tolist() for first, last in pairwise(offsets)]
        assert found == [encoding.ids for encoding in expected]
        assert (tokens.dtype, offsets.dtype, labels.dtype) == (np.uint16, np.int64, np.int64)
        assert labels.tolist() == table["label"].tolist()
        assert meta["texts"][split] == len(table) and meta["tokens"][split] == len(tokens)
        assert meta["cut"][split] == sum(bool(encoding.overflowing) for encoding in expected)
        if split == "train":
            everything.update(tokens.tolist())
    frequencies = np.load(out / "frequencies.npy")
    assert frequencies.dtype == np.int64 and len(frequencies) == meta["vocabulary"]
    assert {token: count for token, count in enumerate(frequencies) if count} == dict(everything)
    assert frequencies[meta["pad"]] == 0


def test_meta_says_what_was_done(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meta = json.loads((prepared(here) / "meta.json").read_text())
    assert (meta["dataset"], meta["tokenizer"], meta["profile"]) == ("mnli", "bert", "demo")
    assert (meta["pad"], meta["pairs"], meta["max_tokens"], meta["synthetic"]) == (0, True, 26, True)
    assert meta["classes"] == ["entailment", "neutral", "contradiction"] and len(meta["digest"]) == 64
    assert sum(meta["texts"].values()) == 340 and meta["texts"]["test"] == 40
    cut = sum(meta["cut"].values())
    assert 0 < cut < 340
    assert f"out: {cut} of 340 texts ({cut / 340:.1%}) are longer than 26 tokens" in capsys.readouterr().out


def test_the_same_input_gives_the_same_bytes_and_another_another_digest(here: Path) -> None:
    first, second = prepared(here, out="a"), prepared(here, out="b")
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {
        p.name: p.read_bytes() for p in second.iterdir()
    }
    other = prepared(here, limit=16, out="c")
    digests = [json.loads((folder / "meta.json").read_text())["digest"] for folder in (first, other)]
    assert digests[0] != digests[1]


def test_a_large_vocabulary_takes_wider_numbers(here: Path) -> None:
    folder = here / "local/large"
    folder.mkdir(parents=True)
    words = [*TRAINED["wordpiece"].get_vocab(), *(f"word{number}" for number in range(66_000))]
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
    source = TokenizerSource(path="large")
    prepare("mnli", raw(here / "raw"), here / "out", source, "bert", 24, 0.1, "local", "demo")
    assert np.load(here / "out/train_tokens.npy").dtype == np.int32
    assert text.load(here / "out").vocabulary == len(words)


def test_the_validation_texts_do_not_depend_on_order() -> None:
    texts = [f"text {number}" for number in range(5000)]
    held = held_out(texts, 0.1)
    assert held.mean() == pytest.approx(0.1, abs=0.02)
    order = np.random.default_rng(0).permutation(5000)
    np.testing.assert_array_equal(held_out([texts[i] for i in order], 0.1), held[order])
    more = held_out(texts, 0.2)
    assert more[held].all() and more.mean() == pytest.approx(0.2, abs=0.02)


def test_equal_texts_and_equal_premises_stay_together() -> None:
    texts = [(f"premise {number % 200}", f"hypothesis {number}") for number in range(600)]
    held = held_out(texts, 0.3).reshape(3, 200)
    assert (held == held[0]).all() and held.any() and not held.all()


def test_test_texts_seen_in_training_are_counted(here: Path) -> None:
    parts = {
        "train": DEMO["imdb"]["train"],
        "test": pd.concat([DEMO["imdb"]["test"], DEMO["imdb"]["train"].head(7)]),
    }
    raw(here / "raw", "imdb", parts)
    assert json.loads((prepared(here, name="imdb") / "meta.json").read_text())["repeated"] == 7


def test_too_few_texts_are_told(here: Path) -> None:
    parts = {part: table.head(1) for part, table in DEMO["mnli"].items()}
    raw(here / "raw", parts=parts)
    with pytest.raises(UserError, match=r"mnli: 1 training texts are too few to hold out a share of 0\.1"):
        prepared(here)
    assert not (here / "out").exists() and not list(here.glob(".out*"))


@pytest.mark.parametrize("lost", ["everything", "source.json", "train.parquet", "content"])
def test_missing_raw_data_are_told(lost: str, here: Path) -> None:
    folder = raw(here / "raw/mnli")
    if lost == "everything":
        folder = here / "raw/none"
    elif lost == "content":
        (folder / "test.parquet").write_bytes(b"PAR1")
    else:
        (folder / lost).unlink()
    with pytest.raises(
        UserError, match=rf"missing or incomplete: run `dvc repro --force download_text@{folder.name}`"
    ):
        prepare("mnli", folder, here / "out", SOURCES["bpe"], "roberta", 24, 0.1, "local", "demo")


def test_the_stages_lead_from_params_yaml_to_batches(here: Path) -> None:
    (here / "params.yaml").write_text((Path(__file__).parents[1] / "params.yaml").read_text())
    download_text.main("mnli")
    preprocess_text.main("mnli", "roberta")
    tokens = text.load(here / "data/tokens/mnli/roberta")
    assert (tokens.name, tokens.tokenizer, tokens.pad, tokens.classes, tokens.synthetic) == (
        "mnli",
        "roberta",
        1,
        3,
        True,
    )
    assert tokens.max_tokens == params.load().budget.text.max_tokens
    with pytest.raises(UserError, match=r"unknown tokenizer 'gpt'; known: bert, roberta"):
        preprocess_text.main("mnli", "gpt")
    with pytest.raises(UserError, match=r"unknown text data set 'ucsd'; known: imdb, mnli"):
        preprocess_text.main("ucsd", "bert")
