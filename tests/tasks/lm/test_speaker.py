"""What begins and ends a text, as the files beside a tokenizer say."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from descent.errors import UserError
from descent.schema import Hub, TokenizerSource
from descent.tasks.lm.speaker import build


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def folder_of(*specials: str, **names: Any) -> TokenizerSource:
    """A tokenizer of words in a folder, with its settings beside it."""
    Path("spoken").mkdir(exist_ok=True)
    words = {word: number for number, word in enumerate([*specials, "a", "b"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save("spoken/tokenizer.json")
    Path("spoken/tokenizer_config.json").write_text(json.dumps(names))
    return TokenizerSource(path="spoken")


def test_the_end_token_is_what_the_tokenizers_settings_name() -> None:
    found = build(folder_of("<go>", "<stop>", bos_token="<go>", eos_token={"content": "<stop>"}), [], ".")
    assert (found.begin, found.end) == (0, 1)
    assert build(folder_of("<stop>", eos_token="<stop>"), [], ".").begin is None
    for names in ({}, {"eos_token": "<other>"}, {"eos_token": None}):
        with pytest.raises(UserError, match="names no token that ends a text"):
            build(folder_of("<stop>", **names), [], ".")
    Path("spoken/tokenizer.json").unlink()
    with pytest.raises(UserError, match="there is no tokenizer in"):
        build(TokenizerSource(path="spoken"), [], ".")


def test_settings_that_cannot_be_read_and_a_hub_out_of_reach_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder_of("<stop>", eos_token="<stop>")
    Path("spoken/tokenizer_config.json").write_text("{")
    with pytest.raises(UserError, match=r"cannot read spoken/tokenizer_config\.json"):
        build(source, [], ".")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match=r"cannot get the tokenizer of nobody/nothing(.|\n)*lm\.tokenizers"):
        build(TokenizerSource(hub=Hub(id="nobody/nothing")), [], ".")
