"""Files of texts in every format that is read, damaged or holding something else."""

import gzip
import json
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pandas as pd

from descent.io.folders import walk
from descent.schema import TokenizerSource, TrainTokenizer
from descent.tasks.text.prepare import Tokenising, prepare
from descent.tasks.text.raw import fetch
from descent.tasks.text.schema import Source
from tests.fakes.archives import tarred, zipped
from tests.faults.case import Case

SET, RAW, OUT = Path("local/set"), Path("raw"), Path("prepared")
TRAINED = TokenizerSource(train=TrainTokenizer(kind="wordpiece", vocabulary=300))
ROWS = [
    {"text": f"text number {number} is {'good' if number % 2 else 'bad'}", "label": number % 2}
    for number in range(40)
]
PAIRS = [{"premise": row["text"], "hypothesis": "it is so", "label": row["label"]} for row in ROWS]


def table(rows: list[dict], suffix: str) -> bytes:
    """The rows in one of the formats."""
    if suffix == ".parquet":
        return pd.DataFrame(rows).to_parquet(index=False)
    if suffix == ".csv":
        return pd.DataFrame(rows).to_csv(index=False).encode()
    if suffix == ".tsv":
        return pd.DataFrame(rows).to_csv(index=False, sep="\t").encode()
    return "\n".join(json.dumps(row) for row in rows).encode()


def stages(
    train: bytes,
    suffix: str,
    test: bytes | None = None,
    dataset: str = "imdb",
    tokenizer: TokenizerSource = TRAINED,
) -> None:
    """What the stages download and preprocess do with two files."""
    SET.mkdir(parents=True)
    (SET / f"train{suffix}").write_bytes(train)
    name = "test" if dataset == "imdb" else "validation_matched"
    others = [
        row | {next(iter(row)): f"another {number}"}
        for number, row in enumerate(ROWS if dataset == "imdb" else PAIRS)
    ]
    (SET / f"{name}{suffix}").write_bytes(table(others, suffix) if test is None else test)
    read(dataset, Source(path="set"), tokenizer)


def read(dataset: str, source: Source, tokenizer: TokenizerSource = TRAINED) -> dict:
    fetch(dataset, source, "local", RAW)
    prepare(RAW, OUT, Tokenising(dataset, "bert", tokenizer, 32, 0.25, "local", "demo"))
    return json.loads((OUT / "meta.json").read_text())


FORMATS = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "of garbage": lambda whole: b"\x00\xff\xfe garbage" * 60,
    "with bytes that are no UTF-8": lambda whole: (
        whole[: len(whole) // 2] + b"\xff\xfe" + whole[len(whole) // 2 :]
    ),
    "of another table": lambda whole: b'{"a": 1}\n{"a": 2}' if whole[:1] == b"{" else b"a,b\n1,2\n",
}
UNREADABLE = "cannot be read|has the columns"


def changed(**column: object) -> list[dict]:
    return [row | column for row in ROWS]


