"""Parts of a programme as they are published, and how they are judged together."""

from pathlib import Path

import pandas as pd

from descent.analysis import cell_scores, grounds, scorecard
from descent.analysis.summary import cells_table
from descent.published import parts, run_folder
from tests.fakes.evidence import real_params

PARTS = ("small-00000001", "small-00000002")
GAIN = 0.05
DATASETS = ("avenue", "ucsd", "shanghaitech")


def published(results: pd.DataFrame, folder: Path, changes: dict[str, object] | None = None) -> Path:
    """With other parameters beside the same results."""
    folder.mkdir()
    grounds.save(*grounds.of_results(results, real_params()), folder)
    cells_table(results, real_params()).to_csv(folder / "cells.csv", index=False)
    cell_scores.table(results).to_csv(folder / "scores.csv", index=False)
    (folder / "data.sha256").write_text("".join(f"{'0' * 64}  {name}\n" for name in DATASETS))
    (folder / "params.yaml").write_text(run_folder.parameters(real_params(changes)))
    return folder


def two(results: pd.DataFrame, one: pd.Series, folder: Path, **more: object) -> list[Path]:
    """The rows marked and the others, as two parts."""
    [first, second] = [folder / name for name in PARTS]
    return [published(results[one], first), published(results[~one], second, **more)]


def judged(folders: list[Path]) -> pd.DataFrame:
    return scorecard.judged(*parts.joined(folders)).set_index("claim")
