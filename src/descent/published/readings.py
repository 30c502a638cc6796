"""Whether what is found hangs on what the paper leaves open: every published study of other readings."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from descent.analysis import cell_scores
from descent.analysis.verdicts import student
from descent.analysis.wording import UNKNOWN, gain
from descent.cells import study_depth
from descent.config import Params
from descent.published import files
from descent.published.gains import FOUND
from descent.published.markdown import linked, pipe
from descent.study import READINGS

HEADER = (
    "run",
    "model",
    "data set",
    "layers",
    "reading",
    *FOUND[:2],
    "constraints hold",
    "lost, constrained / plain",
    "constrained over its first reading, out of / in distribution, %",
    "plain over its first reading, out of / in distribution, %",
)


def table(folders: Sequence[Path], params: Params) -> str:
    """A row for each reading of each such study; empty where none is published.

    It says what constraints gain over plain training of the same reading (of texts and language models accuracy,
    in points), with Student's 95 % interval over seeds, and in how many cells they hold on validation data; of
    video also what either arm gains over itself as the study's first reading has it, by seed.
    """
    return pipe(HEADER, [row for folder in folders for row in _rows(folder, params)])


def _rows(folder: Path, params: Params) -> Iterator[list[object]]:
    own = files.params(folder)
    names = [name for name in own.controls() if name.startswith(READINGS)]
    if not names:
        return
    found = files.table(folder, "controls")
    scores = cell_scores.either_side(folder, own.video.evaluation.gammas).reset_index()
    for name in names:
        study = own.studied(name)
        rows = found[found["study"] == name].set_index(["arm", "varied"])
        cells = (
            scores[scores["experiment"] == name].set_index(["arm", "varied", "seed"])[["out", "in"]].sort_index()
        )
        first, *_ = read = [
            ((params.comparison.ours, word), (params.comparison.baseline, study.baseline_of(word)))
            for word in study.variants()
        ]
        for arms in read:
            ours, baseline = (rows.loc[arm] for arm in arms)
            yield [
                linked(folder),
                params.label(study.model),
                params.label(study.dataset),
                study_depth(own, study),
                arms[0][1],
                *(_gain(ours, of, bool(ours["lost"] or baseline["lost"])) for of in ("gain_out", "gain_in")),
                f"{ours['feasible'] * ours['trained']:.0f} of {ours['trained']:.0f}",
                f"{ours['lost']:.0f} / {baseline['lost']:.0f} of {baseline['trained']:.0f}",
                *(_over(cells, *both, rows["lost"]) for both in zip(arms, first, strict=True)),
            ]


def _gain(row: pd.Series, of: str, lost: bool) -> str:
    """Nothing where a cell is lost: it scores as the map to zero, and would tell of nothing else."""
    return UNKNOWN if lost else gain(row[of], (row[f"{of}_low"], row[f"{of}_high"]), int(row[f"{of}_seeds"]))


def _over(cells: pd.DataFrame, arm: tuple[str, str], first: tuple[str, str], lost: pd.Series) -> str:
    """By how much an arm's cells of one reading err less than those of the first, by seed; nothing of that one
    itself, nor where a cell of either is lost or has no score."""
    if arm == first or lost[[arm, first]].any() or not {arm, first} <= {*cells.index.droplevel("seed")}:
        return UNKNOWN
    gained = (cells.loc[arm] - cells.loc[first]).dropna()
    return " / ".join(gain(*student(gained[side].to_numpy(float)), len(gained)) for side in gained)
