"""Folders of pretrained weights that are damaged, of something else, or reach beyond themselves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from safetensors.torch import load_file, save_file

from descent.io.model_files import content
from tests.fakes import lm as language
from tests.fakes.encoders import library
from tests.fakes.instructions import write_instructions
from tests.fakes.text import BUDGET, cells, fed, write_tokens
from tests.faults.case import Case

PLACE = Path("w")
CONFIG, FILE = PLACE / "config.json", PLACE / "model.safetensors"
INDEX = PLACE / "model.safetensors.index.json"


def built(make: Callable[[], object], model: str = "distilbert") -> Callable[[], object]:
    """Build a model from a folder to which something was done, as a training stage does."""

    def act() -> None:
        tokens = write_tokens(Path("imdb-bert"))
        library(model).save_pretrained(PLACE)
        make()
        source = {"weights": {"random": None, "path": str(PLACE.resolve())}}
        made = fed(tokens, model, {f"{BUDGET}.models.{model}.{key}": value for key, value in source.items()})
        made.definition(cells(model)[0])
        made.build(cells(model))

    return act


def embedded(make: Callable[[], object]) -> Callable[[], object]:
    """The same of UT, which takes an encoder's word embeddings from the folder."""

    def act() -> None:
        tokens = write_tokens(Path("imdb-bert"))
        library("distilbert").save_pretrained(PLACE)
        make()
        source = {"width": None, "path": str(PLACE.resolve())}
        made = fed(tokens, "ut_text", {f"{BUDGET}.models.ut_text.embeddings": source})
        made.build(cells("ut_text"))

    return act


def spoken(make: Callable[[], object]) -> Callable[[], object]:
    """The same of a language model of the Llama family."""

    def act() -> None:
        data = write_instructions(Path("alpaca-llama"), Path("raw"))
        language.save_llama(PLACE)
        make()
        language.built(data, weights={"random": None, "path": str(PLACE.resolve())})

    return act


def configured(**changes: Any) -> Callable[[], object]:
    return lambda: CONFIG.write_text(json.dumps(json.loads(CONFIG.read_text()) | changes))


def written(path: Path, content: str | bytes) -> Callable[[], object]:
    return lambda: path.write_bytes(content if isinstance(content, bytes) else content.encode())


def cut(share: float) -> None:
    FILE.write_bytes(FILE.read_bytes()[: int(FILE.stat().st_size * share)])


def indexed(name: str) -> Callable[[], object]:
    """The weights in another place, named by an index."""

    def make() -> None:
        target = PLACE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        tensors = load_file(FILE)
        FILE.unlink()
        save_file(tensors, target, metadata={"format": "pt"})
        INDEX.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(tensors, name)}))

    return make


def pickled() -> None:
    torch.save(load_file(FILE), PLACE / "pytorch_model.bin")
    FILE.unlink()


def indexed_pickle() -> None:
    tensors = load_file(FILE)
    pickled()
    INDEX.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(tensors, "pytorch_model.bin")}))


def broken(**tensors: Any) -> None:
    save_file(load_file(FILE) | tensors, FILE, metadata={"format": "pt"})


def with_nan() -> None:
    tensors = load_file(FILE)
    tensors["embeddings.word_embeddings.weight"][0, 0] = float("nan")
    save_file(tensors, FILE, metadata={"format": "pt"})


def without(name: str) -> None:
    save_file(
        {key: value for key, value in load_file(FILE).items() if key != name}, FILE, metadata={"format": "pt"}
    )


def with_code() -> None:
    configured(auto_map={"AutoConfig": "run.Config", "AutoModel": "run.Model"}, model_type="own")()
    (PLACE / "run.py").write_text("from pathlib import Path\nPath('ran').write_text('')\n")


def code_of_a_folder(way: Callable[[Callable[[], object]], Callable[[], object]]) -> Callable[[], object]:
    """Asked whether to run it, somebody says yes."""

    def act() -> None:
        asked = []
        with mock.patch("builtins.input", lambda *words: asked.append(words) or "y"):
            try:
                way(with_code)()
            finally:
                assert not Path("ran").exists(), "code ran"
                assert not asked, "it was asked whether code may run"

    return act


