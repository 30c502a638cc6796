"""Tokens are those of each text alone, whatever its neighbours; splits are what they say."""

import json
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tokenizers import Tokenizer

from descent import config
from descent.errors import UserError
from descent.schema import TokenizerSource
from descent.tasks.text import data as text
from descent.tasks.text.prepare import Tokenising, held_out, prepare
from stages import download, preprocess
from tests.fakes.tokens import DEMO, KNOWN, SOURCES, TRAINED


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def raw(folder: Path, name: str = "mnli", parts: dict[str, pd.DataFrame] | None = None) -> Path:
    folder.mkdir(parents=True)
    for part, table in (parts or DEMO[name]).items():
        table.to_parquet(folder / f"{part}.parquet")
    classes = list(KNOWN[name].CLASSES)
    (folder / "source.json").write_text(json.dumps({"synthetic": True, "classes": classes, "dropped": {}}))
    return folder


def how(name: str, source: TokenizerSource, limit: int) -> Tokenising:
    return Tokenising(name, "bert", source, limit, 0.1, "local", "demo")


def prepared(here: Path, kind: str = "wordpiece", name: str = "mnli", limit: int = 26, out: str = "out") -> Path:
    folder = here / "raw" if (here / "raw").exists() else raw(here / "raw", name)
    prepare(folder, here / out, how(name, SOURCES[kind], limit))
    return here / out


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", DEMO)
def test_tokens_are_those_of_each_text_alone(kind: str, name: str, here: Path) -> None:
    out = prepared(here, kind, name)
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    meta = json.loads((out / "meta.json").read_text())
    tokenizer.enable_truncation(26, strategy="longest_first")
    train = DEMO[name]["train"]
    held = held_out(train["text"].tolist(), 0.1)
    tables = {"train": train[~held], "validation": train[held], "test": DEMO[name]["test"]}
    everything = Counter()
    for split, table in tables.items():
        tokens, offsets, labels = (
            np.load(out / f"{split}_{array}.npy") for array in ("tokens", "offsets", "labels")
        )
        texts = table[[name for name in ("text", "pair") if name in table]]
        expected = [tokenizer.encode(*row) for row in texts.itertuples(index=False, name=None)]
        found = [tokens[first:last].tolist() for first, last in pairwise(offsets)]
        assert found == [encoding.ids for encoding in expected]
        assert (tokens.dtype, offsets.dtype, labels.dtype) == (np.uint16, np.int64, np.int64)
        assert labels.tolist() == table["label"].tolist()
        assert meta["texts"][split] == len(table) and meta["tokens"][split] == len(tokens)
        assert meta["cut"][split] == sum(bool(encoding.overflowing) for encoding in expected)
        if split == "train":
            everything.update(tokens.tolist())
    frequencies = np.load(out / "frequencies.npy")
    assert frequencies.dtype == np.int64 and len(frequencies) == meta["vocabulary"]
    assert {token: count for token, count in enumerate(frequencies) if count} == dict(everything)
    assert frequencies[meta["pad"]] == 0


