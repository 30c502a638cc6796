"""Damage of every kind to the files of a finished cell, and the item whose cells are damaged."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

WORDS = ("video", "ucsd", "ut")
BUDGET = {"video.models": ["ut"], "profiles.demo.video": {"layers": [2], "eps": [0.13]}}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path, at: int = -3) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def flip_a_page(path: Path) -> None:
    """Of parquet: a byte of its numbers, which nothing but the page's own checksum guards."""
    flip(path, at=pq.read_metadata(path).row_group(0).column(0).data_page_offset + 40)


def changed(path: Path, **values: object) -> None:
    """Of a record: other values, None for a key that is gone."""
    record = json.loads(path.read_text()) | values
    path.write_text(json.dumps({key: value for key, value in record.items() if value is not None}))


def file_in_place(path: Path) -> None:
    for inner in path.parent.iterdir():
        inner.unlink()
    path.parent.rmdir()
    path.parent.write_text("no folder")


def of_another(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fingerprint": "0" * 32}))


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "weights cut in half": ("weights.safetensors", cut),
    "weights with one flipped bit": ("weights.safetensors", flip),
    "weights that are empty": ("weights.safetensors", lambda path: path.write_bytes(b"")),
    "weights that are gone": ("weights.safetensors", Path.unlink),
    "a history cut in half": ("history.csv", cut),
    "a history that is gone": ("history.csv", Path.unlink),
    "a record of garbage": ("cell.json", lambda path: path.write_text("{nonsense")),
    "an empty record": ("cell.json", lambda path: path.write_text("")),
    "a record of nothing": ("cell.json", lambda path: path.write_text("{}")),
    "a record that is a list": ("cell.json", lambda path: path.write_text("[]")),
    "another cell's record": ("cell.json", of_another),
    "a record with another epoch": ("cell.json", lambda path: changed(path, epoch=1)),
    "a record without its epoch": ("cell.json", lambda path: changed(path, epoch=None)),
    "a record without digests": ("cell.json", lambda path: changed(path, files=None)),
    "a record of nested brackets": ("cell.json", lambda path: path.write_text("[" * 100_000)),
    "a record that is no text": ("cell.json", lambda path: path.write_bytes(b"\xff")),
    "a file for a folder": ("cell.json", file_in_place),
}


def weights_of(runs: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(runs.glob("*/weights.safetensors"))}
