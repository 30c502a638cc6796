"""The results table: one number a row, nothing aggregated; a missing number is a missing row."""

import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from descent.errors import UserError

COLUMNS = {
    "profile": str,
    "experiment": str,  # video | infeasible
    "dataset": str,
    "model": str,  # ut | dust, or the maps `identity` and `zero` (method `reference`, layers 0)
    "method": str,  # constrained | unconstrained | reference
    "layers": int,
    "eps": float,  # training noise level
    "seed": int,
    "split": str,  # validation | test
    "gamma": float,  # test noise level
    "layer": int,
    "metric": str,  # METRICS
    "value": float,
}
METRICS = {
    "loss": "f_l: mean squared error of layer l's output per patch (test), units of params video.patch_loss",
    "rmse": "root mean squared error of the last layer's output, 0-255 gray levels",
    "rmse_clipped": "the same with the output clipped to [0, 255]",
    "validation_loss": "f_l on validation data at the training noise level, at the reported epoch",
    "violation": "relative violation of constraint l on validation data at the reported epoch, <= 0 satisfied",
    "feasible": "1 where the worst relative violation on validation data is below video.tolerance, else 0",
    "diverged": "1 where training met NaN or a loss above training.diverged_above, else 0",
    "epoch": "the epoch whose weights are reported",
}


def write(rows: pd.DataFrame, path: Path) -> None:
    """Check the columns, sort, and write a parquet file whole or not at all."""
    table = rows.loc[:, list(COLUMNS)].astype(COLUMNS)
    unknown = set(table["metric"]) - set(METRICS)
    if unknown:
        raise ValueError(f"unknown metrics {sorted(unknown)}")
    table = table.sort_values(list(COLUMNS), ignore_index=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".partial{os.getpid()}")  # experiments share the store of scores
    table.to_parquet(partial, index=False)
    partial.replace(path)


def collect(paths: Iterable[Path], profile: str) -> pd.DataFrame:
    """Join score files.

    Raises:
        UserError: no file asked for, one missing, or one of another profile.
    """
    tables = []
    for path in paths:
        if not path.exists():
            raise UserError(f"{path} is missing: run `dvc repro` to evaluate it")
        table = pd.read_parquet(path)
        if set(table["profile"]) != {profile}:
            raise UserError(f"{path} is of profile {set(table['profile'])}, not {profile!r}: run `dvc repro`")
        tables.append(table)
    if not tables:
        raise UserError("no scores to collect: params.yaml asks for no data set, model or method")
    return pd.concat(tables, ignore_index=True)