REFUSED: list[tuple[str, Callable[[], object], str]] = [
    *(
        (
            f"a {suffix} {name}",
            lambda suffix=suffix, damage=damage: stages(damage(table(ROWS, suffix)), suffix),
            UNREADABLE,
        )
        for suffix in FORMATS
        for name, damage in DAMAGE.items()
    ),
    ("a .parquet cut in half", lambda: stages(table(ROWS, ".parquet")[:800], ".parquet"), UNREADABLE),
    (
        "a .jsonl cut within a line",
        lambda: stages(table(ROWS, ".jsonl")[:-9], ".jsonl"),
        "line 40 is not one JSON object",
    ),
    (
        "a .csv whose last text is never closed",
        lambda: stages(b'text,label\n"a,1\nb,0\n', ".csv"),
        "cannot be read",
    ),
    (
        "an unquoted comma in a .csv",
        lambda: stages(b"text,label\ngood, but long,1\nbad,0\n", ".csv"),
        "cannot be read",
    ),
    (
        "unquoted commas in every line",
        lambda: stages(b"text,label\n" + b"good, but long,1\nbad, and short,0\n" * 20, ".csv"),
        "cannot be read",
    ),
    ("a .csv of one column", lambda: stages(b"text\na\nb\n", ".csv"), "has the columns 'text'"),
    (
        "a .csv with a header twice",
        lambda: stages(b"text,text,label\na,b,1\nc,d,0\n", ".csv"),
        "twice|has the columns",
    ),
    *(
        (f"{suffix} {name}", lambda rows=rows, suffix=suffix: stages(table(rows, suffix), suffix), told)
        for suffix in (".jsonl", ".parquet")
        for name, rows, told in [
            ("with labels beyond the classes", changed(label=7), "unknown labels 7"),
            ("with hidden labels", changed(label=-1), "hidden label"),
            ("with labels of words", changed(label="superb"), "unknown labels superb"),
            ("without labels", [{"text": row["text"]} for row in ROWS], "has the columns 'text'"),
            ("with null labels", changed(label=None), "unknown labels|none of the"),
            ("with one label", changed(label=1), "all training texts have the label 1"),
            ("with empty texts", changed(text=""), "none of the 40 texts can be used"),
            ("with blank texts", changed(text=" \n"), "none of the 40 texts can be used"),
            ("with null texts", changed(text=None), "none of the 40|something else than texts"),
            ("with numbers for texts", changed(text=3), "something else than texts"),
            ("with lists for texts", changed(text=["a"]), "something else than texts"),
            ("with one row", ROWS[:1], "all training texts have the label|too few"),
        ]
    ),
    ("100,000 open brackets in .jsonl", lambda: stages(b"[" * 100_000, ".jsonl"), "is not one JSON object"),
    (
        "100,000 nested brackets in .jsonl",
        lambda: stages(b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b', "label": 0}', ".jsonl"),
        "is not one JSON object",
    ),
    (
        "a list in .json",
        lambda: stages(json.dumps(ROWS).encode(), ".json"),
        "is not one JSON object|cannot be read",
    ),
    ("NaN for an object", lambda: stages(b"NaN\n" * 9, ".jsonl"), "is not one JSON object"),
    (
        "no test part",
        lambda: (
            SET.mkdir(parents=True),
            (SET / "train.jsonl").write_bytes(table(ROWS, ".jsonl")),
            read("imdb", Source(path="set")),
        ),
        "there is no test part",
    ),
    (
        "an empty folder",
        lambda: (SET.mkdir(parents=True), read("imdb", Source(path="set"))),
        "there is no train part",
    ),
    ("no such folder", lambda: read("imdb", Source(path="set")), "there is no folder or file"),
    (
        "pairs without their second text",
        lambda: stages(table(ROWS, ".jsonl"), ".jsonl", dataset="mnli"),
        "has the columns",
    ),
    (
        "training pairs and single test texts",
        lambda: stages(table(PAIRS, ".jsonl"), ".jsonl", table(ROWS, ".jsonl"), "mnli"),
        "has the columns|holds pairs",
    ),
    (
        "a file for the training folder",
        lambda: (SET.mkdir(parents=True), (SET / "train").write_text("x"), read("imdb", Source(path="set"))),
        "there is no",
    ),
    (
        "a dangling link for the training file",
        lambda: (
            SET.mkdir(parents=True),
            (SET / "train.csv").symlink_to("no"),
            (SET / "test.csv").symlink_to("no"),
            read("imdb", Source(path="set")),
        ),
        "there is no",
    ),
    (
        "an archive without texts",
        lambda: (
            SET.parent.mkdir(),
            Path("local/a.zip").write_bytes(zipped({"x": b""})),
            read("imdb", Source(path="a.zip")),
        ),
        "there is no train part",
    ),
    (
        "an archive that is damaged",
        lambda: (
            SET.parent.mkdir(),
            Path("local/a.tgz").write_bytes(tarred({"train.csv": b"x"})[:-9]),
            read("imdb", Source(path="a.tgz")),
        ),
        "damaged",
    ),
    (
        "a .gz of texts",
        lambda: (
            SET.parent.mkdir(),
            Path("local/a.csv.gz").write_bytes(gzip.compress(b"x")),
            read("imdb", Source(path="a.csv.gz")),
        ),
        "known kind",
    ),
    *(
        (f"raw texts {name}", lambda damage=damage: damaged_between(damage), "missing or incomplete")
        for name, damage in {
            "without source.json": lambda: (RAW / "source.json").unlink(),
            "with source.json of garbage": lambda: (RAW / "source.json").write_text("{"),
            "with source.json a list": lambda: (RAW / "source.json").write_text("[]"),
            "with source.json of nothing": lambda: (RAW / "source.json").write_text("{}"),
            "with source.json of 100,000 brackets": lambda: (RAW / "source.json").write_text("[" * 100_000),
            "without train.parquet": lambda: (RAW / "train.parquet").unlink(),
            "with train.parquet of garbage": lambda: (RAW / "train.parquet").write_text("garbage"),
            "with train.parquet cut": lambda: (RAW / "train.parquet").write_bytes(
                (RAW / "train.parquet").read_bytes()[:500]
            ),
            "with train.parquet of other columns": lambda: pd.DataFrame({"a": [1]}).to_parquet(
                RAW / "train.parquet"
            ),
            "that are a folder in place of a file": lambda: (
                (RAW / "train.parquet").unlink(),
                (RAW / "train.parquet").mkdir(),
            ),
        }.items()
    ),
]


def damaged_between(damage: Callable[[], object]) -> None:
    SET.mkdir(parents=True)
    for part in ("train", "test"):
        (SET / f"{part}.jsonl").write_bytes(table(ROWS, ".jsonl"))
    fetch("imdb", Source(path="set"), "local", RAW)
    damage()
    prepare(RAW, OUT, Tokenising("imdb", "bert", TRAINED, 32, 0.25, "local", "demo"))


