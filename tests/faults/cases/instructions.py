"""Instructions, and tokenizers of folders, that are damaged or hold something else."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from tokenizers import Tokenizer, models, pre_tokenizers

from descent.schema import TokenizerSource, TrainTokenizer, validated
from descent.tasks.lm.prepare import Tokenising, prepare
from descent.tasks.lm.raw import fetch
from descent.tasks.lm.schema import Source
from descent.tasks.lm.speaker import build
from tests.faults.case import Case

SET, RAW, OUT, SPOKEN = Path("local/set"), Path("raw"), Path("prepared"), Path("local/spoken")
TRAINED = TokenizerSource(train=TrainTokenizer(kind="bpe", vocabulary=300))
ROWS = [{"instruction": f"Say {number}.", "input": "", "output": f"It is {number}."} for number in range(60)]
LINES = "\n".join(map(json.dumps, ROWS))


def stages(content: bytes | str, suffix: str = ".jsonl", tokenizer: TokenizerSource = TRAINED) -> pd.DataFrame:
    """What the stages download and preprocess do with one file; the instructions that are left."""
    SET.mkdir(parents=True)
    (SET / f"train{suffix}").write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(tokenizer)


def how(tokenizer: TokenizerSource) -> Tokenising:
    return Tokenising("alpaca", "llama", tokenizer, 64, 0.2, "local", "demo", "plain", 0.2)


def read(tokenizer: TokenizerSource = TRAINED) -> pd.DataFrame:
    fetch("alpaca", Source(path="set"), "local", RAW)
    prepare(RAW, OUT, how(tokenizer))
    return pd.read_parquet(RAW / "instructions.parquet")


def rows(**changes: Any) -> str:
    return json.dumps([row | changes for row in ROWS])


def beside(damage: Callable[[], object]) -> Callable[[], object]:
    """The stages, with something done to data/raw between them."""

    def act() -> None:
        SET.mkdir(parents=True)
        (SET / "train.jsonl").write_text(LINES)
        fetch("alpaca", Source(path="set"), "local", RAW)
        damage()
        prepare(RAW, OUT, how(TRAINED))

    return act


def instead(make: Callable[[Path], object]) -> Callable[[], object]:
    """The stages, with something else in the place of the file."""

    def act() -> None:
        SET.mkdir(parents=True)
        make(SET / "train.jsonl")
        read()

    return act


def long_words() -> None:
    """Ten million letters without a blank, in an instruction and in a prompt."""
    long = "ab" * 5_000_000
    SET.mkdir(parents=True)
    (SET / "train.jsonl").write_text("\n".join(map(json.dumps, [*ROWS, ROWS[0] | {"instruction": long}])))
    (SET / "eval.json").write_text(json.dumps([{"instruction": long}]))
    read()
    assert all(len(row["instruction"]) < len(long) for row in json.loads((OUT / "prompts.json").read_text()))


def separators() -> None:
    found = stages("\n".join(json.dumps(row | {"input": "a\u2028b\x85c"}, ensure_ascii=False) for row in ROWS))
    assert len(found) == 60, "rows were lost"


def without_instruction() -> None:
    found = stages(json.dumps([*ROWS, {"instruction": None, "input": "", "output": "x"}]), ".json")
    assert "None" not in set(found["instruction"]) and len(found) == 60, "null became a word"


def prompts(content: str) -> Callable[[], object]:
    def act() -> None:
        SET.mkdir(parents=True)
        (SET / "train.jsonl").write_text(LINES)
        (SET / "eval.json").write_text(content)
        read()
        told = json.loads((OUT / "prompts.json").read_text())
        words = [row[name] for row in told for name in ("instruction", "dataset")]
        assert not {"None", "nan", ""} & set(words), "null became a word"

    return act


def spoken(config: str | None, tokenizer: Callable[[], object] = lambda: None) -> Callable[[], object]:
    """A tokenizer of a folder whose tokenizer_config.json holds this."""

    def act() -> None:
        SPOKEN.mkdir(parents=True)
        words = {word: number for number, word in enumerate(["<s>", "</s>", "Say", "It", "is", "."])}
        whole = Tokenizer(models.WordLevel(words, unk_token="."))
        whole.pre_tokenizer = pre_tokenizers.Whitespace()
        whole.save(str(SPOKEN / "tokenizer.json"))
        if config is not None:
            (SPOKEN / "tokenizer_config.json").write_text(config)
        tokenizer()
        found = build(TokenizerSource(path="spoken"), [], "local")
        assert found.end == 1 and found.vocabulary == 6

    return act


def numbered(number: int) -> Callable[[], object]:
    """A vocabulary with a token of this number."""

    def make() -> None:
        words = {"<s>": 0, "</s>": 1, "Say": number}
        (SPOKEN / "tokenizer.json").unlink()
        whole = Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1}, unk_token="</s>"))
        text = json.loads(whole.to_str())
        text["model"]["vocab"] = words
        (SPOKEN / "tokenizer.json").write_text(json.dumps(text))

    return make


def speechless() -> None:
    """A tokenizer that knows no character of the texts."""
    SPOKEN.mkdir(parents=True)
    whole = Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1, "?": 2}, unk_token="?"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    whole.save(str(SPOKEN / "tokenizer.json"))
    (SPOKEN / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    stages(LINES, tokenizer=TokenizerSource(path="spoken"))


def replaced(name: str, content: str) -> Callable[[], object]:
    return lambda: (SPOKEN / name).write_text(content)


NO_END, UNREAD = "names no token that ends a text", "cannot be read"
REFUSED: list[tuple[str, Callable[[], object], str]] = [
    *(
        (f"a {suffix} {name}", lambda content=content, suffix=suffix: stages(content, suffix), told)
        for suffix in (".jsonl", ".json", ".parquet")
        for name, content, told in [
            ("empty", "", UNREAD),
            ("of garbage", b"\x00\xff" * 99, UNREAD),
            ("of a number", "7", UNREAD),
            ("of null", "null", UNREAD),
            ("of numbers", "[1, 2]", UNREAD),
            ("of 100,000 brackets", "[" * 100_000, UNREAD),
            ("not of UTF-8", b'[{"instruction": "\xff"}]', UNREAD),
        ]
    ),
    *(
        (name, lambda content=content: stages(content, ".json"), told)
        for name, content, told in [
            ("an empty list", "[]", UNREAD),
            ("an object", json.dumps(ROWS[0]), UNREAD),
            ("without responses", json.dumps([{"instruction": "x"}]), "has no column 'output'"),
            ("without instructions", json.dumps([{"output": "x"}]), "has no column 'instruction'"),
            ("numbers for responses", rows(output=3), "does not hold texts"),
            ("lists for instructions", rows(instruction=["a"]), "does not hold texts"),
            ("empty responses", rows(output=" "), "none has both"),
            ("null instructions alone", rows(instruction=None), "none has both|does not hold texts"),
            ("three instructions", json.dumps(ROWS[:3]), "too few"),
            ("one instruction sixty times", rows(instruction="x"), "too few"),
            (
                "instructions longer than the context",
                rows(instruction="long " * 500),
                "leaves room for a response|too few",
            ),
        ]
    ),
    ("no such folder", read, "there is no folder or file"),
    ("an empty folder", lambda: (SET.mkdir(parents=True), read()), "there are no instructions"),
    *(
        (f"raw instructions {name}", beside(damage), "missing or incomplete")
        for name, damage in {
            "without source.json": lambda: (RAW / "source.json").unlink(),
            "with source.json of garbage": lambda: (RAW / "source.json").write_text("{"),
            "with source.json a list": lambda: (RAW / "source.json").write_text("[]"),
            "with source.json of 100,000 brackets": lambda: (RAW / "source.json").write_text("[" * 100_000),
            "cut": lambda: (RAW / "instructions.parquet").write_bytes(b"PAR1"),
            "that are gone": lambda: (RAW / "instructions.parquet").unlink(),
        }.items()
    ),
    ("prompts without instructions", prompts('[{"prompt": "x"}]'), "no column 'instruction'"),
    ("prompts of garbage", prompts("{"), UNREAD),
    ("prompts of null alone", prompts('[{"instruction": null}]'), "hold no instruction"),
    ("prompts of numbers", prompts('[{"instruction": 7}]'), "does not hold texts|hold no instruction"),
    *(
        (f"tokenizer_config.json {name}", spoken(config), told)
        for name, config, told in [
            ("missing", None, NO_END),
            ("empty", "", "cannot read"),
            ("an open bracket", "{", "cannot read"),
            ("a list", "[]", "no object|cannot read|" + NO_END),
            ("null", "null", "no object|cannot read|" + NO_END),
            ("of nothing", "{}", NO_END),
            ("with eos_token 5", '{"eos_token": 5}', NO_END),
            ("with eos_token a list", '{"eos_token": ["</s>"]}', NO_END),
            ("with eos_token of nothing", '{"eos_token": {}}', NO_END),
            ("with eos_token of an unknown word", '{"eos_token": "<end>"}', NO_END),
            ("with eos_token true", '{"eos_token": true}', NO_END),
            ("of 100,000 brackets", "[" * 100_000, "cannot read"),
        ]
    ),
    *(
        (
            f"tokenizer.json {name}",
            spoken('{"eos_token": "</s>"}', replaced("tokenizer.json", content)),
            "cannot read",
        )
        for name, content in {
            "empty": "",
            "of garbage": "garbage",
            "of nothing": "{}",
            "a list": "[]",
            "of an unknown kind": '{"model": {"type": "X"}}',
            "of 100,000 brackets": "[" * 100_000,
        }.items()
    ),
    ("a tokenizer that knows no character of the texts", speechless, "knows (none|almost none)"),
]
ALONE: list[tuple[str, Callable[[], object], str]] = [
    ("a pipe for the instructions", instead(os.mkfifo), "there are no instructions"),
    (
        "a device for the instructions",
        instead(lambda path: path.symlink_to("/dev/zero")),
        "there are no instructions",
    ),
    ("a vocabulary with the number 2e9", spoken('{"eos_token": "</s>"}', numbered(2_000_000_000)), "vocabulary"),
    ("a vocabulary with the number 2**32 - 1", spoken('{"eos_token": "</s>"}', numbered(2**32 - 1)), "vocabulary"),
    (
        "a vocabulary of a thousand million to train",
        lambda: stages(
            LINES, tokenizer=validated(TokenizerSource, {"train": {"kind": "bpe", "vocabulary": 10**9}}, "it")
        ),
        "vocabulary",
    ),
]
HANDLED: list[tuple[str, Callable[[], object]]] = [
    ("a .jsonl as it should be", lambda: stages(LINES)),
    ("a .json as it should be", lambda: stages(json.dumps(ROWS), ".json")),
    ("a mark of UTF-8 at the beginning", lambda: stages(b"\xef\xbb\xbf" + LINES.encode())),
    ("U+2028 and U+0085 within a line", separators),
    ("a null instruction", without_instruction),
    ("null inputs", lambda: stages(rows(input=None), ".json")),
    ("blank lines", lambda: stages(LINES + "\n\n \n")),
    ("a prompt of null among others", prompts('[{"instruction": "x"}, {"instruction": null}]')),
    (
        "a prompt of a data set null",
        prompts('[{"instruction": "x", "dataset": null}, {"instruction": "y", "dataset": "z"}]'),
    ),
    ("eos_token with its settings", spoken('{"eos_token": {"content": "</s>"}}')),
]
CASES = [
    *(Case("instructions", name, act, told) for name, act, told in REFUSED),
    *(Case("instructions", name, act, told, alone=True) for name, act, told in ALONE),
    *(Case("instructions", name, act) for name, act in HANDLED),
    Case("instructions", "words of ten million letters", long_words, alone=True),
]
