"""A vocabulary of SentencePiece's byte-pair merges cuts a text as the rule says, worked out here step by step."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from descent.errors import UserError
from descent.schema import TokenizerSource
from descent.tasks.lm.speaker import build
from descent.tasks.text import sentencepiece, tokenizers

CONTROL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MERGES = ["▁t", "he", "▁the", "an", "nd", "and", "▁and", "in", "ing", "▁a", "▁an"]  # `and` of a nd, or of an d
CHARACTERS = ["▁", *"eatohnidsg."]
RANKS = {piece: -place for place, piece in enumerate(MERGES + CHARACTERS)}


def written(path: Path, ranks: dict[str, int] = RANKS, control: list[str] = CONTROL) -> Path:
    """The file as SentencePiece writes it."""
    lines = [*((piece, 0) for piece in control + BYTES), *ranks.items()]
    path.write_text("".join(f"{piece}\t{rank}\n" for piece, rank in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return sentencepiece.read(written(tmp_path_factory.mktemp("pieces") / "tokenizer.vocab"))


def cut(text: str) -> list[str]:
    """The best union of neighbours, the leftmost of equals, until there is none; then bytes of what is unknown."""
    pieces = list("▁" + text.replace(" ", "▁"))
    while unions := [(RANKS[a + b], -at) for at, (a, b) in enumerate(pairwise(pieces)) if a + b in RANKS]:
        at = -max(unions)[1]
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    return [part for p in pieces for part in ([p] if p in RANKS else [f"<0x{b:02X}>" for b in p.encode()])]


def test_a_text_is_cut_as_the_rule_says_and_comes_back(tokenizer: Tokenizer) -> None:
    drawn = random.Random(0)
    for length in range(1, 400):
        text = "".join(drawn.choices("  theandig.\nX€", k=length % 60 + 1))
        found = tokenizer.encode(text, add_special_tokens=False)
        assert found.tokens == cut(text)
        assert tokenizer.decode(found.ids) == text


def test_numbers_are_the_lines_of_the_file(tokenizer: Tokenizer) -> None:
    assert tokenizer.token_to_id("<unk>") == 0
    assert tokenizer.token_to_id("<0x0A>") == 3 + 10
    assert tokenizer.token_to_id("▁the") == 3 + 256 + MERGES.index("▁the")
    assert tokenizer.encode("the\n").ids == [261, 13]
    assert tokenizers.vocabulary(tokenizer) == len(CONTROL + BYTES + [*RANKS])


def test_a_text_begins_and_ends_as_sentencepiece_says_unless_a_file_says_otherwise(tmp_path: Path) -> None:
    written(tmp_path / "tokenizer.vocab")
    source = TokenizerSource(path=str(tmp_path))
    speaker = build(source, [], ".")
    assert (speaker.begin, speaker.end) == (1, 2)
    assert speaker.decode([speaker.begin, *speaker.encode(["and the"])[0], speaker.end]) == "and the"
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<s>"}')
    assert build(source, [], ".").end == 1
    (tmp_path / "tokenizer_config.json").write_text('{"bos_token": null, "eos_token": "</s>"}')
    assert (build(source, [], ".").begin, build(source, [], ".").end) == (None, 2)
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<other>"}')
    with pytest.raises(UserError, match="names no token that ends a text"):
        build(source, [], ".")
    written(tmp_path / "tokenizer.vocab", control=["<unk>", "<s>"])
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(UserError, match="names no token that ends a text"):
        build(source, [], ".")


@pytest.mark.parametrize(
    "content",
    [
        b"<unk>\t0\n<s>\t0\na\t-1.5\n",  # a unigram model's logarithms
        b"<s>\t0\na\t-1\n",
        b"<unk>\t0\na\t-1\na\t-2\n",
        b"<unk>\t0\nno tab\n",
        b"<unk>\t0\na\tb\n",
        b"<unk>\t0\na\tinf\n",
        b"<unk>\t0\n\xff\t-1\n",
        b"",
    ],
)
def test_another_file_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.vocab").write_bytes(content)
    with pytest.raises(UserError, match=r"tokenizer\.vocab is no vocabulary of SentencePiece's"):
        tokenizers.read(tmp_path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "tokenizer.vocab")

    def refused(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(UserError, match=r"cannot read .*tokenizer\.vocab \(.*Permission denied"):
        tokenizers.read(tmp_path)
