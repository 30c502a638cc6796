"""What separates the arms of one setting: their gains over the baseline, intervals over seeds, inflation."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from descent.analysis.keys import CELL, PAIR, SEEDLESS, tuples
from descent.analysis.lost import ZERO, as_chance, as_zero
from descent.analysis.select import (
    TRAINED,
    average,
    check_named,
    in_distribution,
    last_layer,
    mean,
    measured,
    select,
    sweep,
)
from descent.analysis.summary import cells_table, first_constrained
from descent.analysis.verdicts import half_width
from descent.cells import study_cells, study_depth
from descent.config import Params

ARM = ["profile", "experiment", *SEEDLESS]  # the cells that differ by their seed alone
TWIN = ["experiment", *PAIR, "baseline"]  # what a cell shares with its baseline's; `baseline`: that one's `varied`
RUNG = ["rmse_in", "rmse_out", "descending", "step_in", "step_out", "all_in", "all_out"]
MEASURES = ["rmse_in", "rmse_out", "score_in", "score_out"]


def trained_cells(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The trained cells of `cells_table`, with what sets them apart from the baseline.

    Columns beside those: of video `rmse_in`, `rmse_out` (0-255; test data, means over the swept levels gamma <=
    eps and gamma > eps); `score_in`, `score_out`, means over the same levels of -ln RMSE, of other tasks of the
    accuracy (a share), a cell that diverged scoring as the zero map or as chance; `gain_in`, `gain_out`, the
    cell's score minus the baseline cell's (positive: better); `inflation`, as `inflation_share`; `slower`,
    training seconds over the baseline cell's. The baseline cell is that of the same experiment, setting and seed
    whose arm is comparison.baseline, where a study varies what all arms share that of the cell's own value;
    missing where there is none.
    """
    cells = select(cells_table(results, params), trained=True)
    cells = cells.join(_scores(results, params), on=CELL)
    cells = beside_baseline(cells, ["score_in", "score_out", "seconds"], params)
    gains = {
        f"gain_{where}": cells[f"score_{where}"] - cells[f"score_{where}_baseline"] for where in ("in", "out")
    }
    slower = cells["seconds"] / cells["seconds_baseline"]
    found = cells.assign(**gains, slower=slower, inflation=_inflation(cells, results, params))
    return found.drop(columns=["baseline", *found.columns[found.columns.str.endswith("_baseline")]])


def beside_baseline(
    rows: pd.DataFrame, columns: list[str], params: Params, by: Sequence[str] = ()
) -> pd.DataFrame:
    """The same rows with `<column>_baseline`, what each one's baseline cell has, missing where there is none.

    And with `baseline`, what stands under `varied` of that cell. Rows are told apart within a cell by `by`.
    """
    studies = params.in_use
    words = zip(rows["experiment"], rows["varied"], strict=True)
    rows = rows.assign(
        baseline=[studies[name].baseline_of(word) if name in studies else "" for name, word in words]
    )
    twins = rows[(rows["arm"] == params.comparison.baseline) & (rows["varied"] == rows["baseline"])]
    key = [*TWIN, *by]
    return rows.join(twins.set_index(key)[columns].add_suffix("_baseline"), on=key)


def inflation_share(f: Float[np.ndarray, " depth"], g: Float[np.ndarray, " depth"], first: int) -> float:
    """The share of a cell's log-descent that comes from layers which are worse than the baseline's.

    With d_l = ln f_{l-1} - ln f_l, the descent of step l, and w_l = max(0, ln f_{l-1} - ln g_{l-1}), by how much
    the layer before it is worse than the baseline's: sum_l min(w_l, max(d_l, 0)) / sum_l max(d_l, 0), over the
    constrained steps l = first + 1 ... L. NaN where no step descends.

    Args:
        f: validation losses f_0 ... f_L of the cell, positive.
        g: those of the baseline cell.
        first: the first layer with a constraint, the cap's.
    """
    descent = np.maximum(-np.diff(np.log(f)), 0)[first:]
    worse = np.maximum(np.log(f) - np.log(g), 0)[first:-1]
    total = descent.sum()
    return float(np.minimum(worse, descent).sum() / total) if total > 0 else float("nan")


def over_seeds(cells: pd.DataFrame, columns: list[str], by: Sequence[str] = ARM) -> pd.DataFrame:
    """One row per `by`: of each column the mean over the seeds that have a number, and what it stands on.

    That is `<column>_low` and `<column>_high`, Student's LEVEL interval over those seeds (missing for one seed),
    and `<column>_seeds`, how many they are.

    Raises:
        UserError: as `average`.
    """
    found = {}
    for column in columns:
        values = cells[column].astype("Float64").to_numpy(float, na_value=np.nan)
        rows = cells[[*by, "seed"]].assign(value=values).dropna(subset="value")
        middle = average(rows, by, over=["seed"])
        groups = rows.groupby(list(by))["value"]
        seeds = groups.size()
        half = half_width(groups.sem(), seeds)
        found |= {column: middle, f"{column}_low": middle - half, f"{column}_high": middle + half}
        found[f"{column}_seeds"] = seeds
    return pd.DataFrame(found).rename_axis(list(by)).reset_index()


