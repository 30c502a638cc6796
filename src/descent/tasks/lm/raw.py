"""Where instructions come from: generated, a local copy in Alpaca's layout, or the Hugging Face hub."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from descent.errors import UserError
from descent.io.downloads import local
from descent.io.folders import written_whole
from descent.tasks.lm.schema import InstructionSource
from descent.tasks.lm.synthetic import instructions as synthetic_instructions
from descent.tasks.text.schema import Hub

COLUMNS = ["instruction", "input", "output"]
TREE = "alpaca_data.json (a list of objects with instruction, input and output; .jsonl and .parquet are read too)"
ADDRESS = "https://github.com/tatsu-lab/stanford_alpaca"
INSTRUCTIONS, PROMPTS = ("alpaca_data", "train", "instructions"), ("alpaca_eval", "eval", "prompts")
SUFFIXES = (".parquet", ".jsonl", ".json")
DRAW = 0  # seed of the draw where a limit is set


def fetch(source: InstructionSource, local_data: str, out: Path) -> None:
    """Make the folder `out`, whole or not at all.

    It holds instructions.parquet (COLUMNS), prompts.parquet (instruction, dataset) where the source has prompts of
    its own, and source.json (synthetic, origin, and how many rows were dropped by reason).

    Args:
        local_data: what a relative `path` of the source is relative to.

    Raises:
        UserError: a missing or unreadable source, columns that are not there, or no usable row.
    """
    prompts = None
    if source.generate is not None:
        table, origin = synthetic_instructions.generate(source.generate), f"generated, seed {source.generate.seed}"
    elif source.hub is not None:
        table, origin = _from_hub(source.hub), f"hub {source.hub.id}"
    else:
        folder, origin = local(local_data, source.path), source.path
        table, prompts = _instructions(folder), _beside(folder, PROMPTS)
    if source.prompts is not None:
        prompts = _prompts_from_hub(source.prompts)
    table, dropped = clean(table, origin)
    if source.instructions is not None and source.instructions < len(table):
        chosen = np.random.default_rng(DRAW).permutation(len(table))[: source.instructions]
        table = table.iloc[np.sort(chosen)]
    with written_whole(out) as folder:
        _write(table, folder / "instructions.parquet")
        if prompts is not None:
            _write(_prompts(prompts, origin), folder / "prompts.parquet")
        content = {"synthetic": source.generate is not None, "origin": origin, "dropped": dropped}
        (folder / "source.json").write_text(json.dumps(content, indent=1) + "\n")


def clean(table: pd.DataFrame, where: str) -> tuple[pd.DataFrame, dict[str, int]]:
    """COLUMNS of the rows that have an instruction and a response, and how many had not.

    Raises:
        UserError: a column is missing, holds no texts, or no row is left.
    """
    missing = [name for name in ("instruction", "output") if name not in table]
    if missing:
        raise UserError(f"{where} has no column {missing[0]!r}, only {', '.join(table.columns)}; expected {TREE}")
    table = table.reindex(columns=COLUMNS).fillna("")
    for name in COLUMNS:
        if not table[name].map(lambda value: isinstance(value, str)).all():
            raise UserError(f"{where}: the column {name!r} does not hold texts; expected {TREE}")
    empty = {name: table[name].str.strip() == "" for name in ("instruction", "output")}
    kept = table[~empty["instruction"] & ~empty["output"]].reset_index(drop=True)
    dropped = {f"empty {name}": int(rows.sum()) for name, rows in empty.items() if rows.any()}
    if kept.empty:
        raise UserError(f"{where}: of {len(table)} rows none has both an instruction and a response ({dropped})")
    return kept, dropped


def _instructions(folder: Path) -> pd.DataFrame:
    if not folder.exists():
        raise UserError(
            f"there is no folder or file {folder}.\nPut instructions there, holding {TREE}, or say "
            f"where your copies "
            f"are: `dvc exp run -S local_data=<folder>`.\nOfficial source: {ADDRESS}"
        )
    found = _frame(folder) if folder.is_file() else _beside(folder, INSTRUCTIONS)
    if found is None:
        raise UserError(f"there are no instructions in {folder}; it should hold {TREE}")
    return found


def _beside(folder: Path, beginnings: tuple[str, ...]) -> pd.DataFrame | None:
    """The table of the first file of a folder that begins and ends as it should."""
    for beginning in beginnings:
        for suffix in SUFFIXES:
            for path in sorted(folder.glob(f"{beginning}*{suffix}")):
                return _frame(path)
    return None


def _frame(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        text = path.read_text(encoding="utf-8")
        rows = (
            [json.loads(line) for line in text.splitlines() if line]
            if path.suffix == ".jsonl"
            else json.loads(text)
        )
        if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            raise ValueError("it is no list of objects")
        return pd.DataFrame(rows)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path} cannot be read ({reason}); expected {TREE}") from None


def _prompts(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """instruction and dataset of AlpacaEval's prompts."""
    if "instruction" not in table:
        raise UserError(f"{where}: the prompts have no column 'instruction', only {', '.join(table.columns)}")
    dataset = table.get("dataset", "prompts")
    return pd.DataFrame({"instruction": table["instruction"].astype(str), "dataset": dataset})


def _from_hub(hub: Hub) -> pd.DataFrame:
    import datasets  # slow to import, and only this source needs it

    splits = _told(hub, lambda: datasets.load_dataset(hub.id, revision=hub.revision))
    if "train" not in splits:
        raise UserError(f"{hub.id} has the parts {', '.join(splits)}; expected train")
    return splits["train"].to_pandas()


def _prompts_from_hub(hub: Hub) -> pd.DataFrame:
    """AlpacaEval is handed out as one file, beside a loading script that the library runs no longer."""
    from huggingface_hub import hf_hub_download

    name = {"repo_type": "dataset", "filename": "alpaca_eval.json", "revision": hub.revision}
    return _frame(Path(_told(hub, lambda: hf_hub_download(hub.id, **name))))


def _told(hub: Hub, load: Callable[[], Any]) -> Any:
    """What `load` returns; what the hub's libraries raise becomes one message."""
    from datasets.exceptions import DatasetsError

    try:
        return load()
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"cannot get {hub.id} from the Hugging Face hub ({reason}).\nRun again with a connection, "
            f"or put a copy "
            "into a folder under local_data and name it with `path` in place of `hub` under "
            "profiles.<profile>.lm.data "
            f"in params.yaml; it should hold {TREE}\nOfficial source: {ADDRESS}"
        ) from None


def _write(table: pd.DataFrame, path: Path) -> None:
    # Without pandas' own metadata, which name versions: the same texts then make the same bytes.
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None), path)