LOADED = "cannot be (loaded|built)"
NAME = "distilbert.embeddings.word_embeddings.weight"
REFUSED: list[tuple[str, Callable[[], object], str]] = [
    *(
        (f"config.json {name}", built(written(CONFIG, content)), LOADED + "|knows|layers")
        for name, content in {
            "empty": "",
            "of garbage": "{",
            "a list": "[]",
            "a number": "3",
            "null": "null",
            "of nothing": "{}",
            "of an unknown kind": '{"model_type": "nothing"}',
            "of 100,000 brackets": "[" * 100_000,
        }.items()
    ),
    *(
        (
            f"config.json with {name}",
            built(configured(**changes)),
            LOADED + r"|knows \S+ and pads|layers|reads at most",
        )
        for name, changes in {
            "dim a word": {"dim": "16"},
            "n_heads null": {"n_heads": None},
            "zero heads": {"n_heads": 0},
            "heads that do not divide": {"n_heads": 3},
            "heads below zero": {"n_heads": -2},
            "a pad_token_id of a word": {"pad_token_id": "0"},
            "an unknown activation": {"activation": "wavy"},
            "no activation": {"activation": None},
            "a width of zero": {"dim": 0},
            "another width": {"dim": 12},
            "layers of a word": {"n_layers": "2"},
            "no layers": {"n_layers": 0},
            "another vocabulary": {"vocab_size": 99},
            "positions of a word": {"max_position_embeddings": "24"},
            "a type that is none": {"torch_dtype": "wide", "dtype": "wide"},
            "an unknown attention": {"attn_implementation": "quick", "_attn_implementation": "quick"},
            "a quantisation": {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
        }.items()
    ),
    ("no config.json", built(CONFIG.unlink), LOADED),
    ("no weights", built(FILE.unlink), LOADED),
    ("empty weights", built(written(FILE, b"")), LOADED),
    ("weights of garbage", built(written(FILE, b"garbage" * 99)), LOADED),
    ("weights cut in half", built(lambda: cut(0.5)), LOADED),
    ("weights with a header of 2**60 bytes", built(written(FILE, b"\0\0\0\0\0\0\0\x10{}")), LOADED),
    ("pickled weights alone", built(pickled), LOADED),
    (
        "pickled weights by another name",
        built(lambda: (FILE.unlink(), written(PLACE / "model.bin", b"x")())),
        LOADED,
    ),
    ("NaN among the weights", built(with_nan), "holds NaN or infinity"),
    ("code of its own", code_of_a_folder(built), LOADED + "|knows"),
    ("UT: embeddings of a model with code of its own", code_of_a_folder(embedded), LOADED + "|knows"),
    ("UT: embeddings of a width of a word", embedded(configured(dim="8")), LOADED),
    ("llama: code of its own", code_of_a_folder(spoken), LOADED + "|not a 'llama'"),
    ("llama: a width of a word", spoken(configured(hidden_size="32")), LOADED),
    ("llama: zero heads", spoken(configured(num_attention_heads=0)), LOADED),
    ("an index that names a file above", built(indexed("../above.safetensors")), "names a file outside"),
    (
        "an index that names a file in a folder below",
        built(indexed("deep/model.safetensors")),
        "names a file outside",
    ),
    (
        "an index that names a file of the machine",
        built(written(INDEX, '{"weight_map": {"a": "/etc/passwd"}}')),
        "names a file outside",
    ),
    ("an index that names pickled weights", built(indexed_pickle), "from .safetensors alone"),
    ("an index of garbage", built(written(INDEX, "{")), "index"),
    ("an index without files", built(written(INDEX, "{}")), "index"),
    ("an index a list", built(written(INDEX, "[]")), "index"),
    (
        "a link to weights that are gone",
        built(lambda: (FILE.unlink(), FILE.symlink_to("nowhere"))),
        LOADED + "|safetensors",
    ),
    (
        "a config that names a file above",
        built(configured(transformers_weights="../above.safetensors")),
        "names a file outside",
    ),
    (
        "adapters in place of a model",
        built(written(PLACE / "adapter_config.json", '{"base_model_name_or_path": "gpt2"}')),
        "adapter",
    ),
    (
        "a folder that is a file",
        lambda: (written(Path("w2"), b"")(), built(lambda: None)(), taken_from("w2")),
        "there is no folder",
    ),
    ("a folder that is not there", lambda: taken_from("local/w"), "there is no folder"),
    ("roberta: zero heads", built(configured(num_attention_heads=0), "roberta"), LOADED),
    ("roberta: a width of a word", built(configured(hidden_size="8"), "roberta"), LOADED),
    ("roberta: an unknown activation", built(configured(hidden_act="wavy"), "roberta"), LOADED),
]


def taken_from(path: str) -> None:
    tokens = write_tokens(Path("imdb-bert"))
    made = fed(tokens, "distilbert", {f"{BUDGET}.models.distilbert.weights": {"random": None, "path": path}})
    made.build(cells("distilbert"))


def in_parts() -> None:
    """An index of files of its own folder, which are in the fingerprint."""
    name = "model-00001-of-00001.safetensors"
    built(indexed(name))()
    before = content(PLACE)
    tensors = load_file(PLACE / name)
    save_file({key: value + 1 for key, value in tensors.items()}, PLACE / name, metadata={"format": "pt"})
    assert before[name] != content(PLACE)[name], "not in the fingerprint"


CASES = [
    *(Case("weights", name, act, told) for name, act, told in REFUSED),
    Case("weights", "as they should be", built(lambda: None)),
    Case("weights", "UT: embeddings as they should be", embedded(lambda: None)),
    Case("weights", "llama: as they should be", spoken(lambda: None)),
    Case("weights", "a dropout of 7, which params.yaml replaces", built(configured(dropout=7.0))),
    Case("weights", "in parts, with an index", in_parts),
]
