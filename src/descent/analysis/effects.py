"""From the results table to the effects of pairs: a number a claim, setting, seed and resample of the test items.

Video, with RMSE at the swept levels gamma of the two arms (ours: constrained, the baseline: ERM):

    gain  G = mean over gamma > eps of ln(RMSE_baseline / RMSE_ours)
    cost  C = mean over gamma <= eps of ln(RMSE_ours / RMSE_baseline)

Under shifts that training has not seen the gain is the mean over all levels of each, then over the shifts that
tell the arms apart (telling).
Texts and language models: differences of mean accuracies over the same levels (cost: the sign turned). What is
judged by shares of settings is worked out on the test set alone. Both cells of a pair have one seed.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from descent.analysis import telling
from descent.analysis.evidence import RELAXED, Evidence
from descent.analysis.keys import PAIR
from descent.analysis.select import select
from descent.cells import headline
from descent.config import Params

COLUMNS = ["claim", "dataset", "model", "layers", "eps", "varied", "seed", "resample", "effect"]
Where = Literal["in", "out_of", "shifts"]
SCORES = {"video": ("log_rmse", -1), "text": ("accuracy", 1), "lm": ("accuracy", 1)}  # and which way is better
Measure = Callable[[Evidence], pd.DataFrame]  # index PAIR (and `varied`), a column for each resample


def pairs(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """COLUMNS of every claim that has cells, sorted; NaN where a pair lacks the score of one arm."""
    evidence = Evidence(results, params)
    tables = [found for claim in MEASURES if len(found := of_claim(claim, evidence))]
    if not tables:
        return pd.DataFrame(columns=COLUMNS)
    return pd.concat(tables).sort_values(COLUMNS[:-1], ignore_index=True)


def of_claim(claim: str, evidence: Evidence) -> pd.DataFrame:
    """The same of one claim."""
    table = MEASURES[claim](evidence)
    if table.empty:
        return pd.DataFrame(columns=COLUMNS)
    return as_pairs(table).assign(claim=claim)[COLUMNS]


def as_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Effects by setting and seed, a column a resample of the test items, as rows: COLUMNS but the claim."""
    rows = table.rename_axis(columns="resample").melt(ignore_index=False, value_name="effect").reset_index()
    rows = rows if "varied" in rows else rows.assign(varied="")
    return rows.astype({"resample": int, "effect": float})


def _gain(task: str, where: Where, sign: int = 1, inputs: str = "patches", alike: bool = True) -> Measure:
    """The gain (sign 1) or cost (-1) at the headline level; of video of the models on such inputs and of such
    capacity. Under shifts that training has not seen it is the mean over the levels of those that tell."""
    name, better = SCORES[task]

    def measure(evidence: Evidence) -> pd.DataFrame:
        if where == "shifts":
            table = evidence.under_shifts(task, name, telling.by_model(evidence, task))
        else:
            table = evidence.by_cell(task, f"{name}_{where}_distribution")
        models = evidence.models(inputs, alike) if task == "video" else None
        ours, theirs = evidence.arms(of(table, models, headline(evidence.params, task)))
        return sign * (ours - theirs if better > 0 else theirs - ours)

    return measure


def _video_wins(evidence: Evidence) -> pd.DataFrame:
    """ln of the ratio of the arms' mean RMSE over all levels, of every setting; the column 0 alone."""
    cells = select(evidence.cells, experiment="video", trained=True)
    rmse = cells["mean_rmse"].astype(float).mask(cells["lost"], evidence.zero_rmse(cells))
    table = cells.assign(**{"0": rmse}).set_index([*PAIR, "arm", "varied"])[["0"]].set_axis([0], axis=1)
    ours, theirs = evidence.arms(of(table, evidence.models("patches")))
    return np.log(theirs / ours)


def _video_depth(evidence: Evidence) -> pd.DataFrame:
    """The gain at a model's deepest minus that at its shallowest, of models with several depths."""
    gain = MEASURES["video_ood"](evidence)
    if gain.empty:
        return gain
    layers = gain.index.to_frame(index=False)
    depth = layers["layers"]
    by_model = layers.groupby("model")["layers"]
    low = by_model.transform("min")
    high = by_model.transform("max")
    deep, shallow = (gain[((depth == end) & (high > low)).to_numpy()] for end in (high, low))
    shallow = shallow.droplevel("layers")
    return deep - shallow.reindex(deep.index.droplevel("layers")).to_numpy()


def _descends(experiment: str, side: Literal["ours", "baseline"]) -> Measure:
    """1 where a cell of ours has a test loss at the training level that falls at every layer from the cap on, or
    one of the baseline has one that does not; column 0 alone."""

    def measure(evidence: Evidence) -> pd.DataFrame:
        table = evidence.by_cell(experiment, "descending")
        table = of(table, evidence.models("patches")) if experiment == "video" else table
        arm = getattr(evidence.params.comparison, side)
        named = table.index.to_frame(index=False)
        asked = [row.layers > _cap(evidence.params, row.dataset, row.model) for row in named.itertuples()]
        table = table[(named["arm"] == arm).to_numpy() & np.array(asked, dtype=bool)]
        falls = table.droplevel(["arm", "varied"])[list(table.columns[:1])]
        return falls if side == "ours" else 1 - falls

    return measure


