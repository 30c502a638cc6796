"""Where a raw text data set comes from: generated, a local copy, a verified download, or the Hugging Face hub."""

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from descent.errors import UserError
from descent.io import archives, downloads
from descent.io.folders import written_whole
from descent.tasks.text import readers as text_readers
from descent.tasks.text.schema import HubData, TextSource
from descent.tasks.text.synthetic import texts as synthetic_text
from descent.tasks.text.tables import Part, layout

Read = tuple[dict[str, Part], tuple[str, ...]]  # the parts train and test, and the names of the classes
DRAW = 0  # seed of the draw where a limit is set


def fetch(name: str, source: TextSource, local_data: str, out: Path) -> None:
    """Make the folder `out` of a raw text data set, whole or not at all.

    It holds train.parquet and test.parquet (text, pair for pairs, label int64) and source.json (synthetic,
    origin, classes, and how many texts were dropped, by part and reason).

    Args:
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: a missing or unusable source, a failed download, a damaged or unsafe archive.
    """
    local = _local(name, source.path, local_data) if source.path is not None else None
    if source.url is not None:
        archives.check_suffix(downloads.file_name(source.url))
    with written_whole(out) as folder:
        if source.generate is not None:
            tables = synthetic_text.generate(name, source.generate)
            parts, classes = text_readers.tidy(name, tables, {part: f"generated {part}" for part in tables})
            origin = f"generated, seed {source.generate.seed}"
        elif source.hub is not None:
            (parts, classes), origin = _from_hub(name, source.hub), _hub_name(source.hub)
        elif source.url is not None:
            archive = downloads.download(source.url, source.sha256)
            (parts, classes), origin = _unpacked(archive, folder / "unpacked", name), source.url
        elif local.is_file():
            (parts, classes), origin = _unpacked(local, folder / "unpacked", name), source.path
        else:
            (parts, classes), origin = text_readers.read(name, local), source.path
        for part, limit in (("train", source.train_texts), ("test", source.test_texts)):
            _write(draw(parts[part].table, limit), folder / f"{part}.parquet")
        content = {
            "synthetic": source.generate is not None,
            "origin": origin,
            "classes": list(classes),
            "dropped": {part: parts[part].dropped for part in parts},
        }
        (folder / "source.json").write_text(json.dumps(content, indent=1) + "\n")


def draw(table: pd.DataFrame, limit: int | None) -> pd.DataFrame:
    """At most `limit` rows, at random, each class by its share, in their old order; None takes all."""
    if limit is None or limit >= len(table):
        return table
    # Files are often sorted by label. Within its class each text gets a place between 0 and 1 by chance.
    shuffled = table["label"].iloc[np.random.default_rng(DRAW).permutation(len(table))]
    within = shuffled.groupby(shuffled)
    place = (within.cumcount() + 0.5) / within.transform("size")
    chosen = place.sort_values(kind="stable").index[:limit]
    return table.loc[np.sort(chosen)]


def _write(table: pd.DataFrame, path: Path) -> None:
    # Without pandas' own metadata, which name versions: the same texts then make the same bytes.
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None), path)


def _local(name: str, path: str, local_data: str) -> Path:
    """The folder or archive that a `path` source names."""
    found = downloads.local(local_data, path)
    if found.is_file():
        archives.check_suffix(found.name)
    elif not found.is_dir():
        form = layout(name)
        raise UserError(
            f"{name}: there is no folder or archive {found}.\n"
            f"Put a copy of the data set there, holding {form.tree}\n"
            f"(or a .zip, .tar.gz of it), or say where your copies are: `dvc exp run -S local_data=<folder>`.\n"
            f"Official source: {form.address}"
        )
    return found


def _unpacked(archive: Path, folder: Path, name: str) -> Read:
    """Read an archive by way of a folder that is gone afterwards."""
    folder.mkdir()
    archives.unpack(archive, folder)
    read = text_readers.read(name, folder)
    shutil.rmtree(folder)
    return read


def _hub_name(hub: HubData) -> str:
    named = f"{hub.id} ({hub.configuration})" if hub.configuration else hub.id
    return f"hub {named}" + (f" at {hub.revision}" if hub.revision else "")


def _from_hub(name: str, hub: HubData) -> Read:
    """The parts of a data set of the hub.

    Raises:
        UserError: the hub cannot be reached, or has no such data set, configuration, revision or parts.
    """
    import datasets  # slow to import, and only this source needs it

    splits = _told(name, hub, lambda: datasets.load_dataset(hub.id, hub.configuration, revision=hub.revision))
    form, tables, where = layout(name), {}, {}
    for part, names in (("train", form.train), ("test", form.test)):
        found = next((split for split in names if split in splits), None)
        if found is None:
            raise UserError(
                f"{name}: {_hub_name(hub)} has the parts {', '.join(splits)}; expected {' or '.join(names)}"
            )
        tables[part], where[part] = splits[found].to_pandas(), f"{_hub_name(hub)}, part {found}"
    return text_readers.tidy(name, tables, where)


def _told(name: str, hub: HubData, load: Callable[[], dict]) -> dict:
    """What `load` returns; what the hub's library raises becomes one message."""
    from datasets.exceptions import DatasetsError

    try:
        return load()
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        form = layout(name)
        raise UserError(
            f"{name}: cannot get {_hub_name(hub)} from the Hugging Face hub ({reason}).\n"
            f"Run again with a connection, or get the data set another way and name its folder with `path` in "
            f"place of `hub` in params.yaml; it should hold {form.tree}\nOfficial source: {form.address}"
        ) from None