def line_separators() -> None:
    """U+2028 and its like stand within a JSON line, and within a text."""
    rows = [row | {"text": row["text"] + "\u2028and\u2029on\x85and\x0bon"} for row in ROWS]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    stages(lines, ".jsonl", lines)
    assert len(pd.read_parquet(RAW / "train.parquet")) == 40, "texts were lost"


def long_word() -> None:
    """Ten million letters without a blank, of several lengths, so that some text trains whatever is drawn."""
    rows = [*(ROWS[0] | {"text": letters * 5_000_000} for letters in ("ab", "abc", "ba", "c")), *ROWS]
    stages(table(rows, ".jsonl"), ".jsonl")


def repeated() -> None:
    stages(table(ROWS, ".jsonl"), ".jsonl", table(ROWS, ".jsonl"))


def circle() -> None:
    SET.mkdir(parents=True)
    (SET / "deep").symlink_to("..", target_is_directory=True)
    for part in ("train", "test"):
        (SET / f"{part}.jsonl").write_bytes(table(ROWS, ".jsonl"))
    read("imdb", Source(path="set"))
    walked = [place for place, _ in islice(walk(SET), 99)]
    assert walked == [SET], f"it leads round: {len(walked)} folders"


HANDLED: list[tuple[str, Callable[[], object]]] = [
    *(
        (f"a {suffix} as it should be", lambda suffix=suffix: stages(table(ROWS, suffix), suffix))
        for suffix in FORMATS
    ),
    ("lines that end as on Windows", lambda: stages(table(ROWS, ".jsonl").replace(b"\n", b"\r\n"), ".jsonl")),
    ("a mark of UTF-8 at the beginning", lambda: stages(b"\xef\xbb\xbf" + table(ROWS, ".csv"), ".csv")),
    ("a mark of UTF-8 before JSON", lambda: stages(b"\xef\xbb\xbf" + table(ROWS, ".jsonl"), ".jsonl")),
    ("blank lines", lambda: stages(table(ROWS, ".jsonl") + b"\n\n\n", ".jsonl")),
    ("U+2028 within a text", line_separators),
    (
        "commas within quotes",
        lambda: stages(
            b'text,label\n"good, but long",1\n"bad, ""so""",0\n' * 1
            + b"".join(b"t%d,%d\n" % (n, n % 2) for n in range(40)),
            ".csv",
        ),
    ),
    (
        "words that pandas takes for nothing",
        lambda: stages(table([*ROWS, {"text": "NA", "label": 1}, {"text": "null", "label": 0}], ".csv"), ".csv"),
    ),
    (
        "labels of their names",
        lambda: stages(
            table([row | {"label": ("negative", "positive")[row["label"]]} for row in ROWS], ".jsonl"), ".jsonl"
        ),
    ),
    ("a folder link to its own parent", circle),
]


def speechless() -> None:
    """A tokenizer of a folder that knows no word of the texts."""
    folder = Path("local/words")
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")))
    SET.mkdir(parents=True)
    for part in ("train", "test"):
        (SET / f"{part}.jsonl").write_bytes(table(ROWS, ".jsonl"))
    fetch("imdb", Source(path="set"), "local", RAW)
    words = TokenizerSource(path="words")
    prepare(RAW, OUT, Tokenising("imdb", "bert", words, 32, 0.25, "local", "demo"))


TOLD: list[tuple[str, Callable[[], object], str]] = [
    ("test texts that train too", repeated, "40 of 40 test texts are among the training texts"),
]
ALONE: list[tuple[str, Callable[[], object], str]] = [
    ("a tokenizer that knows no word of the texts", speechless, "knows (none|almost none)"),
    (
        "a pipe for the training file",
        lambda: (
            SET.mkdir(parents=True),
            os.mkfifo(SET / "train.csv"),
            (SET / "test.csv").write_bytes(b"x"),
            read("imdb", Source(path="set")),
        ),
        "there is no",
    ),
    (
        "a device for the training file",
        lambda: (
            SET.mkdir(parents=True),
            (SET / "train.csv").symlink_to("/dev/zero"),
            (SET / "test.csv").write_bytes(b"x"),
            read("imdb", Source(path="set")),
        ),
        "there is no",
    ),
    ("/proc/self as a folder", lambda: read("imdb", Source(path="/proc/self")), "there is no"),
]
CASES = [
    *(Case("texts", name, act, told) for name, act, told in REFUSED),
    *(Case("texts", name, act, told, alone=True) for name, act, told in ALONE),
    *(Case("texts", name, act, told=told) for name, act, told in TOLD),
    *(Case("texts", name, act) for name, act in HANDLED),
    Case("texts", "a word of ten million letters", long_word, alone=True),
]
