"""A raw text data set is there whole or not at all, from wherever it comes; a limit draws fairly."""

import hashlib
import io
import json
import tarfile
from functools import partial
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pytest
from datasets.exceptions import DatasetNotFoundError

from descent import components, config
from descent.errors import UserError
from descent.tasks.text.raw import draw, fetch
from descent.tasks.text.readers import read
from descent.tasks.text.schema import GenerateTexts, HubData, Source
from descent.tasks.text.tables import layout
from stages import download

DEMO = Source(generate=GenerateTexts(seed=1, train_texts=40, test_texts=10))
PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def reviews(count: int, name: str) -> pd.DataFrame:
    """Sorted by label, as the real ones."""
    rows = [(f"{name} {i}", int(i >= count / 2)) for i in range(count)]
    return pd.DataFrame(rows, columns=["text", "label"])


def local_set(folder: Path, parts: tuple[str, ...] = ("train", "test")) -> Path:
    folder.mkdir(parents=True)
    for part in parts:
        reviews(10, part).to_parquet(folder / f"{part}.parquet")
    return folder


def tables(out: Path = Path("out")) -> dict[str, list[tuple]]:
    return {
        part: list(pd.read_parquet(out / f"{part}.parquet").itertuples(index=False, name=None))
        for part in ("train", "test")
    }


def facts(out: Path = Path("out")) -> dict:
    return json.loads((out / "source.json").read_text())


def expected() -> dict[str, list[tuple]]:
    return {part: list(reviews(10, part).itertuples(index=False, name=None)) for part in ("train", "test")}


def nothing_half_written() -> bool:
    return not Path("out").exists() and not list(Path().glob(".out*"))


@pytest.mark.parametrize("name", ["imdb", "mnli"])
def test_a_generated_data_set_is_whole_and_the_same_bytes(name: str) -> None:
    fetch(name, DEMO, "local", Path("out"))
    fetch(name, DEMO, "local", Path("again"))
    names = sorted(path.name for path in Path("out").iterdir())
    assert names == ["source.json", "test.parquet", "train.parquet"]
    assert all((Path("out") / file).read_bytes() == (Path("again") / file).read_bytes() for file in names)
    assert facts()["synthetic"] is True and "seed 1" in facts()["origin"]
    columns = ["text", "pair", "label"] if name == "mnli" else ["text", "label"]
    table = pd.read_parquet("out/train.parquet")
    assert list(table.columns) == columns and len(table) == 40 and table["label"].dtype == "int64"


def test_a_raw_data_set_is_itself_a_local_copy() -> None:
    fetch("mnli", DEMO, "local", Path("out"))
    for old, new in (("train", "train"), ("test", "validation_matched")):
        Path("copy").mkdir(exist_ok=True)
        (Path("copy") / f"{new}.parquet").write_bytes(Path(f"out/{old}.parquet").read_bytes())
    parts = read(layout(components.load("tasks.text.datasets", "mnli")), Path("copy"))
    for part, found in parts.items():
        pd.testing.assert_frame_equal(found.table, pd.read_parquet(f"out/{part}.parquet"))
    assert "group" in parts["test"].table


def test_a_local_folder_is_read(here: Path) -> None:
    local_set(here / "local/sets/imdb")
    fetch("imdb", Source(path="sets/imdb"), "local", Path("out"))
    assert tables() == expected()
    nothing = {"empty": 0, "no_label": 0}
    assert facts() == {
        "synthetic": False,
        "origin": "sets/imdb",
        "classes": ["negative", "positive"],
        "dropped": {"train": nothing, "test": nothing},
    }


def test_relative_paths_start_at_the_users_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local_set(here / "project/local/imdb")
    monkeypatch.setenv("DVC_ROOT", str(here / "project"))
    fetch("imdb", Source(path="imdb"), "local", Path("out"))
    assert tables() == expected()


