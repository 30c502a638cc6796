"""Where instructions come from: generated, a local copy in Alpaca's layout, or the Hugging Face hub."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa

from descent import components
from descent.errors import UserError
from descent.io import hub, parquet, sources
from descent.io.failures import reason
from descent.io.folders import atomic_folder
from descent.schema import Hub
from descent.tasks.lm.schema import Source

COLUMNS = ["instruction", "input", "output"]
SUFFIXES = (".parquet", ".jsonl", ".json")
DRAW = 0  # seed of the draw where a limit is set


def fetch(dataset: str, source: Source, local_data: str, out: Path) -> None:
    """Make the folder `out`, whole or not at all.

    It holds instructions.parquet (COLUMNS), prompts.parquet (instruction, dataset) where the source has prompts of
    its own, and source.json (synthetic, origin, and how many rows were dropped by reason).

    Args:
        dataset: a file of datasets/.
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: a missing or unreadable source, columns that are not there, or no usable row.
    """
    known = components.load("tasks.lm.datasets", dataset)
    prompts = None
    if source.generate is not None:
        [generate] = sources.generator(known, "generate")
        table = generate(source.generate)
        origin = f"generated, seed {source.generate.seed}"
    elif source.hub is not None:
        table = _from_hub(known, source.hub)
        origin = f"hub {source.hub.id}"
    else:
        place = sources.local(known, source.path, local_data, SUFFIXES)
        origin = source.path
        table = _instructions(known, place)
        prompts = _beside(known, place, known.PROMPTS)
    if source.prompts is not None:
        prompts = _prompts_from_hub(known, source.prompts)
    table, dropped = clean(table, origin, known.TREE)
    if source.instructions is not None and source.instructions < len(table):
        chosen = np.random.default_rng(DRAW).permutation(len(table))[: source.instructions]
        table = table.iloc[np.sort(chosen)]
    with atomic_folder(out) as folder:
        parquet.write(table, folder / "instructions.parquet")
        if prompts is not None:
            parquet.write(_prompts(prompts, origin), folder / "prompts.parquet")
        content = {"synthetic": source.generate is not None, "origin": origin, "dropped": dropped}
        (folder / "source.json").write_text(json.dumps(content, indent=1) + "\n")


def clean(table: pd.DataFrame, where: str, tree: str) -> tuple[pd.DataFrame, dict[str, int]]:
    """COLUMNS of the rows that have an instruction and a response, and how many had not.

    Args:
        where, tree: the file and what it should hold, for messages.

    Raises:
        UserError: a column is missing, holds no texts, or no row is left.
    """
    missing = [name for name in ("instruction", "output") if name not in table]
    if missing:
        raise UserError(
            f"{where} has no column {missing[0]!r}, only {', '.join(map(str, table.columns))}; expected {tree}"
        )
    table = table.reindex(columns=COLUMNS).astype(object).fillna("")
    for name in COLUMNS:
        if not table[name].map(lambda value: isinstance(value, str)).all():
            raise UserError(f"{where}: the column {name!r} does not hold texts; expected {tree}")
    empty = {name: table[name].str.strip() == "" for name in ("instruction", "output")}
    kept = table[~empty["instruction"] & ~empty["output"]].reset_index(drop=True)
    dropped = {f"empty {name}": int(rows.sum()) for name, rows in empty.items() if rows.any()}
    if kept.empty:
        raise UserError(f"{where}: of {len(table)} rows none has both an instruction and a response ({dropped})")
    return kept, dropped


def _instructions(dataset: ModuleType, place: Path) -> pd.DataFrame:
    """The instructions of a folder or a file."""
    found = _frame(dataset, place) if place.is_file() else _beside(dataset, place, dataset.INSTRUCTIONS)
    if found is None:
        raise UserError(f"there are no instructions in {place}; it should hold {dataset.TREE}")
    return found


def _beside(dataset: ModuleType, folder: Path, beginnings: tuple[str, ...]) -> pd.DataFrame | None:
    """The table of a folder's file, or of all its shards, that begin and end as they should; None without any.

    Raises:
        UserError: one that cannot be read, or shards of unlike columns, of which some would be empty.
    """
    paths = sources.part(folder, beginnings, SUFFIXES)
    tables = [_frame(dataset, path) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        if {*table.columns} != {*tables[0].columns}:
            one, other = (", ".join(map(str, each.columns)) for each in (table, tables[0]))
            raise UserError(f"{path} has the columns {one}, and {paths[0].name} {other}: give them the same")
    return pd.concat(tables, ignore_index=True) if tables else None


def _frame(dataset: ModuleType, path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        text = path.read_text(encoding="utf-8-sig")
        # Not splitlines: U+2028 and its like may stand within a line of JSON.
        rows = (
            [json.loads(line) for line in text.split("\n") if line.strip()]
            if path.suffix == ".jsonl"
            else json.loads(text)
        )
        if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            raise ValueError("it is no list of objects")
        return pd.DataFrame(rows)
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        raise UserError(f"{path} cannot be read ({reason(error)}); expected {dataset.TREE}") from None


def _prompts(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """instruction and dataset of AlpacaEval's prompts."""
    if "instruction" not in table:
        raise UserError(
            f"{where}: the prompts have no column 'instruction', only {', '.join(map(str, table.columns))}"
        )
    told = pd.DataFrame({"instruction": table["instruction"], "dataset": table.get("dataset", "prompts")})
    told["dataset"] = told["dataset"].astype(object).fillna("prompts")
    told = told[told["instruction"].map(lambda value: isinstance(value, str) and bool(value.strip()))]
    if told.empty:
        raise UserError(f"{where}: the prompts hold no instruction")
    return told.astype(str)


def _from_hub(dataset: ModuleType, wanted: Hub) -> pd.DataFrame:
    import datasets  # slow to import, and only this source needs it

    splits = hub.answer(
        lambda: datasets.load_dataset(wanted.id, revision=wanted.revision),
        wanted.id,
        sources.without_hub(dataset),
    )
    if "train" not in splits:
        raise UserError(f"{wanted.id} has the parts {', '.join(splits)}; expected train")
    return splits["train"].to_pandas()


def _prompts_from_hub(dataset: ModuleType, wanted: Hub) -> pd.DataFrame:
    """AlpacaEval is handed out as one file, beside a loading script that the library runs no longer."""
    from huggingface_hub import hf_hub_download

    name = {"repo_type": "dataset", "filename": "alpaca_eval.json", "revision": wanted.revision}
    file = hub.answer(lambda: hf_hub_download(wanted.id, **name), wanted.id, sources.without_hub(dataset))
    return _frame(dataset, Path(file))
