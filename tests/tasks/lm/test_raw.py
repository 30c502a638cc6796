"""Instructions from their source to tokens: what is kept, what is cut, and what is told."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from descent.errors import UserError
from descent.tasks.lm import prepare as tokenize_lm
from descent.tasks.lm import raw as instruction_sources
from descent.tasks.lm import tokenizers as speakers
from descent.tasks.lm.data import load
from descent.tasks.lm.prompts import prompt
from descent.tasks.lm.schema import GenerateInstructions, InstructionSource
from descent.tasks.lm.synthetic import instructions as synthetic_instructions
from descent.tasks.text.schema import Hub, TokenizerSource
from tests.fakes.lm import LONGEST, write_tokens

ROWS = [
    {"instruction": "Say hello.", "input": "", "output": "Hello!"},
    {"instruction": "Say it again.", "input": "moon", "output": "moon moon"},
    {"instruction": " ", "input": "", "output": "an answer to nothing"},
    {"instruction": "Say nothing.", "input": "", "output": ""},
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def fetch(rows: Any = ROWS, name: str = "alpaca_data.json") -> pd.DataFrame:
    Path("local").mkdir(exist_ok=True)
    text = rows if isinstance(rows, str) else json.dumps(rows)
    (Path("local") / name).write_text(text)
    instruction_sources.fetch(InstructionSource(path="local"), ".", Path("raw"))
    return pd.read_parquet("raw/instructions.parquet")


def test_made_up_instructions_repeat_and_are_of_every_kind() -> None:
    wanted = GenerateInstructions(seed=1, instructions=200)
    one, two = synthetic_instructions.generate(wanted), synthetic_instructions.generate(wanted)
    assert one.equals(two) and len(one) == 200
    assert not one.equals(synthetic_instructions.generate(GenerateInstructions(seed=2, instructions=200)))
    assert (
        one["instruction"].str.contains("opposite").sum()
        == 40
        == (one["instruction"].str.contains("capital")).sum()
    )


def test_rows_without_an_instruction_or_a_response_are_left_out_and_counted() -> None:
    assert fetch()["output"].tolist() == ["Hello!", "moon moon"]
    source = json.loads(Path("raw/source.json").read_text())
    assert source["dropped"] == {"empty instruction": 1, "empty output": 1} and not source["synthetic"]


def test_lines_and_tables_are_read_too_and_prompts_beside_them() -> None:
    whole = fetch()
    Path("local/alpaca_data.json").unlink()
    assert fetch("\n".join(map(json.dumps, ROWS)), "train.jsonl").equals(whole)
    Path("local/train.jsonl").unlink()
    pd.DataFrame(ROWS).to_parquet("local/train-00000.parquet")
    asked = [{"instruction": "Who?", "dataset": "koala", "output": "x", "generator": "y"}]
    Path("local/alpaca_eval.json").write_text(json.dumps(asked))
    instruction_sources.fetch(InstructionSource(path="local"), ".", Path("raw"))
    assert pd.read_parquet("raw/prompts.parquet").to_dict("records") == [
        {"instruction": "Who?", "dataset": "koala"}
    ]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("{", "cannot be read"),
        ("[]", "it is no list of objects"),
        ([{"instruction": "Hi", "input": ""}], "has no column 'output'"),
        ([{"instruction": 3, "input": "", "output": "x"}], "'instruction' does not hold texts"),
        (ROWS[2:], "none has both an instruction and a response"),
    ],
)
def test_a_file_that_is_no_instructions_is_told(rows: Any, told: str) -> None:
    with pytest.raises(UserError, match=told):
        fetch(rows)


def test_a_missing_source_and_a_hub_out_of_reach_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"there is no folder or file .*\n.*alpaca_data.json"):
        instruction_sources.fetch(InstructionSource(path="nowhere"), ".", Path("raw"))
    Path("empty").mkdir()
    with pytest.raises(UserError, match="there are no instructions in"):
        instruction_sources.fetch(InstructionSource(path="empty"), ".", Path("raw"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for source in (
        InstructionSource(hub=Hub(id="nobody/nothing")),
        InstructionSource(path="local", prompts=Hub(id="nobody/nothing")),
    ):
        Path("local").mkdir(exist_ok=True)
        Path("local/alpaca_data.json").write_text(json.dumps(ROWS))
        with pytest.raises(
            UserError, match=r"name it with `path` in place of `hub` under profiles.<profile>.lm.data"
        ):
            instruction_sources.fetch(source, ".", Path("raw"))
    with pytest.raises(UserError, match="cannot get the tokenizer of nobody/nothing"):
        speakers.build(TokenizerSource(hub=Hub(id="nobody/nothing")), [], ".")


def test_prompts_have_the_words_of_alpaca_or_headings_alone() -> None:
    assert prompt("plain", "Add.", "1 2") == "Instruction: Add.\nInput: 1 2\nResponse:\n"
    with_input, without = prompt("alpaca", "Add.", "1 2"), prompt("alpaca", "Add.")
    assert "paired with an input" in with_input and "### Input:\n1 2\n\n### Response:\n" in with_input
    assert "Input" not in without and without.endswith("### Instruction:\nAdd.\n\n### Response:\n")


def test_splits_share_no_instruction_and_texts_end_with_the_end_token(here: Path) -> None:
    data = write_tokens(here / "tokens", here / "raw")
    seen = {}
    for name in ("train", "validation", "test"):
        texts = data.split(name)
        asked = [
            tuple(texts.tokens[a : a + start])
            for a, start in zip(texts.offsets[:-1].tolist(), texts.labels.tolist(), strict=True)
        ]
        seen[name] = set(asked)
        assert all(texts.tokens[b - 1] == data.end for b in texts.offsets[1:])
    assert not seen["train"] & seen["test"] and not seen["train"] & seen["validation"]
    assert data.frequencies.sum() == data.split("train").lengths.sum()


def test_long_responses_are_cut_and_counted_and_a_context_without_room_is_told(
    here: Path, capsys: pytest.CaptureFixture
) -> None:
    data = write_tokens(here / "tokens", here / "raw", max_tokens=20)
    meta = json.loads((data.folder / "meta.json").read_text())
    cut = sum(meta["cut"].values())
    lengths = [data.split(name).lengths for name in meta["texts"]]
    assert cut and max(map(max, lengths)) == 20 and f"the responses of {cut}" in capsys.readouterr().out
    assert sum(meta["crowded"].values()) + sum(map(len, lengths)) == 120
    with pytest.raises(UserError, match="no prompt of the train instructions leaves room"):
        write_tokens(here / "tokens", here / "raw", max_tokens=8)


def test_too_few_instructions_and_missing_raw_data_are_told(here: Path) -> None:
    with pytest.raises(UserError, match="too few"):
        tokenize_lm.split(pd.DataFrame(ROWS), 0.1, 0.1)
    write_tokens(here / "tokens", here / "raw")
    (here / "tokens/train_labels.npy").unlink()
    with pytest.raises(UserError, match="force preprocess_lm"):
        load(here / "tokens")
    (here / "raw/source.json").unlink()
    with pytest.raises(UserError, match="force download_lm"):
        tokenize_lm.prepare(
            here / "raw", here / "t", TokenizerSource(path="x"), "plain", LONGEST, 0.1, 0.1, "", "demo"
        )


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
    found = speakers.build(folder_of("<go>", "<stop>", bos_token="<go>", eos_token={"content": "<stop>"}), [], ".")
    assert (found.begin, found.end) == (0, 1)
    assert speakers.build(folder_of("<stop>", eos_token="<stop>"), [], ".").begin is None
    for names in ({}, {"eos_token": "<other>"}, {"eos_token": None}):
        with pytest.raises(UserError, match="names no token that ends a text"):
            speakers.build(folder_of("<stop>", **names), [], ".")
    Path("spoken/tokenizer.json").unlink()
    with pytest.raises(UserError, match="there is no tokenizer in"):
        speakers.build(TokenizerSource(path="spoken"), [], ".")
