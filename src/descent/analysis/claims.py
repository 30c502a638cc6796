"""How each claim of the paper is measured, on every resample: one number, and the words that go with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Float

from descent.analysis.evidence import Evidence
from descent.analysis.select import select
from descent.analysis.summary import best_depth


@dataclass(frozen=True)
class Measured:
    """A claim's number on every resample, the first of which is the test set and all seeds, and its words."""

    values: Float[np.ndarray, " resamples"]
    words: str
    experiment: str


Measure = Callable[[Evidence], Measured | None]  # None: no rows to measure it on


def descending(experiment: str, side: Literal["ours", "baseline"]) -> Measure:
    """Share of an arm's cells whose test loss at the training level falls at every layer from the cap on.

    A cell that diverged before it had a loss does not fall.
    """

    def measure(evidence: Evidence) -> Measured | None:
        arm = getattr(evidence.params.comparison, side)
        table = evidence.by_cell(experiment, "descending")
        table = table[table.index.get_level_values("arm") == arm]
        if table.empty:
            return None
        table = table.fillna(0.0)
        weights = evidence.weights(table)
        values = ((table * weights).sum() / weights.sum()).to_numpy()
        label = evidence.params.components["arms"][arm]["LABEL"]
        words = f"{int(table[0].sum())} of {len(table)} {label} cells descend on test data"
        return Measured(values, words, experiment)

    return measure


def video_wins(evidence: Evidence) -> Measured | None:
    """Share of all settings in which our arm has the lower mean RMSE over video.evaluation.gammas."""
    within, beyond = (evidence.mean("video", f"rmse_{where}_distribution") for where in ("in", "out_of"))
    if within.empty:
        return None
    levels = np.array(sorted(set(evidence.params.video.evaluation.gammas)))
    eps = within.index.get_level_values("eps").to_numpy()
    share = pd.Series((levels <= eps[:, None] + 1e-9).mean(axis=1), within.index)
    # Where no level is out of distribution there is no mean to weigh.
    beyond = beyond.reindex(within.index).mul(1 - share, axis=0).mask(share == 1, 0.0)
    return _share_lower(*evidence.arms(within.mul(share, axis=0) + beyond), "settings", "video")


def video_ood(evidence: Evidence) -> Measured | None:
    """Share of (data set, model) where our arm, at `eps` and its best depth, has the lower RMSE."""
    return _share_lower(*_headline(evidence, "rmse_out_of_distribution"), "data sets and models", "video")


def video_cost(evidence: Evidence) -> Measured | None:
    """Relative increase of the RMSE in distribution, at `eps` and best depth; median of data sets and models."""
    ours, theirs = _headline(evidence, "rmse_in_distribution")
    return _median(ours / theirs - 1, "data sets and models", "video")


def video_depth(evidence: Evidence) -> Measured | None:
    """Relative gain in RMSE out of distribution at the deepest minus at the shallowest; median over the rest."""
    ours, theirs = evidence.arms(evidence.mean("video", "rmse_out_of_distribution"))
    return _growth(1 - ours / theirs, "layers", "video")


def text_wins(evidence: Evidence) -> Measured | None:
    """Share of all settings in which our best trial has the larger area."""
    ours, theirs = evidence.arms(evidence.best("text", "area"))
    return _share_lower(-ours, -theirs, "settings", "text")


def text_size(evidence: Evidence) -> Measured | None:
    """Relative gain in area of the largest minus that of the smallest model; median over data sets and levels.

    `text.models` names them smallest first, as the paper has them.
    """
    models = evidence.params.text.models
    encoders = [budget for budget in map(evidence.params.model_budget, models) if "weights" in budget]
    shapes = [_shape(budget) for budget in encoders]
    if all(shape is not None for shape in shapes) and len(set(shapes)) < len(shapes):
        return None  # miniatures of one size
    ours, theirs = evidence.arms(evidence.best("text", "area"))
    gain = (ours / theirs - 1).groupby(["dataset", "model", "eps"]).mean()  # over UT's depths
    sizes = gain.index.get_level_values("model").map({name: place for place, name in enumerate(models)})
    return _growth(gain.assign(size=sizes).set_index("size", append=True).droplevel("model"), "size", "text")


def _shape(budget: dict[str, Any]) -> tuple[int, ...] | None:
    """Depth and widths of an encoder of random weights; None where its weights come from elsewhere."""
    size = budget["weights"].get("random")
    return None if size is None else (*budget["layers"], size["width"], size["feedforward"])