def test_kinds_of_test_texts_are_numbers_with_names_and_an_elsewhere_is_tokenised_too(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = DEMO["mnli"] | {"elsewhere": DEMO["mnli"]["test"].head(9).assign(group="of another place")}
    out = raw(here / "raw", parts=parts) and prepared(here)
    meta = json.loads((out / "meta.json").read_text())
    for split, table in parts.items():
        if split != "train":
            names = [meta["groups"][split][number] for number in np.load(out / f"{split}_groups.npy")]
            assert names == table["group"].tolist() and meta["texts"][split] == len(table)
    assert "told apart" not in capsys.readouterr().out
    assert len(text.load(out).split("elsewhere")) == 9 and set(meta["groups"]) == {"test", "elsewhere"}
    without = {part: table.drop(columns="group") for part, table in DEMO["mnli"].items()}
    raw(here / "plain/raw", parts=without)
    prepare(here / "plain/raw", here / "plain/out", how("mnli", SOURCES["wordpiece"], 26))
    plain = json.loads((here / "plain/out/meta.json").read_text())
    assert plain["groups"] == {} and plain["kinds_digest"] != meta["kinds_digest"]
    assert plain["digest"] == meta["digest"], "kinds and unseen texts train nothing again"
    told = "mnli: its test texts have no column genre, so that they are not told apart by it"
    assert told in capsys.readouterr().out


def test_meta_says_what_was_done(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meta = json.loads((prepared(here) / "meta.json").read_text())
    assert (meta["dataset"], meta["tokenizer"], meta["profile"]) == ("mnli", "bert", "demo")
    assert (meta["pad"], meta["pairs"], meta["max_tokens"], meta["synthetic"]) == (0, True, 26, True)
    assert meta["classes"] == ["entailment", "neutral", "contradiction"] and len(meta["digest"]) == 64
    assert sum(meta["texts"].values()) == 340 and meta["texts"]["test"] == 40
    cut = sum(meta["cut"].values())
    assert 0 < cut < 340
    assert f"mnli, bert: {cut} of 340 texts ({cut / 340:.1%}) are longer than 26 tokens" in capsys.readouterr().out


def test_the_same_input_gives_the_same_bytes_and_another_another_digest(here: Path) -> None:
    first, second = prepared(here, out="a"), prepared(here, out="b")
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {
        p.name: p.read_bytes() for p in second.iterdir()
    }
    other = prepared(here, limit=16, out="c")
    digests = [json.loads((folder / "meta.json").read_text())["digest"] for folder in (first, other)]
    assert digests[0] != digests[1]


def test_a_large_vocabulary_takes_wider_numbers(here: Path) -> None:
    folder = here / "local/large"
    folder.mkdir(parents=True)
    words = [*TRAINED["wordpiece"].get_vocab(), *(f"word{number}" for number in range(66_000))]
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
    source = TokenizerSource(path="large")
    prepare(raw(here / "raw"), here / "out", how("mnli", source, 24))
    assert np.load(here / "out/train_tokens.npy").dtype == np.int32
    assert text.load(here / "out").vocabulary == len(words)


def test_the_validation_texts_do_not_depend_on_order() -> None:
    texts = [f"text {number}" for number in range(5000)]
    held = held_out(texts, 0.1)
    assert held.mean() == pytest.approx(0.1, abs=0.02)
    order = np.random.default_rng(0).permutation(5000)
    np.testing.assert_array_equal(held_out([texts[i] for i in order], 0.1), held[order])
    more = held_out(texts, 0.2)
    assert more[held].all() and more.mean() == pytest.approx(0.2, abs=0.02)


def test_equal_texts_and_equal_premises_stay_together() -> None:
    texts = [(f"premise {number % 200}", f"hypothesis {number}") for number in range(600)]
    held = held_out(texts, 0.3).reshape(3, 200)
    assert (held == held[0]).all() and held.any() and not held.all()


def test_test_texts_seen_in_training_are_counted(here: Path) -> None:
    parts = {
        "train": DEMO["imdb"]["train"],
        "test": pd.concat([DEMO["imdb"]["test"], DEMO["imdb"]["train"].head(7)]),
    }
    raw(here / "raw", "imdb", parts)
    assert json.loads((prepared(here, name="imdb") / "meta.json").read_text())["repeated"] == 7


def test_too_few_texts_are_told(here: Path) -> None:
    parts = {part: table.head(1) for part, table in DEMO["mnli"].items()}
    raw(here / "raw", parts=parts)
    with pytest.raises(UserError, match=r"mnli: 1 training texts are too few to hold out a share of 0\.1"):
        prepared(here)
    assert not (here / "out").exists() and not list(here.glob(".out*"))


@pytest.mark.parametrize("lost", ["everything", "source.json", "train.parquet", "content"])
def test_missing_raw_data_are_told(lost: str, here: Path) -> None:
    folder = raw(here / "raw/mnli")
    if lost == "everything":
        folder = here / "raw/none"
    elif lost == "content":
        (folder / "test.parquet").write_bytes(b"PAR1")
    else:
        (folder / lost).unlink()
    with pytest.raises(
        UserError, match=rf"missing or incomplete: run `dvc repro --force download_text@{folder.name}`"
    ):
        prepare(folder, here / "out", how("mnli", SOURCES["bpe"], 24))


def test_the_stages_lead_from_params_yaml_to_batches(here: Path) -> None:
    (here / "params.yaml").write_text((Path(__file__).parents[2] / "params.yaml").read_text())
    download.main("text", "mnli")
    preprocess.main("text", "mnli")
    tokens = text.load(here / "data/prepared/mnli/roberta")
    assert (tokens.name, tokens.tokenizer, tokens.pad, tokens.classes, tokens.synthetic) == (
        "mnli",
        "roberta",
        1,
        3,
        True,
    )
    assert tokens.max_tokens == config.load().budget.text.max_tokens
    assert {path.name for path in (here / "data/prepared/mnli").iterdir()} == {"bert", "roberta"}
    with pytest.raises(UserError, match=r"text data set: unknown name 'ucsd'; known: imdb, mnli"):
        preprocess.main("text", "ucsd")


def test_only_the_tokenizers_of_the_models_in_use_are_asked(here: Path) -> None:
    text_of = (Path(__file__).parents[2] / "params.yaml").read_text()
    used = text_of.replace("  - ut_text\n  - distilbert\n  - roberta\n", "  - ut_text\n", 1)
    (here / "params.yaml").write_text(used)
    download.main("text", "mnli")
    preprocess.main("text", "mnli")
    assert [path.name for path in (here / "data/prepared/mnli").iterdir()] == ["bert"]
    nothing = used.replace("  models:\n  - ut_text\n", "  models: []\n", 1)
    (here / "params.yaml").write_text(nothing)
    shutil.rmtree(here / "data/prepared/mnli")
    preprocess.main("text", "mnli")
    assert list((here / "data/prepared/mnli").iterdir()) == []
