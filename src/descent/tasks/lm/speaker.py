"""Tokenizers of causal language models: what begins a text, what ends it, and how its tokens are written again."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from descent.errors import UserError
from descent.io import hub
from descent.io.failures import told
from descent.io.places import local
from descent.schema import Hub, TokenizerSource
from descent.tasks.text import sentencepiece, tokenizers
from descent.tasks.text.tokenizers import AGAIN

SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")  # either names the special tokens
FILES = ["tokenizer.json", *SETTINGS]


@dataclass(frozen=True)
class Speaker:
    """A tokenizer and the numbers of its special tokens; without `begin` a text starts with its first word."""

    tokenizer: Tokenizer
    begin: int | None
    end: int

    @property
    def vocabulary(self) -> int:
        """How many rows an embedding needs."""
        return tokenizers.vocabulary(self.tokenizer)

    def encode(self, texts: list[str]) -> list[list[int]]:
        """Token numbers without special tokens; a prompt's are the same whatever comes after it."""
        return [found.ids for found in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def decode(self, ids: list[int]) -> str:
        """The text of tokens, special ones left out."""
        return self.tokenizer.decode(ids, skip_special_tokens=True)


def build(source: TokenizerSource, texts: Iterable[str], local_data: str) -> Speaker:
    """The tokenizer of a source: trained on texts, a local folder's, or the hub's.

    Raises:
        UserError: it cannot be had, or has no token that ends a text.
    """
    if source.train is not None:
        tokenizer = tokenizers.build(source, texts, local_data)
        ends = tokenizers.special(tokenizer)
        return Speaker(tokenizer, ends.first, ends.last)
    folder = _from_hub(source.hub) if source.hub is not None else local(local_data, source.path)
    tokenizer = tokenizers.read(folder)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    begin, end = (_number(tokenizer, folder, name) for name in ("bos_token", "eos_token"))
    if end is None:
        raise UserError(
            f"the tokenizer of {source.path or source.hub.id} names no token that ends a text (eos_token in "
            f"{SETTINGS[0]}): a model could not learn where a response ends. Put the model's own {SETTINGS[0]} "
            "beside tokenizer.json, or take another tokenizer"
        )
    return Speaker(tokenizer, begin, end)


def reopen(folder: Path, begin: int | None, end: int) -> Speaker:
    """The tokenizer that prepare.prepare wrote."""
    return Speaker(tokenizers.read(folder), begin, end)


def _number(tokenizer: Tokenizer, folder: Path, name: str) -> int | None:
    """The number of a special token that the files beside the tokenizer name, or else SentencePiece's own."""
    said = []
    for path in filter(Path.is_file, (folder / file for file in SETTINGS)):
        settings = told(lambda path=path: json.loads(path.read_text()), f"cannot read {path}", AGAIN)
        said += [settings[name]] if isinstance(settings, dict) and name in settings else []
    if not said and (folder / sentencepiece.FILE).is_file():
        said = [sentencepiece.NAMES[name]]
    tokens = (token.get("content") if isinstance(token, dict) else token for token in said)  # or with its settings
    known = (tokenizer.token_to_id(token) for token in tokens if isinstance(token, str))
    return next((number for number in known if number is not None), None)


def _from_hub(wanted: Hub) -> Path:
    from huggingface_hub import snapshot_download

    return Path(
        hub.answer(
            lambda: snapshot_download(wanted.id, revision=wanted.revision, allow_patterns=FILES),
            f"the tokenizer of {wanted.id}",
            "Run again with a connection (a gated model also wants its licence accepted there, and HF_TOKEN set), "
            f"or put {' and '.join(FILES[:2])} into a folder under local_data and name it with `path` in place of "
            "`hub` under profiles.<profile>.lm.tokenizers in params.yaml",
        )
    )
