"""Instructions from wherever they come: what is kept, what is left out, and what is told."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from descent import components
from descent.errors import UserError
from descent.schema import Hub
from descent.tasks.lm import raw
from descent.tasks.lm.schema import GenerateInstructions, Source
from descent.tasks.lm.synthetic.instructions import generate

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
    raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))
    return pd.read_parquet("raw/instructions.parquet")


def test_made_up_instructions_repeat_and_are_of_every_kind() -> None:
    wanted = GenerateInstructions(seed=1, instructions=200)
    one, two = generate(wanted), generate(wanted)
    assert one.equals(two) and len(one) == 200
    assert not one.equals(generate(GenerateInstructions(seed=2, instructions=200)))
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
    raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))
    assert pd.read_parquet("raw/prompts.parquet").to_dict("records") == [
        {"instruction": "Who?", "dataset": "koala"}
    ]


def test_all_shards_are_read_and_unlike_ones_are_told() -> None:
    Path("local").mkdir()
    for number, row in enumerate(ROWS[:2]):
        pd.DataFrame([row]).to_parquet(f"local/train-0000{number}-of-00002.parquet")
    raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))
    assert pd.read_parquet("raw/instructions.parquet").to_dict("records") == ROWS[:2]
    pd.DataFrame([{"instruction": "Hi", "response": "Ho"}]).to_parquet("local/train-00001-of-00002.parquet")
    told = "train-00001-of-00002.parquet has the columns instruction, response, and train-00000-of-00002.parquet i"
    with pytest.raises(UserError, match=told):
        raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))


def test_files_that_are_no_shards_of_one_are_not_joined() -> None:
    Path("local").mkdir()
    for name, row in zip(("cleaned", "gpt4"), ROWS, strict=False):
        Path(f"local/alpaca_data_{name}.json").write_text(json.dumps([row]))
    told = "which of alpaca_data_cleaned.json, alpaca_data_gpt4.json is meant"
    with pytest.raises(UserError, match=told):
        raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))
    Path("local/alpaca_data_gpt4.json").unlink()
    raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))
    assert pd.read_parquet("raw/instructions.parquet").to_dict("records") == ROWS[:1]


@pytest.mark.parametrize("kind", ["string", "category"])
def test_what_is_missing_is_left_out_whatever_type_its_column_has(kind: str) -> None:
    Path("local").mkdir()
    rows = pd.DataFrame([*ROWS[:2], {"instruction": "x", "input": None, "output": None}]).astype(kind)
    rows.to_parquet("local/train.parquet")
    asked = pd.DataFrame({"instruction": ["Who?", "What?"], "dataset": ["koala", None]}).astype(kind)
    asked.to_parquet("local/eval.parquet")
    raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))
    assert pd.read_parquet("raw/instructions.parquet").to_dict("records") == ROWS[:2]
    assert pd.read_parquet("raw/prompts.parquet")["dataset"].tolist() == ["koala", "prompts"]


def test_a_table_whose_columns_are_numbers_is_told() -> None:
    Path("local").mkdir(exist_ok=True)
    pd.DataFrame({0: ["Hi"], 1: ["x"]}).to_parquet("local/train-00000.parquet")
    with pytest.raises(UserError, match="has no column 'instruction', only 0, 1"):
        raw.fetch("alpaca", Source(path="local"), ".", Path("raw"))


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
    with pytest.raises(UserError, match=r"alpaca: there is no folder or file nowhere\.\n.*alpaca_data.json"):
        raw.fetch("alpaca", Source(path="nowhere"), ".", Path("raw"))
    Path("empty").mkdir()
    with pytest.raises(UserError, match="there are no instructions in"):
        raw.fetch("alpaca", Source(path="empty"), ".", Path("raw"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    Path("local").mkdir()
    Path("local/alpaca_data.json").write_text(json.dumps(ROWS))
    nobody = Hub(id="nobody/nothing")
    for source in (Source(hub=nobody), Source(path="local", prompts=nobody)):
        with pytest.raises(
            UserError, match=r"name it with `path` in place of `hub` under profiles.<profile>.data.alpaca"
        ):
            raw.fetch("alpaca", source, ".", Path("raw"))


def test_one_file_is_a_source_and_other_files_are_refused() -> None:
    whole = fetch()
    raw.fetch("alpaca", Source(path="local/alpaca_data.json"), ".", Path("raw"))
    assert pd.read_parquet("raw/instructions.parquet").equals(whole)
    Path("local/alpaca.zip").write_bytes(b"zip")
    with pytest.raises(UserError, match=r"alpaca\.zip: not a folder, nor a file of a known kind \(\.parquet"):
        raw.fetch("alpaca", Source(path="local/alpaca.zip"), ".", Path("raw"))


def test_a_limit_draws_and_keeps_the_order() -> None:
    Path("local").mkdir()
    rows = [{"instruction": f"Say {number}.", "input": "", "output": str(number)} for number in range(50)]
    Path("local/alpaca_data.json").write_text(json.dumps(rows))
    raw.fetch("alpaca", Source(path="local", instructions=20), ".", Path("raw"))
    numbers = pd.read_parquet("raw/instructions.parquet")["output"].astype(int)
    assert len(numbers) == 20 and numbers.is_monotonic_increasing and numbers.max() > 30


def test_unknown_names_and_what_cannot_be_generated_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = Source(generate=GenerateInstructions(seed=1, instructions=9))
    with pytest.raises(UserError, match="unknown name 'dolly'; known: alpaca"):
        raw.fetch("dolly", demo, ".", Path("raw"))
    monkeypatch.delattr(components.load("tasks.lm.datasets", "alpaca"), "generate")
    with pytest.raises(UserError, match=r"alpaca cannot be generated, as .*alpaca\.py has no generate"):
        raw.fetch("alpaca", demo, ".", Path("raw"))
    assert not list(Path().iterdir())
