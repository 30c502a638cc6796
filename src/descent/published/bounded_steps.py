"""What steps within bounds are worth (`step: current`), from every published part that trained with them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from descent.analysis import cell_scores
from descent.analysis.controls import over_seeds
from descent.analysis.lost import truth
from descent.analysis.wording import gain
from descent.components import TASKS
from descent.config import Params
from descent.published import files, shape
from descent.published.gains import FOUND
from descent.published.markdown import linked, pipe
from descent.study import RATE, Study

KIND = ["experiment", "dataset", "model", "arm"]  # what parameters say of cells is said by
SHARED = ["size", "dataset", "layers", "eps", "epochs", "parameters", "alike", "seed"]  # what a pair shares
GAINS = ["out", "in"]
MADE = ("model", "frames", "camera", "layers", "eps", "epochs")  # headings: what was trained, and how
ACROSS = ("run, bounded / not", *MADE, "arm", "rates, bounded / not", *FOUND, "lost, bounded / not")
ON_TOP = ("run", *MADE, "rates, constrained / plain", *FOUND, "lost, constrained / plain")


def tables(folders: Sequence[Path], params: Params) -> str:
    """Two tables in Markdown: bounded steps against those that training may lengthen, of one arm and seed, in
    models that are else alike but for thresholds, the rate and R_0; and constraints on top of bounded steps.
    Empty where no part has such steps.

    A gain is the mean of ln(RMSE of the other / RMSE) over the swept levels of test noise above that of training,
    or up to it, with Student's 95 % interval over the seeds of which neither cell is lost.
    """
    found = [cells for folder in folders if len(cells := _cells(folder, params))]
    if not any(cells["bounded"].any() for cells in found):
        return ""
    cells = pd.concat(found)
    bounded = cells[cells["bounded"]]
    across = bounded.merge(cells[~cells["bounded"]], on=[*SHARED, "arm", "solver"], suffixes=("", "_other"))
    ours, baseline = (bounded[bounded["arm"] == arm] for arm in params.comparison.arms)
    on_top = ours.merge(baseline, on=[*SHARED, "model", "part", "experiment", "varied"], suffixes=("", "_other"))
    said = []
    for header, pairs, by in ((ACROSS, across, ["arm", "part", "part_other"]), (ON_TOP, on_top, ["part"])):
        if not pairs.empty:
            by = [*SHARED[:-1], "model", *by, "lr", "lr_other"]
            said.append(pipe(header, [[*_row(row, params)] for row in _gains(pairs, by).to_dict("records")]))
    return "\n\n".join(said)


def _cells(folder: Path, params: Params) -> pd.DataFrame:
    """The cells of both arms of a part's models whose steps may be bounded, each once; of studies those that train
    for another time or at another rate.

    Columns: SHARED, `experiment`, `varied`, `model`, `arm`, `solver`, `lr`, `part`, `bounded`, whether it is
    `lost`, and GAINS, -ln RMSE either side of the level of training, missing where it is.
    """
    if not (folder / cell_scores.FILE).exists():
        return pd.DataFrame()
    own = files.params(folder)
    models = [model for model in own.video.models if "step_scale" in own.model_settings(model, "")]
    times = {"video": 1.0} | {name: study.times for name, study in own.in_use.items() if _of_time_or_rate(study)}
    cells = files.cells(folder)
    arms = params.comparison.arms
    cells = cells[cells["experiment"].isin(times) & cells["model"].isin(models) & cells["arm"].isin(arms)]
    cells = cells.sort_values("experiment", key=lambda names: ~names.isin(TASKS), kind="stable")
    scores = cell_scores.either_side(folder, own.video.evaluation.gammas)
    cells = cells.join(scores, on=scores.index.names).assign(part=folder)
    cells["lost"] = truth(cells["diverged"])
    cells = cells[cells["lost"] | cells["out"].notna()]  # trials of rates are tested on nothing
    if cells.empty:
        return cells
    cells.loc[cells["lost"], GAINS] = np.nan
    digests = files.digests(folder)
    kinds = cells[KIND].drop_duplicates().to_dict("records")
    said = []
    for kind in kinds:
        of_kind = (kind["dataset"], kind["model"], kind["arm"])
        said.append(kind | _said(own, *of_kind, times[kind["experiment"]], digests))
    cells = cells.merge(pd.DataFrame(said), on=KIND)
    # what a study shares with the grid, or a model with another
    once = [*SHARED, "arm", "solver", "bounded", "threshold_of", "lr"]
    return cells.drop_duplicates(once)[[*once, "experiment", "varied", "model", "part", "lost", *GAINS]]


def _of_time_or_rate(study: Study) -> bool:
    return study.same_objectives or (study.vary == RATE and not study.overrides)


def _said(
    own: Params, dataset: str, model: str, arm: str, times: float, digests: Sequence[str]
) -> dict[str, object]:
    """What a part says of such cells: their frame, how long they trained, whether their steps are bounded, and
    `alike` and `solver`, all else that two models must share to be laid beside each other."""
    return {
        "size": own.video.frame.size,
        "epochs": own.epochs(model, times),
        "bounded": own.model_settings(model, arm).get("step") == "current",
        "threshold_of": own.model_settings(model, arm).get("threshold_of", "codes"),
        "alike": shape.shape(own, dataset, model, arm, digests, but=("step", "threshold_of")),
        "solver": json.dumps(shape.without(own.objective(arm, dataset, model), "lr", "R0"), sort_keys=True),
    }


def _gains(pairs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """A row for each `by`: the mean gains over seeds, with intervals and how many seeds; how many are lost."""
    gains = pairs.assign(**{name: pairs[name] - pairs[f"{name}_other"] for name in GAINS})
    counts = gains.groupby(list(by), as_index=False).agg(
        cells=("seed", "size"), lost=("lost", "sum"), lost_other=("lost_other", "sum")
    )
    return counts.merge(over_seeds(gains, GAINS, by), how="left", on=list(by)).sort_values(list(by))


def _row(row: dict[str, Any], params: Params) -> Iterator[object]:
    folders = dict.fromkeys(row[name] for name in ("part", "part_other") if name in row)
    yield " / ".join(linked(folder) for folder in folders)
    yield params.label(row["model"])
    yield f"{row['size']} x {row['size']}"
    yield params.label(row["dataset"])
    yield row["layers"]
    yield f"{row['eps']:g}"
    yield row["epochs"]
    if "arm" in row:
        yield params.label(row["arm"])
    yield f"{row['lr']:g} / {row['lr_other']:g}"
    yield from (gain(row[name], (row[f"{name}_low"], row[f"{name}_high"]), row[f"{name}_seeds"]) for name in GAINS)
    yield int(np.nan_to_num(row["out_seeds"]))
    yield f"{row['lost']} / {row['lost_other']} of {row['cells']}"