def accuracy(experiment: str, where: str, sign: int) -> Measure:
    """Accuracy of our arm minus the baseline's, times `sign`: the median over settings."""

    def measure(evidence: Evidence) -> Measured | None:
        score = evidence.best if experiment == "text" else evidence.mean
        ours, theirs = evidence.arms(score(experiment, f"accuracy_{where}_distribution"))
        return _median(sign * (ours - theirs), "settings", experiment)

    return measure


def alpha(where: str, sign: int) -> Measure:
    """Accuracy at the largest minus at the smallest alpha of the study, times `sign`."""

    def measure(evidence: Evidence) -> Measured | None:
        table = _varied(evidence, "alpha", f"accuracy_{where}_distribution")
        if len(table) < 2:
            return None
        low, high = table.iloc[0], table.iloc[-1]
        ends = [f"{100 * end[0]:.1f} % at alpha {end.name:g}" for end in (low, high)]
        return Measured((sign * (high - low)).to_numpy(), ", ".join(ends), "alpha")

    return measure


def dual_lr(evidence: Evidence) -> Measured | None:
    """Area, as a mean accuracy, at the best dual rate of the study minus that at the worst.

    Best and worst are those of the test set in every resample: a range found anew in each could only be larger.
    """
    table = _varied(evidence, "dual_lr", "area")
    if len(table) < 2:
        return None
    gammas = evidence.params.text.evaluation.gammas
    table = table / (max(gammas) - min(gammas))
    words = f"{100 * table[0].min():.1f} to {100 * table[0].max():.1f} % over {len(table)} rates"
    return Measured((table.loc[table[0].idxmax()] - table.loc[table[0].idxmin()]).to_numpy(), words, "dual_lr")


def sample(name: str) -> Measure:
    """A number about the ratios of single texts, of the study's arm with the relaxation in use."""

    def measure(evidence: Evidence) -> Measured | None:
        table = evidence.mean("resilience", f"ratio_{name}")
        if table.empty:
            return None
        study = evidence.params.studied("resilience")
        used = evidence.params.objective(study.arm, study.dataset, study.model)["resilience"]
        table = table[table.index.get_level_values("varied") == str(used)]
        if table.empty:
            return None
        return Measured(table.iloc[0].to_numpy(), f"{study.model} on {study.dataset}", "resilience")

    return measure


def _headline(evidence: Evidence, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A score of the two arms at the headline level, each at its best depth; index (data set, model, eps)."""
    shown = best_depth(select(evidence.cells, eps=float(evidence.params.eps)))
    chosen = pd.MultiIndex.from_frame(shown[["dataset", "model", "arm", "layers", "eps"]])
    table = evidence.mean("video", name)
    table = table[table.index.droplevel("varied").isin(chosen)]
    return evidence.arms(table.reset_index("layers", drop=True))


def _varied(evidence: Evidence, experiment: str, name: str) -> pd.DataFrame:
    """A score by the number that a study varies, smallest first; without the arms that stand beside it."""
    table = evidence.mean(experiment, name)
    table = table[table.index.get_level_values("varied") != ""]
    values = table.index.get_level_values("varied").astype(float)
    return table.set_axis(values).sort_index()


def _share_lower(ours: pd.DataFrame, theirs: pd.DataFrame, what: str, experiment: str) -> Measured | None:
    if ours.empty:
        return None
    known = ours.notna() | theirs.notna()  # an arm without a number, which diverged, has lost
    lower = ours.fillna(np.inf) < theirs.fillna(np.inf)
    words = f"{int(lower[0].sum())} of {int(known[0].sum())} {what}"
    return Measured((lower.sum() / known.sum()).to_numpy(), words, experiment)


def _median(table: pd.DataFrame, what: str, experiment: str) -> Measured | None:
    if table.empty:
        return None
    return Measured(table.median().to_numpy(), f"median over {int(table[0].notna().sum())} {what}", experiment)


def _growth(gain: pd.DataFrame, along: str, experiment: str) -> Measured | None:
    """The gain at the largest value of an index level minus that at the smallest, of each rest of the index that
    has several values; the median over these."""
    rest = [name for name in gain.index.names if name != along]
    gain = gain.sort_index(level=along)
    several = gain[gain.groupby(rest)[gain.columns[:1]].transform("size") > 1] if len(gain) else gain
    ends = [part.droplevel(along) for part in (several.groupby(rest).head(1), several.groupby(rest).tail(1))]
    return _median(ends[1] - ends[0], "settings", experiment)
