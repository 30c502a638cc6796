"""What the paper's own Tables 3 and 4 say, worked out from their numbers (data/paper): one run a number.

Table 3: mean RMSE over the test noise levels, lower is better. Table 4: area under accuracy against noise, higher
is better. A row is a setting: model, layers, epsilon, dataset, and the numbers of both arms.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

VIDEO = Path("data/paper/table3_video_rmse.csv")
TEXT = Path("data/paper/table4_text_auc.csv")
ARMS = ["constrained", "unconstrained"]
GROUP = ["model", "dataset", "epsilon"]  # the neighbours of a run: other depths, and the other arm
FACTOR = 1.75  # how many times the lowest RMSE among its neighbours a collapsed run has at least
# with which the medians are shown, as they depend on it; inf: none is left out
FACTORS = (np.inf, 2.0, FACTOR, 1.5)
CLASSES = {"IMDB": 2, "MNLI": 3}
RANGE = 2.0  # of the noise levels under an area: reported areas reach 1.874, and an accuracy is at most 1
DENOISER = "DUST"  # trained without noise it has no reason to remove any


def read(path: Path) -> pd.DataFrame:
    """A table of the paper with `gain`: 100 ln of the ratio of the arms, positive where constrained is better."""
    table = pd.read_csv(path)
    gain = 100 * np.log(table["unconstrained"] / table["constrained"])
    return table.assign(gain=gain if path.name == VIDEO.name else -gain)


def counts(table: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """In how many settings constrained is better, worse or tied, by the columns `by`; one row without any.

    `p` is of the exact two-sided sign test, ties left out; 1 where nothing but ties is left. It takes settings
    for independent, which they are not: they share data, models and noise.
    """
    sign = np.sign(table["gain"]).astype(int)
    said = {"better": sign == 1, "worse": sign == -1, "tied": sign == 0}
    keys = [table[key] for key in by] or [pd.Series("all", table.index, name="settings")]
    found = pd.DataFrame(said).groupby(keys).sum()
    decided = found["better"] + found["worse"]
    p = [
        binomtest(int(won), int(of)).pvalue if of else 1.0
        for won, of in zip(found["better"], decided, strict=True)
    ]
    return found.assign(p=p).reset_index()


def collapsed_video(table: pd.DataFrame, factor: float = FACTOR) -> pd.DataFrame:
    """By arm, whether a run has at least `factor` times the lowest RMSE of its model, data set and noise level."""
    lowest = table.groupby(GROUP)[ARMS].transform("min").min(axis=1)
    return table[ARMS].ge(factor * lowest, axis=0)


def collapsed_text(table: pd.DataFrame) -> pd.DataFrame:
    """By arm, whether a run's area is at or below that of guessing over a range of RANGE."""
    return table[ARMS].le(RANGE / table["dataset"].map(CLASSES), axis=0)


def median_gain(table: pd.DataFrame, by: Sequence[str], factor: float = np.inf) -> pd.DataFrame:
    """The median gain (100 ln of the ratio) and the number of settings left, by the columns `by`.

    Args:
        factor: settings of video with a run that is collapsed by it are left out; inf: none.
    """
    sound = table[~collapsed_video(table, factor).any(axis=1)] if np.isfinite(factor) else table
    return sound.groupby(list(by))["gain"].agg(gain="median", settings="size").reset_index()


def by_depth(table: pd.DataFrame) -> pd.DataFrame:
    """Median gains of the models with several depths, a row a model and depth, a column for each of FACTORS.

    The columns `settings, FACTOR` say how many settings that median is of.
    """
    deep = table[table.groupby("model")["layers"].transform("nunique") > 1]
    keys = ["model", "layers"]
    found = {factor: median_gain(deep, keys, factor).set_index(keys) for factor in FACTORS}
    columns = {name: part for factor, rows in found.items() for name, part in _named(factor, rows).items()}
    return pd.DataFrame(columns).reset_index()


def repeated(table: pd.DataFrame) -> pd.DataFrame:
    """Settings that differ by their data set alone and have the same two numbers to the last digit."""
    same = ["model", "layers", "epsilon", *ARMS]
    return table[table.duplicated(same, keep=False)].sort_values([*same, "dataset"], ignore_index=True)


def noise_scale(table: pd.DataFrame, gammas: Iterable[float]) -> pd.DataFrame:
    """What Table 3 implies of the noise: by data set, the RMSE of unconstrained DUST trained without noise.

    A map that returns its input has the mean standard deviation of the noise over the sweep as its mean RMSE,
    whatever the data. DUST trained at epsilon 0 is close to that: it learns to reconstruct, so it passes noise on.
    This is no bound: what it fails to reconstruct adds to its error, and what noise it shrinks is missing from it.
    At other epsilon a run removes noise, and its number says nothing of the scale.

    Args:
        gammas: the test noise levels; the paper's are lost, so `sigma` is that for these.

    Returns:
        dataset; runs; `rmse`, `low`, `high`: the median, least and largest over depths (0-255); `sigma`, the
        standard deviation of noise at gamma 1, in [0, 1], that would give the median.
    """
    rows = table[(table["model"] == DENOISER) & (table["epsilon"] == 0)]
    found = rows.groupby("dataset")["unconstrained"].agg(runs="size", rmse="median", low="min", high="max")
    return found.assign(sigma=found["rmse"] / 255 / np.mean(list(gammas))).reset_index()


def _named(factor: float, rows: pd.DataFrame) -> dict[str, pd.Series]:
    if np.isinf(factor):
        return {"all": rows["gain"]}
    return {f"factor {factor:g}": rows["gain"], f"settings, factor {factor:g}": rows["settings"]}