def archive(here: Path) -> bytes:
    local_set(here / "packed/inside")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as file:
        file.add(here / "packed/inside", "inside")
    return buffer.getvalue()


def test_a_local_archive_is_unpacked_read_and_cleared_away(here: Path) -> None:
    (here / "imdb.tar.gz").write_bytes(archive(here))
    fetch("imdb", Source(path="imdb.tar.gz"), ".", Path("out"))
    assert tables() == expected()
    assert sorted(path.name for path in Path("out").iterdir()) == ["source.json", "test.parquet", "train.parquet"]


def test_a_download_is_verified_unpacked_and_read(here: Path) -> None:
    content = archive(here)
    checksum = hashlib.sha256(content).hexdigest()
    Path(".downloads").mkdir()  # as an earlier download leaves it; tests/io/test_downloads.py has the server
    Path(f".downloads/{checksum[:16]}-imdb.tar.gz").write_bytes(content)
    source = Source(url="http://localhost:9/files/imdb.tar.gz", sha256=checksum)
    fetch("imdb", source, "local", Path("out"))
    assert tables() == expected() and facts()["origin"] == source.url


@pytest.mark.parametrize("share", [0, 0.6])
def test_a_damaged_archive_leaves_the_earlier_data_set(share: float, here: Path) -> None:
    content = archive(here)
    (here / "imdb.tar.gz").write_bytes(content[: int(share * len(content))])
    with pytest.raises(UserError, match=r"imdb\.tar\.gz is damaged or incomplete"):
        fetch("imdb", Source(path="imdb.tar.gz"), ".", Path("out"))
    assert nothing_half_written()
    fetch("imdb", DEMO, "local", Path("out"))
    before = tables()
    with pytest.raises(UserError):
        fetch("imdb", Source(path="imdb.tar.gz"), ".", Path("out"))
    assert tables() == before and not list(Path().glob(".out*"))


@pytest.mark.parametrize("name", ["imdb", "mnli"])
def test_a_missing_folder_says_what_to_put_where(name: str) -> None:
    with pytest.raises(UserError) as told:
        fetch(name, Source(path=name), "local", Path("out"))
    message = str(told.value)
    assert f"local/{name}" in message and "-S local_data=" in message and "train" in message and "http" in message
    assert nothing_half_written()


def test_other_files_are_refused_before_anything_is_done(here: Path) -> None:
    (here / "imdb.rar").write_bytes(b"rar")
    with pytest.raises(UserError, match=r"imdb\.rar.*\.zip"):
        fetch("imdb", Source(path="imdb.rar"), ".", Path("out"))
    with pytest.raises(UserError, match=r"imdb\.rar.*\.zip"):
        fetch("imdb", Source(url="http://localhost:9/imdb.rar", sha256="0" * 64), ".", Path("out"))
    assert nothing_half_written()


