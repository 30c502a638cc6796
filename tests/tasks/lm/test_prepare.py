"""Instructions become tokens: splits, cuts to the context, and what is told."""

import json
from pathlib import Path

import pandas as pd
import pytest

from descent import config
from descent.errors import UserError
from descent.tasks.lm.data import load
from descent.tasks.lm.prepare import _completed, prepare, split
from descent.tasks.lm.prompts import prompt
from stages import download, preprocess
from tests.fakes.instructions import COUNT, TOKENISING, write_instructions

ROWS = [{"instruction": f"Say {word}.", "input": "", "output": word} for word in ("one", "two", "three")]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def test_splits_share_no_instruction_and_texts_end_with_the_end_token(here: Path) -> None:
    data = write_instructions(here / "tokens/llama", here / "raw")
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
    data = write_instructions(here / "tokens/llama", here / "raw", max_tokens=26)
    meta = json.loads((data.folder / "meta.json").read_text())
    cut = sum(meta["cut"].values())
    lengths = [data.split(name).lengths for name in meta["texts"]]
    assert cut and max(map(max, lengths)) == 26 and f"the responses of {cut}" in capsys.readouterr().out
    assert sum(meta["crowded"].values()) + sum(map(len, lengths)) == COUNT
    with pytest.raises(UserError, match="no prompt of the train instructions leaves room"):
        write_instructions(here / "tokens/llama", here / "raw", max_tokens=8)


def test_too_few_instructions_and_missing_raw_data_are_told(here: Path) -> None:
    with pytest.raises(UserError, match="too few"):
        split(pd.DataFrame(ROWS), 0.1, 0.1)
    write_instructions(here / "tokens/llama", here / "raw")
    (here / "tokens/llama/train_labels.npy").unlink()
    with pytest.raises(UserError, match="force preprocess_lm@tokens"):
        load(here / "tokens/llama")
    (here / "raw/source.json").unlink()
    with pytest.raises(UserError, match="force download_lm@raw"):
        prepare(here / "raw", here / "t", TOKENISING)


def test_the_stages_lead_from_params_yaml_to_instructions(here: Path) -> None:
    (here / "params.yaml").write_text((Path(__file__).parents[2] / "params.yaml").read_text())
    download.main("lm", "alpaca")
    preprocess.main("lm", "alpaca")
    data, params = load(here / "data/prepared/alpaca/llama"), config.load()
    assert (data.name, data.tokenizer, data.synthetic) == ("alpaca", "llama", True)
    assert data.max_tokens == params.budget.lm.max_tokens and len(data.frequencies) == data.vocabulary
    wanted = params.source("lm", "alpaca").generate.instructions
    assert sum(len(data.split(name)) for name in ("train", "validation", "test")) == wanted
    with pytest.raises(UserError, match="lm data set: unknown name 'imdb'; known: alpaca"):
        preprocess.main("lm", "imdb")


def test_an_instruction_with_an_input_is_completed_in_the_words_in_which_it_was_learned() -> None:
    test = pd.DataFrame([{"instruction": "Repeat it.", "input": "a b", "output": "a b"}, ROWS[0]])
    asked = [prompt("plain", "Repeat it.", "a b"), prompt("plain", "Say one.")]
    found = _completed("plain", test, None)
    assert [row["prompt"] for row in found] == asked
    assert [row["instruction"] for row in found] == ["Repeat it.\n\na b", "Say one."], "as AlpacaEval has it"
    given = pd.DataFrame([{"instruction": "Go.", "dataset": "own"}])
    assert _completed("plain", test, given) == [
        {"instruction": "Go.", "dataset": "own", "prompt": prompt("plain", "Go.")}
    ]
