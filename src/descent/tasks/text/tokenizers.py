"""Tokenizers: trained on a data set's own texts, read from a local folder, or taken from the Hugging Face hub."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from descent.errors import UserError
from descent.io import hub
from descent.io.failures import told
from descent.io.places import local
from descent.schema import TokenizerSource, TrainTokenizer
from descent.tasks.text import sentencepiece

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
FILES = (
    "tokenizer.json, or vocab.txt (WordPiece, lower case), or vocab.json and merges.txt (byte-level BPE), or "
    f"{sentencepiece.FILE} (SentencePiece's BPE)"
)
AGAIN = "Get it again."
MOST = 10_000_000  # tokens of a vocabulary
RAREST = 2  # a pair of symbols that occurs less often is not merged


@dataclass(frozen=True)
class Special:
    """Numbers of the tokens around a text."""

    pad: int
    first: int
    last: int


def build(source: TokenizerSource, texts: Iterable[str], local_data: str) -> Tokenizer:
    """A tokenizer that neither truncates nor pads: [CLS] a [SEP] b [SEP], or <s> a </s></s> b </s>.

    The same source and texts give the same tokenizer, in every process.

    Args:
        texts: what `train` makes the vocabulary from; the other sources leave it alone.
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: missing or unreadable files, no answer of the hub, or no special tokens.
    """
    if source.train is not None:
        tokenizer = _trained(source.train, texts)
    elif source.path is not None:
        tokenizer = read(local(local_data, source.path))
    else:
        wanted = source.hub
        tokenizer = hub.answer(
            lambda: Tokenizer.from_pretrained(wanted.id, revision=wanted.revision or "main"),
            f"the tokenizer of {wanted.id}",
            "Run again with a connection, or name a local folder with `path` in place of `hub` in params.yaml; "
            f"it should hold {FILES}",
        )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    _enclose(tokenizer)
    return tokenizer


def special(tokenizer: Tokenizer) -> Special:
    """The special tokens' numbers.

    Raises:
        UserError: it has neither BERT's nor RoBERTa's.
    """
    for family in (("[PAD]", "[CLS]", "[SEP]", "[UNK]"), ("<pad>", "<s>", "</s>")):
        numbers = [tokenizer.token_to_id(token) for token in family]
        if None not in numbers:
            return Special(*numbers[:3])
    raise UserError(
        "the tokenizer has neither [PAD], [CLS], [SEP] and [UNK] (BERT) nor <pad>, <s> and </s> (RoBERTa): "
        "take another one under profiles.<profile>.text.tokenizers in params.yaml"
    )


def vocabulary(tokenizer: Tokenizer) -> int:
    """How many rows an embedding needs: one more than the largest token number.

    Raises:
        UserError: more than any embedding has.
    """
    rows = max(tokenizer.get_vocab().values(), default=0) + 1
    if rows > MOST:
        raise UserError(
            f"the tokenizer's vocabulary counts to {rows:,}, more than {MOST:,}: its files are damaged, "
            "get them again"
        )
    return rows


def unknown(tokenizer: Tokenizer) -> str:
    """The token in place of a word that it does not know; empty of one that knows all, as of bytes."""
    return getattr(tokenizer.model, "unk_token", None) or ""


def check_known(
    tokenizer: Tokenizer, frequencies: Int64[np.ndarray, " vocabulary"], specials: Iterable[int]
) -> None:
    """Raises UserError for a tokenizer that knows less than half of what it reads in the training texts.

    Args:
        specials: numbers of the tokens around a text, which count for nothing.
    """
    number = tokenizer.token_to_id(unknown(tokenizer))
    lost = 0 if number is None else int(frequencies[number])
    known = int(frequencies.sum()) - lost - sum(int(frequencies[other]) for other in {*specials} - {number})
    if known <= lost:
        raise UserError(
            f"the tokenizer knows almost none of the training texts' words ({known:,} tokens, and {lost:,} "
            "unknown): take one of the texts' own language"
        )


def _enclose(tokenizer: Tokenizer) -> None:
    """Set the special tokens around a text and between two."""
    ends = special(tokenizer)
    first = tokenizer.id_to_token(ends.first)
    last = tokenizer.id_to_token(ends.last)
    if first == "[CLS]":
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}",
            pair=f"{first} $A {last} $B:1 {last}:1",
            special_tokens=[(first, ends.first), (last, ends.last)],
        )
    else:
        tokenizer.post_processor = processors.RobertaProcessing((last, ends.last), (first, ends.first))


def _wordpiece(numbers: dict[str, int]) -> Tokenizer:
    """BERT's uncased tokenizer with this vocabulary."""
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([token for token in BERT if token in numbers])
    return tokenizer


def _byte_level(model: models.BPE) -> Tokenizer:
    """RoBERTa's tokenizer with this vocabulary and these merges."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([token for token in ROBERTA if model.token_to_id(token) is not None])
    return tokenizer


def _trained(wanted: TrainTokenizer, texts: Iterable[str]) -> Tokenizer:
    if wanted.kind == "wordpiece":
        return _trained_wordpiece(wanted.vocabulary, texts)
    tokenizer = _byte_level(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=wanted.vocabulary,
        min_frequency=RAREST,
        special_tokens=list(ROBERTA),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _trained_wordpiece(size: int, texts: Iterable[str]) -> Tokenizer:
    """The trainer numbers continued characters (##e) in the order of a hash table, another in each process, and
    settles ties by these numbers. Given to it as special tokens they have fixed ones.
    """
    normalizer = normalizers.BertNormalizer(lowercase=True)
    kept = list(texts)
    counts: Counter[str] = Counter()
    for text in kept:
        counts.update(normalizer.normalize_str(text))
    often = sorted((character for character in counts if not character.isspace()), key=lambda c: (-counts[c], c))
    # A character takes two places; half of the vocabulary is left to pieces of words.
    alphabet = sorted(often[: size // 4])
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=RAREST,
        special_tokens=[*BERT, *(f"##{character}" for character in alphabet)],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    learner = _wordpiece({"[UNK]": 0})
    learner.train_from_iterator(kept, trainer)
    return _wordpiece(learner.get_vocab(with_added_tokens=False))  # whose special tokens are BERT's alone


def read(folder: Path) -> Tokenizer:
    """The tokenizer of a folder."""
    whole, words, numbers, merges = (
        folder / file for file in ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt")
    )
    if whole.is_file():
        return told(lambda: Tokenizer.from_file(str(whole)), f"cannot read {whole}", AGAIN)
    if words.is_file():
        return told(lambda: _wordpiece(models.WordPiece.read_file(str(words))), f"cannot read {words}", AGAIN)
    if numbers.is_file() and merges.is_file():
        return told(
            lambda: _byte_level(models.BPE(*models.BPE.read_file(str(numbers), str(merges)))),
            f"cannot read {numbers} and merges.txt",
            AGAIN,
        )
    pieces = folder / sentencepiece.FILE
    if pieces.is_file():
        return sentencepiece.read(pieces)
    raise UserError(
        f"there is no tokenizer in {folder}; it should hold {FILES}.\nPut a copy there, or say where your copies "
        "are: `dvc exp run -S local_data=<folder>`"
    )