def _cap(params: Params, dataset: str, model: str) -> int:
    """The layer from which a model's loss is asked to fall; one that ends there is asked for nothing."""
    problem = params.problem(dataset, model)
    return problem.cap_layer if problem else 0


def _text_wins(evidence: Evidence) -> pd.DataFrame:
    ours, theirs = evidence.arms(evidence.by_cell("text", "area"))
    return (ours - theirs)[list(ours.columns[:1])]


def _text_size(evidence: Evidence) -> pd.DataFrame:
    """ln of the ratio of areas of the largest minus that of the smallest pretrained encoder, smallest first in
    `text.models`; of each data set at the headline level."""
    params = evidence.params
    models = [model for model in params.text.models if pretrained(params, model)]
    ours, theirs = evidence.arms(of(evidence.by_cell("text", "area"), eps=headline(params, "text")))
    gain = np.log(ours / theirs)
    if gain.empty or len(models) < 2:
        return gain[:0]
    small, large = (of(gain, [model]) for model in (models[0], models[-1]))
    small = small.droplevel(["model", "layers"])
    return large - small.reindex(large.index.droplevel(["model", "layers"])).to_numpy()


def pretrained(params: Params, model: str) -> bool:
    """Whether a model has weights of its own, and does not start from random ones; UT has none."""
    weights = params.model_budget(model).get("weights")
    return weights is not None and weights.get("random") is None


def _alpha(where: Where, sign: int) -> Measure:
    """Accuracy at the largest minus at the smallest alpha of the study, times `sign`."""

    def measure(evidence: Evidence) -> pd.DataFrame:
        values = _varied(evidence, "alpha", f"accuracy_{where}_distribution")
        if len(values) < 2:
            return pd.DataFrame()
        ends = sorted(values, key=float)
        return _between(values, ends[0], ends[-1], sign)

    return measure


def _dual_lr(evidence: Evidence) -> pd.DataFrame:
    """Difference of the area, as a mean accuracy, of every two dual rates of the study: a setting each."""
    values = _varied(evidence, "dual_lr", "area")
    if len(values) < 2:
        return pd.DataFrame()
    every = combinations(sorted(values, key=float), 2)
    return pd.concat([_between(values, *two, 1) for two in every]) / evidence.params.text.evaluation.span


def _sample(name: str, sign: int) -> Measure:
    """A number about the ratios of single texts, our arm with the relaxation in use minus the baseline."""

    def measure(evidence: Evidence) -> pd.DataFrame:
        table = evidence.by_cell(RELAXED, f"ratio_{name}")
        if table.empty:
            return table
        ours, theirs = evidence.arms(table, varied=["", evidence.relaxation])
        return sign * (ours - theirs)

    return measure


def of(table: pd.DataFrame, models: list[str] | None = None, eps: float | None = None) -> pd.DataFrame:
    """The rows of a table by cell that are of these models and of this training level."""
    keep = np.full(len(table), True)
    if models is not None:
        keep &= table.index.get_level_values("model").isin(models)
    if eps is not None:
        keep &= np.abs(table.index.get_level_values("eps").to_numpy(float) - eps) < 1e-9
    return table[keep]


def _varied(evidence: Evidence, experiment: str, name: str) -> dict[str, pd.DataFrame]:
    """A score by the value that a study gives to what it varies, index PAIR; without the arms beside it."""
    table = evidence.by_cell(experiment, name).droplevel("arm")
    values = table.index.get_level_values("varied")
    return {value: table[values == value].droplevel("varied") for value in values.unique() if value != ""}


def _between(values: dict[str, pd.DataFrame], low: str, high: str, sign: int) -> pd.DataFrame:
    table = sign * (values[high] - values[low])
    return table.assign(varied=f"{high} - {low}").set_index("varied", append=True)


MEASURES: dict[str, Measure] = {
    "descent_video": _descends("video", "ours"),
    "no_descent_video": _descends("video", "baseline"),
    "descent_text": _descends("text", "ours"),
    "no_descent_text": _descends("text", "baseline"),
    "video_wins": _video_wins,
    "video_ood": _gain("video", "out_of"),
    "video_cost": _gain("video", "in", -1),
    "video_ood_paper": _gain("video", "out_of", alike=False),
    "video_cost_paper": _gain("video", "in", -1, alike=False),
    "video_ood_vit": _gain("video", "out_of", inputs="frames"),
    "video_cost_vit": _gain("video", "in", -1, inputs="frames"),
    "video_depth": _video_depth,
    "video_shifts": _gain("video", "shifts"),
    "text_wins": _text_wins,
    "text_ood": _gain("text", "out_of"),
    "text_cost": _gain("text", "in", -1),
    "text_shifts": _gain("text", "shifts"),
    "text_size": _text_size,
    "alpha_ood": _alpha("out_of", 1),
    "alpha_cost": _alpha("in", -1),
    "dual_lr": _dual_lr,
    "sample_share": _sample("below_one", 1),
    "sample_mean": _sample("mean", -1),
    "sample_median": _sample("median", -1),
    "lm_ood": _gain("lm", "out_of"),
    "lm_cost": _gain("lm", "in", -1),
    "lm_shifts": _gain("lm", "shifts"),
}