def of_study(results: pd.DataFrame, params: Params, name: str, columns: list[str]) -> pd.DataFrame:
    """The arms and values of a study in its own order, a row each: `over_seeds`, `trained` and `lost` seeds.

    An arm or value without cells has a row as well, with 0 for `trained`.
    """
    cells = select(trained_cells(results, params), experiment=name)
    groups = cells.groupby(["arm", "varied"])
    counts = pd.DataFrame({"trained": groups.size(), "lost": groups["diverged"].sum()})
    wanted = dict.fromkeys((cell.arm, cell.varied) for cell in study_cells(params, name))
    table = pd.DataFrame(list(wanted), columns=["arm", "varied"]).join(counts, on=["arm", "varied"])
    table = table.fillna({"trained": 0, "lost": 0}).astype({"trained": int, "lost": int})
    return table.merge(over_seeds(cells, columns)[["arm", "varied", *_told(columns)]], how="left")


def rungs(params: Params, name: str, shared: str) -> list[tuple[str, str]]:
    """The steps of the ladder, (model, arm): the baseline of the model `shared`, then the study's model's arms.

    These are the baseline, those of the same noise that stand beside, in the study's order, and the study's own.
    """
    study = params.studied(name)
    baseline = params.comparison.baseline
    known = params.components["arms"]
    steps = [arm for arm in study.beside if arm != baseline and "NOISE" not in known[arm]]
    return [(shared, baseline), *((study.model, arm) for arm in (baseline, *steps, study.arm))]


def ladder(results: pd.DataFrame, params: Params, name: str, shared: str) -> pd.DataFrame:
    """One row per rung that has cells, from those of a study, else from its task's of the same setting.

    Columns: `model`, `arm`; `rmse_in`, `rmse_out` and `descending` as means over seeds; `step_in`, `step_out`, the
    log-ratios to the last row above with a cell that did not diverge, and `all_in`, `all_out`, those to the first
    row, over the seeds that both have, with intervals as `over_seeds`; `rmse_out_seeds`. Positive: a smaller
    error.
    """
    study = params.studied(name)
    setting = {
        "dataset": study.dataset,
        "layers": study_depth(params, study),
        "eps": float(study.eps),
        "varied": "",
    }
    cells = select(trained_cells(results, params), **setting)
    found: list[pd.DataFrame] = []
    for model, arm in rungs(params, name, shared):
        own = select(cells, model=model, arm=arm)
        studied, usual = (select(own, experiment=word) for word in (name, study.task))
        own = studied if len(studied) else usual
        if len(own):
            first = found[0] if found else own[:0]
            # A step from a row of which every cell diverged would tell how bad the zero map is.
            above = next((row for row in reversed(found) if not row["diverged"].all()), own[:0])
            found.append(_against(_against(own, first, "all"), above, "step"))
    tables = [over_seeds(own, RUNG)[["model", "arm", *_told(RUNG)]] for own in found]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["model", "arm"])


def _against(cells: pd.DataFrame, other: pd.DataFrame, word: str) -> pd.DataFrame:
    """`cells` with the log-ratios `<word>_in` and `<word>_out` to the cells of the same seeds of another arm."""
    scores = other.set_index("seed")
    ratios = {
        f"{word}_{where}": cells[f"score_{where}"] - cells["seed"].map(scores[f"score_{where}"])
        for where in ("in", "out")
    }
    return cells.assign(**ratios)


def _told(columns: list[str]) -> list[str]:
    return [f"{column}{ending}" for column in columns for ending in ("", "_low", "_high", "_seeds")]


def scored(results: pd.DataFrame, params: Params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The RMSE (0-255) of trained cells of video, and the scores of all trained cells: -ln RMSE, or the accuracy.

    A row for each cell and swept test noise level, with the columns of the results table; a cell that diverged
    errs as the zero map, or guesses.
    """
    known = measured(select(results, shift=TRAINED, bin=0.0))
    # A lost cell would have its place's score, also of trials, whose others were tested on nothing.
    trials = [name for name, study in params.in_use.items() if not study.tested]
    known = known[~known["experiment"].isin(trials)]
    errors = sweep(known, "rmse", params)
    errors = as_zero(errors[errors["arm"].isin([*params.components["arms"], ZERO])], known)
    logs = errors.assign(value=-np.log(errors["value"]))
    right = sweep(last_layer(select(known, split="test")), "accuracy", params)
    return errors, pd.concat([logs, as_chance(right, known, params)])


def _scores(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """MEASURES by CELL."""
    parts = [part for rows in scored(results, params) for part in _either_side(rows)]
    return pd.DataFrame({name: mean(part, ["gamma"]) for name, part in zip(MEASURES, parts, strict=True)})


def _either_side(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows up to the training level, and those above."""
    inside = in_distribution(rows["gamma"], rows["eps"])
    return rows[inside], rows[~inside]


def _inflation(cells: pd.DataFrame, results: pd.DataFrame, params: Params) -> list[float]:
    """`inflation_share` of every row of `cells`; NaN where it or its baseline cell diverged or has no
    losses."""
    known = measured(select(results, shift=TRAINED, bin=0.0))
    losses = select(known, metric="validation_loss").sort_values("layer")
    check_named(losses, [*CELL, "layer"])
    by_cell = {cell: rows["value"].to_numpy(float) for cell, rows in losses.groupby(CELL)}
    first = first_constrained(known)
    lost = {*tuples(cells[cells["diverged"]], CELL)}
    shares = []
    for cell, varied in zip(tuples(cells, CELL), cells["baseline"], strict=True):
        words = dict(zip(CELL, cell, strict=True)) | {"arm": params.comparison.baseline, "varied": varied}
        baseline = tuple(words.values())
        pair = {cell, baseline}
        whole = len(pair) == 2 and not pair & lost and pair <= by_cell.keys() and cell in first.index
        shares.append(
            inflation_share(by_cell[cell], by_cell[baseline], int(first[cell])) if whole else float("nan")
        )
    return shares
