"""Where a raw text data set comes from: generated, a local copy, a verified download, or the Hugging Face hub."""

import json
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from descent import components
from descent.errors import UserError
from descent.io import archives, downloads, hub, parquet, sources
from descent.io.folders import atomic_folder
from descent.tasks.text import readers
from descent.tasks.text.schema import GenerateTexts, HubData, Source
from descent.tasks.text.synthetic import texts
from descent.tasks.text.tables import Part, layout

Read = tuple[dict[str, Part], str]  # the parts (train, test, elsewhere), and what source.json calls their origin
DRAW = 0  # seed of the draw where a limit is set


def fetch(dataset: str, source: Source, local_data: str, out: Path) -> None:
    """Make the folder `out` of a raw text data set, whole or not at all.

    It holds train.parquet and test.parquet (text, pair for pairs, label int64, of test texts their group where
    they have any), elsewhere.parquet where the source has such a part, and source.json (synthetic, origin,
    classes, and how many texts were dropped, by part and reason).

    Args:
        dataset: a file of datasets/.
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: a missing or unusable source, a failed download, a damaged or unsafe archive, no test texts.
    """
    known = components.load("tasks.text.datasets", dataset)
    local = sources.local(known, source.path, local_data) if source.path is not None else None
    if source.url is not None:
        archives.check_suffix(downloads.file_name(source.url))
    with atomic_folder(out) as folder:
        if source.generate is not None:
            parts, origin = _generated(known, source.generate)
        elif source.hub is not None:
            parts, origin = _from_hub(known, source.hub)
        elif source.url is not None:
            archive = downloads.download(source.url, source.sha256)
            parts = _unpacked(archive, folder / "unpacked", known)
            origin = source.url
        elif local.is_file():
            parts = _unpacked(local, folder / "unpacked", known)
            origin = source.path
        else:
            parts = readers.read(layout(known), local)
            origin = source.path
        limits = {"train": source.train_texts, "test": source.test_texts, "elsewhere": source.test_texts}
        skipped = {"test": source.test_skip}
        for part, own in parts.items():
            drawn = draw(own.table, limits[part], skipped.get(part, 0))
            if drawn.empty:
                raise UserError(
                    f"{dataset}: test_skip {source.test_skip} leaves none of {len(own.table)} test texts"
                )
            parquet.write(drawn, folder / f"{part}.parquet")
        content = {
            "synthetic": source.generate is not None,
            "origin": origin,
            "classes": list(known.CLASSES),
            "dropped": {part: parts[part].dropped for part in parts},
        }
        (folder / "source.json").write_text(json.dumps(content, indent=1) + "\n")


def draw(table: pd.DataFrame, limit: int | None, skip: int = 0) -> pd.DataFrame:
    """At most `limit` rows, at random, each class by its share, in their old order; None takes all.

    `skip` leaves out the rows that a draw of so many takes: what is tested on the rest is tested on other texts.
    """
    if not skip and (limit is None or limit >= len(table)):
        return table
    # Files are often sorted by label. Within its class each text gets a place between 0 and 1 by chance.
    shuffled = table["label"].iloc[np.random.default_rng(DRAW).permutation(len(table))]
    within = shuffled.groupby(shuffled)
    place = (within.cumcount() + 0.5) / within.transform("size")
    chosen = place.sort_values(kind="stable").index[skip:][:limit]
    return table.loc[np.sort(chosen)]


def _generated(dataset: ModuleType, wanted: GenerateTexts) -> Read:
    [write] = sources.generator(dataset, "write")
    tables = texts.generate(sources.name(dataset), len(dataset.CLASSES), write, wanted)
    parts = readers.tidy(layout(dataset), tables, {part: f"generated {part}" for part in tables})
    return parts, f"generated, seed {wanted.seed}"


def _unpacked(archive: Path, folder: Path, dataset: ModuleType) -> dict[str, Part]:
    """Read an archive by way of a folder that is gone afterwards."""
    folder.mkdir()
    archives.unpack(archive, folder)
    parts = readers.read(layout(dataset), folder)
    shutil.rmtree(folder)
    return parts


def _from_hub(dataset: ModuleType, wanted: HubData) -> Read:
    """The parts of a data set of the hub.

    Raises:
        UserError: the hub cannot be reached, or has no such data set, configuration, revision or parts.
    """
    import datasets  # slow to import, and only this source needs it

    origin = f"hub {wanted.id}" + (f" ({wanted.configuration})" if wanted.configuration else "")
    origin += f" at {wanted.revision}" if wanted.revision else ""
    splits = hub.answer(
        lambda: datasets.load_dataset(wanted.id, wanted.configuration, revision=wanted.revision),
        origin.removeprefix("hub "),
        sources.without_hub(dataset),
    )
    form = layout(dataset)
    tables = {}
    where = {}
    for part, names in (("train", form.train), ("test", form.test), ("elsewhere", form.elsewhere)):
        found = next((split for split in names if split in splits), None)
        if found is None and part == "elsewhere":
            continue
        if found is None:
            raise UserError(
                f"{form.name}: {origin} has the parts {', '.join(splits)}; expected {' or '.join(names)}"
            )
        tables[part] = splits[found].to_pandas()
        where[part] = f"{origin}, part {found}"
    return readers.tidy(form, tables, where), origin
