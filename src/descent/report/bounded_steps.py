"""What steps within bounds are worth (`step: current`), from every published part that trained with them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from descent.analysis import grounds, parts
from descent.analysis.controls import over_seeds
from descent.analysis.lost import truth
from descent.analysis.select import in_distribution, select
from descent.analysis.wording import UNKNOWN, signed
from descent.config import Params
from descent.report.markdown import pipe
from descent.report.sections import label
from descent.study import RATE

SCORES = "scores.csv"  # which parts published before 2026-11-27 may lack
CELL = ["experiment", "dataset", "model", "arm", "layers", "eps", "seed", "varied"]
SHAPE = ["kin", "size", "patch", "dataset", "layers", "eps", "parameters", "epoch"]  # and how long it was trained
GAINS = ["out", "in"]
SETTING = ("model", "frames", "camera", "layers", "epochs")
FOUND = ("gain out of distribution, %", "in distribution, %", "pairs")
OVER = ("run, bounded / not", *SETTING, "arm", "learning rates, bounded / not", *FOUND)
ON_TOP = ("run", *SETTING, "learning rates, constrained / plain", *FOUND)


def tables(folders: Sequence[Path], params: Params) -> str:
    """Two tables in Markdown: bounded steps against those that training may lengthen, in models that are else
    alike, of one seed and arm; and constraints on top of bounded steps. Empty where no part has such steps.

    A gain is the mean of ln(RMSE of the other / RMSE) over the swept levels of test noise above that of training,
    or up to it, with Student's 95 % interval over the seeds of which neither cell is lost.
    """
    cells = pd.concat([pd.DataFrame(), *(_cells(folder, params) for folder in folders)])
    if cells.empty or not cells["bounded"].any():
        return ""
    bounded, other = cells[cells["bounded"]], cells[~cells["bounded"]]
    across = bounded.merge(other, on=[*SHAPE, "arm", "seed"], suffixes=("", "_other"))
    ours, plain = (bounded[bounded["arm"] == getattr(params.comparison, arm)] for arm in ("ours", "baseline"))
    on_top = ours.merge(plain, on=[*SHAPE, "part", "seed"], suffixes=("", "_other"))
    said = []
    for header, pairs, by in ((OVER, across, ["arm", "part", "part_other"]), (ON_TOP, on_top, ["part"])):
        if not pairs.empty:
            found = _gains(pairs, [*SHAPE, "model", *by, "lr", "lr_other"])
            said.append(pipe(header, [[*_row(row, params, header)] for row in found.to_dict("records")]))
    return "\n\n".join(said)


def _cells(folder: Path, params: Params) -> pd.DataFrame:
    """The cells of both arms of a part's models with a step, once each, without lost ones; of studies those that
    train for another time or at another rate.

    Columns: SHAPE, `model`, `arm`, `seed`, `part`, `bounded`, `lr`, and GAINS, -ln RMSE either side of the level
    of training.
    """
    told = grounds.parameters(folder)
    kin = {name: params.components["models"][name].get("LIKE", name) for name in told["video"]["models"]}
    settings = {name: told["models"].get(of, {}) | told["models"].get(name, {}) for name, of in kin.items()}
    models = [name for name, own in settings.items() if "step_scale" in own]
    if not models or not (folder / SCORES).exists():
        return pd.DataFrame()
    plain = {"video", *(name for name, study in told["study"].items() if _only_longer(study))}
    cells = parts.cells([folder])
    cells = cells[cells["experiment"].isin(plain) & cells["model"].isin(models) & ~truth(cells["diverged"])]
    cells = cells[cells["arm"].isin([params.comparison.ours, params.comparison.baseline])]
    cells = cells.join(_scores(folder, told["video"]["evaluation"]["gammas"]), on=CELL, how="inner")
    steps = {name: settings[name].get("step", "initial") == "current" for name in models}
    cells = cells.assign(part=folder, bounded=cells["model"].map(steps), kin=cells["model"].map(kin))
    cells = cells.assign(**{name: told["video"]["frame"][name] for name in ("size", "patch")})
    once = [*SHAPE, "arm", "seed", "bounded", "lr"]  # what a study shares with the grid, or a model with another
    return cells.drop_duplicates(once)[[*once, "part", "model", *GAINS]]


def _only_longer(study: dict[str, Any]) -> bool:
    return study["vary"] in (None, RATE) and not study.get("named") and not study["overrides"]


def _scores(folder: Path, gammas: Sequence[float]) -> pd.DataFrame:
    """The mean of -ln RMSE over the swept levels above the training level (`out`) and up to it (`in`), by CELL."""
    rows = pd.read_csv(folder / SCORES, dtype={"varied": str}).fillna({"varied": ""})
    rows = select(rows[rows["value"] > 0], metric="rmse")  # the noisy input itself errs by nothing without noise
    swept = np.isclose(rows["gamma"].to_numpy()[:, None], np.array(gammas), rtol=0, atol=1e-9).any(axis=1)
    rows = rows[swept].assign(score=lambda own: -np.log(own["value"]))
    inside = in_distribution(rows["gamma"], rows["eps"])
    sides = {"out": rows[~inside], "in": rows[inside]}
    return pd.DataFrame({name: own.groupby(CELL)["score"].mean() for name, own in sides.items()})


def _gains(pairs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """A row for each `by`: the mean gains over seeds, with intervals and how many seeds."""
    gains = pairs.assign(**{name: pairs[name] - pairs[f"{name}_other"] for name in GAINS})
    return over_seeds(gains, GAINS, by).sort_values(["size", "dataset", "layers", "epoch", *by], ignore_index=True)


def _row(row: dict[str, Any], params: Params, header: Sequence[str]) -> Iterator[object]:
    folders = dict.fromkeys(row[name] for name in ("part", "part_other") if name in row)
    yield " / ".join(f"[{folder.name}]({(folder / 'REPORT.md').as_posix()})" for folder in folders)
    yield label(params, "models", row["model"])
    yield f"{row['size']} px"
    yield label(params, "tasks.video.datasets", row["dataset"])
    yield row["layers"]
    yield int(row["epoch"])
    if "arm" in header:
        yield label(params, "arms", row["arm"])
    yield f"{row['lr']:g} / {row['lr_other']:g}"
    yield from (_gain(row, name) for name in GAINS)
    yield row["out_seeds"]


def _gain(row: dict[str, Any], name: str) -> str:
    """In percent, with its interval where there are three pairs or more; one tells nothing."""
    if row[f"{name}_seeds"] < 2:
        return UNKNOWN
    value, low, high = (signed(100 * row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{value} ({low} to {high})" if row[f"{name}_seeds"] > 2 else value
