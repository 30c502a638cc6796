"""Tokenizers lay texts out as BERT and RoBERTa do, the same in every process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from descent.errors import UserError
from descent.schema import Hub, TokenizerSource
from descent.tasks.text import tokenizers
from tests.fakes.tokens import DEMO, SOURCES, TRAINED

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
        "from tests.fakes.tokens import TRAINED\n"
        "for tokenizer in TRAINED.values():\n"
        "    print(hashlib.sha256(tokenizer.to_str().encode()).hexdigest())"
    )
    root = Path(__file__).parents[3]
    found = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONPATH": f"{root / 'src'}:{root}", "PYTHONHASHSEED": seed}
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
