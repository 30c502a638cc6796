"""What the paper's own tables say, as a section in Markdown; every number is of analysis.paper_tables."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from descent.analysis import paper_tables as paper
from descent.analysis.keys import PLACE
from descent.analysis.wording import signed
from descent.published.markdown import listed, pipe

BY = {"model": ["model"], "data set": ["dataset"], "depth": ["model", "layers"], "noise level": ["epsilon"]}
NAMES = {"table3": "Table 3, mean RMSE of video", "table4": "Table 4, area under accuracy of text"}


def section(gammas: Iterable[float], sigmas: Mapping[str, float]) -> str:
    """The section's body, without its heading.

    Args:
        gammas: our sweep of test noise levels for video, on which the implied scale of the noise depends.
        sigmas: standard deviation of our clean training frames, in [0, 1], by the data sets' labels.
    """
    video = paper.read(paper.VIDEO)
    text = paper.read(paper.TEXT)
    parts = [
        "Every number of the paper's Tables 3 and 4 is of one run, so none has an interval. Counts and exact "
        "two-sided sign tests over settings (ties left out) are below; settings share data, models and noise, so "
        "the p values are too small.",
        *(_counted(NAMES[key], table) for key, table in (("table3", video), ("table4", text))),
        _collapsed(video, text),
        _depth(video),
        _size(text),
        _noise(video, gammas, sigmas),
        *_repeated(video),
    ]
    return "\n\n".join(parts) + "\n"


def _counted(title: str, table: pd.DataFrame) -> str:
    rows = [("all settings", *_counts(row)) for row in paper.counts(table).to_dict("records")]
    for words, by in BY.items():
        for row in paper.counts(table, by).to_dict("records"):
            named = " ".join(f"L = {row[key]}" if key == "layers" else f"{row[key]}" for key in by)
            rows.append((f"{words}: {named}", *_counts(row)))
    return f"**{title}.**\n\n" + pipe(["settings", "constrained better", "worse", "tied", "p"], rows)


def _counts(row: dict) -> tuple[object, ...]:
    return row["better"], row["worse"], row["tied"], f"{row['p']:.2g}"


def _collapsed(video: pd.DataFrame, text: pd.DataFrame) -> str:
    runs = paper.collapsed_video(video)
    whole = paper.counts(video[~runs.any(axis=1)]).iloc[0]
    models = listed(sorted(set(video.loc[runs.any(axis=1), "model"]))) or "no model"
    lost = runs["constrained"] & ~runs["unconstrained"]
    won = runs["unconstrained"] & ~runs["constrained"]
    guessing = int(paper.collapsed_text(text).to_numpy().sum())
    return (
        f"**Collapsed runs.** Call a run of Table 3 collapsed where its RMSE is at least {paper.FACTOR:g} times "
        "the lowest of its model, data set and training level, over depths and arms. So "
        f"{int(runs['constrained'].sum())} constrained and {int(runs['unconstrained'].sum())} unconstrained runs "
        f"are, of {models} alone; in {int(lost.sum())} settings it is the constrained run only, in "
        f"{int(won.sum())} the unconstrained one only. The largest RMSE is {video[paper.ARMS].max().max():.1f} of "
        "255 gray levels, the size of the pictures themselves. Without these settings constrained is better in "
        f"{whole['better']} and worse in {whole['worse']} (p = {whole['p']:.2g}). Means over settings of this "
        f"table are governed by such runs; medians and counts are not. In Table 4 {guessing} runs lie at or below "
        f"guessing (an area of {paper.RANGE:g} / classes, if the sweep ends at {paper.RANGE:g})."
    )


def _depth(video: pd.DataFrame) -> str:
    table = paper.by_depth(video)
    shown = [f"factor {factor:g}" if np.isfinite(factor) else "all" for factor in paper.FACTORS]
    rows = [(row["model"], row["layers"], *(_of(row, name) for name in shown)) for row in table.to_dict("records")]
    main = f"factor {paper.FACTOR:g}"
    words = [
        f"{model}'s goes from {rows_of[main].iloc[0]:+.1f} at L = {rows_of['layers'].iloc[0]} to "
        f"{rows_of[main].iloc[-1]:+.1f} at L = {rows_of['layers'].iloc[-1]}"
        for model, rows_of in table.groupby("model")
    ]
    return (
        "**Gain by depth, and the dictionaries.** Median of 100 ln(RMSE unconstrained / RMSE constrained) over "
        "data sets and "
        "training levels, in brackets the number of settings left once those with a run that is collapsed by the "
        "factor are left out:\n\n"
        + pipe(["model", "L", *("all settings" if name == "all" else name for name in shown)], rows)
        + f"\n\nWith the factor {paper.FACTOR:g}: {'; '.join(words)}. In the paper a constrained DUST has a "
        "dictionary for every layer and its baseline one for all, so the arms differ in capacity, and the more "
        "so the deeper they are; nothing is said of such a difference for UT. The table alone cannot tell "
        "capacity from constraints. At the largest depth of DUST few settings are left and the median depends on "
        "the factor, as the columns show."
    )


def _of(row: dict, name: str) -> str:
    number = signed(row[name])
    return f"{number} ({row[f'settings, {name}']})" if f"settings, {name}" in row else number


def _size(text: pd.DataFrame) -> str:
    gains = paper.median_gain(text, PLACE)
    rows = [(row.dataset, row.model, f"{row.gain:+.2f}", row.settings) for row in gains.itertuples()]
    return (
        "**Gain by model, text.** Median of 100 ln(area constrained / area unconstrained); the models differ in "
        "more than their size (UT is trained from scratch, the others are pretrained):\n\n"
        + pipe(["data set", "model", "median gain", "settings"], rows)
    )


def _noise(video: pd.DataFrame, gammas: Iterable[float], sigmas: Mapping[str, float]) -> str:
    levels = list(gammas)
    scale = paper.noise_scale(video, levels)
    known = {label.casefold(): sigma for label, sigma in sigmas.items()}
    rows = [
        (
            row.dataset,
            row.runs,
            f"{row.rmse:.1f}",
            f"{row.low:.1f} to {row.high:.1f}",
            f"{row.sigma:.3f}",
            _own(row, known),
        )
        for row in scale.itertuples()
    ]
    spread = 100 * (scale["rmse"].max() / scale["rmse"].min() - 1)
    return (
        f"**The scale of the noise.** {paper.DENOISER} trained without noise has no reason to remove any, so "
        "unconstrained at "
        "epsilon = 0 its mean RMSE is close to the mean standard deviation of the noise over the sweep (an "
        "inference and no "
        "bound: what it cannot reconstruct adds to it, what it shrinks is missing). At other levels a run "
        "removes noise, "
        "and its RMSE says nothing of the scale.\n\n"
        + pipe(["data set", "runs", "median RMSE", "range", "sigma implied", "sigma of our frames"], rows)
        + "\n\nsigma is the noise at gamma = 1 in units of [0, 1], if the paper's sweep had the mean of ours, "
        f"{np.mean(levels):.3g} (its own is lost). The data sets' medians lie within {spread:.1f} %: one scale "
        "for all data sets fits the table better than each data set's own standard deviation, which is what the "
        "paper's words say."
    )


def _own(row: object, known: Mapping[str, float]) -> str:
    sigma = known.get(row.dataset.casefold())
    return "not run" if sigma is None else f"{sigma:.3f}"


def _repeated(video: pd.DataFrame) -> list[str]:
    found = paper.repeated(video)
    groups = found.groupby(["model", "layers", "epsilon"])["dataset"].agg(list)
    if groups.empty:
        return []
    words = [f"{model}, epsilon {eps:g}: {listed(names)}" for (model, _, eps), names in groups.items()]
    return [
        "**The same numbers twice.** Both arms have the same RMSE to the last digit on several data sets "
        f"({'; '.join(words)}), "
        "which different pictures do not give; one of them may be a slip."
    ]