@pytest.fixture
def hub(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library reads a folder as it reads the hub; its cache goes to a folder that is thrown away."""
    folder = local_set(here / "hub/imdb", ("train", "test", "unsupervised"))
    monkeypatch.setattr(datasets, "load_dataset", partial(datasets.load_dataset, cache_dir=str(here / "cache")))
    return folder


def test_a_data_set_of_the_hub_is_read(hub: Path) -> None:
    fetch("imdb", Source(hub=HubData(id=str(hub), configuration="default")), "local", Path("out"))
    assert tables() == expected()
    assert facts()["origin"] == f"hub {hub} (default)"


def test_a_data_set_of_the_hub_with_other_parts_is_told(hub: Path) -> None:
    with pytest.raises(UserError, match=r"mnli: hub .* has the parts train, .*; expected validation_matched or"):
        fetch("mnli", Source(hub=HubData(id=str(hub))), "local", Path("out"))
    with pytest.raises(UserError, match=r"cannot get .*nosuch.*'default'"):
        fetch("imdb", Source(hub=HubData(id=str(hub), configuration="nosuch")), "local", Path("out"))
    assert nothing_half_written()


@pytest.mark.parametrize(
    "error", [ConnectionError("Couldn't reach it"), DatasetNotFoundError("no such"), ValueError()]
)
def test_without_the_hub_the_local_way_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **more: object) -> None:
        raise error

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(UserError, match=r"cannot get stanfordnlp/imdb at abc from") as told:
        fetch("imdb", Source(hub=HubData(id="stanfordnlp/imdb", revision="abc")), "local", Path("out"))
    assert "`path`" in str(told.value) and "profile>.data.imdb" in str(told.value) and "train" in str(told.value)
    assert nothing_half_written()


@pytest.mark.parametrize("limit", [2, 7, 40, 99])
def test_a_limit_draws_each_class_by_its_share(limit: int) -> None:
    table = pd.DataFrame({"text": [f"text {i}" for i in range(100)], "label": [0] * 60 + [1] * 40})
    few = draw(table, limit)
    assert len(few) == len(set(few["text"])) == limit
    assert abs(few["label"].sum() - 0.4 * limit) <= 1
    assert few.equals(table.loc[few.index]) and few.index.is_monotonic_increasing
    assert few.equals(draw(table, limit))


def test_a_limit_takes_texts_from_everywhere_or_all() -> None:
    table = reviews(1000, "x")
    places = draw(table, 200).index.to_numpy()
    assert np.histogram(places, bins=5, range=(0, 1000))[0].min() > 20
    assert draw(table, None) is table and draw(table, 1000) is table


@pytest.mark.parametrize("limit", [None, 30, 200])
def test_what_a_draw_takes_can_be_left_out_of_the_next(limit: int | None) -> None:
    table = reviews(100, "x")
    first, rest = draw(table, 40), draw(table, limit, skip=40)
    assert len(rest) == min(limit or 60, 60) and rest.index.is_monotonic_increasing
    assert not set(first.index) & set(rest.index)
    assert abs(rest["label"].mean() - table["label"].mean()) <= 1 / len(rest)


def test_a_draw_that_leaves_no_test_texts_is_refused(here: Path) -> None:
    local_set(here / "local/imdb")
    tests = len(expected()["test"])
    fetch("imdb", Source(path="imdb", test_skip=tests - 1), "local", Path("out"))
    assert [len(rows) for rows in tables().values()] == [len(expected()["train"]), 1]
    with pytest.raises(UserError, match=f"test_skip {tests} leaves none of {tests} test texts"):
        fetch("imdb", Source(path="imdb", test_skip=tests), "local", Path("other"))
    assert not Path("other").exists()


def test_limits_hold_for_their_parts(here: Path) -> None:
    local_set(here / "local/imdb")
    fetch("imdb", Source(path="imdb", train_texts=4, test_texts=2), "local", Path("out"))
    assert [len(rows) for rows in tables().values()] == [4, 2]
    assert set(tables()["train"]) < set(expected()["train"])


def test_the_stage_reads_params_yaml_and_refuses_other_names(here: Path) -> None:
    (here / "params.yaml").write_text(PARAMS.read_text())
    download.main("text", "imdb")
    demo = config.load().source("text", "imdb").generate
    assert [len(rows) for rows in tables(Path("data/raw/imdb")).values()] == [demo.train_texts, demo.test_texts]
    for task, dataset, known in (("text", "ucsd", "imdb, mnli"), ("video", "imdb", "avenue, shanghaitech, ucsd")):
        with pytest.raises(UserError, match=rf"{task} data set: unknown name '{dataset}'; known: {known}"):
            download.main(task, dataset)


def test_a_data_set_without_a_writer_cannot_be_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(components.load("tasks.text.datasets", "imdb"), "write")
    with pytest.raises(UserError, match=r"imdb cannot be generated, as .*imdb\.py has no write: name a source"):
        fetch("imdb", DEMO, "local", Path("out"))
    assert nothing_half_written()
