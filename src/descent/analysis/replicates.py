"""Scores on resamples of the test items: the rows from which the scorecard takes its intervals."""

import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from descent.analysis import bootstrap
from descent.analysis.results import Row
from descent.analysis.select import in_distribution
from descent.cells import Cell
from descent.primal_dual.problem import Problem
from descent.schema import Evaluation
from descent.training.noise import RESAMPLES


def counts(dataset: str, items: int, settings: Evaluation) -> Int64[np.ndarray, "resamples items"]:
    """The resamples of a data set's test items, independent of another data set's.

    The same for all arms of a model, and for all models that are scored on items of the same clips or texts.
    """
    return bootstrap.counts(items, settings.bootstrap, (RESAMPLES, settings.seed, zlib.crc32(dataset.encode())))


def mean(
    values: Float[np.ndarray, "*of items"],
    sizes: Float[np.ndarray, " items"] | Int64[np.ndarray, " items"],
    resamples: Int64[np.ndarray, "resamples items"],
) -> Float[np.ndarray, "*of resamples"]:
    """The mean in every resample of what items of different sizes have as their own means."""
    return (values * sizes) @ resamples.T.astype(float) / (resamples @ sizes)


def accuracies(
    hits: Float[np.ndarray, "gammas items"],
    sizes: Float[np.ndarray, " items"] | Int64[np.ndarray, " items"],
    levels: Sequence[float],
    eps: float,
    resamples: Int64[np.ndarray, "resamples items"],
) -> dict[str, Float[np.ndarray, " resamples"]]:
    """Mean accuracy up to the training level and above it, and the area under it, on every resample.

    Args:
        hits: the share of each item (a text, or its tokens) that the last layer gets right, at every level.
        sizes: what each item weighs, 1 or its tokens.
        levels: the uniform sweep, rising.
    """
    accuracy = mean(hits, sizes, resamples)
    inside = in_distribution(np.array(levels), eps)
    scores = {"area": np.trapezoid(accuracy, levels, axis=0)}
    for name, chosen in (("in", inside), ("out_of", ~inside)):
        if chosen.any():
            scores[f"accuracy_{name}_distribution"] = accuracy[chosen].mean(axis=0)
    return scores


def over_levels(
    hits: Float[np.ndarray, "levels items"],
    sizes: Float[np.ndarray, " items"] | Int64[np.ndarray, " items"],
    cell: Cell,
    settings: Evaluation,
) -> Iterable[Row]:
    """The rows of a cell's mean accuracy over all levels of a shift, on every resample of the test items."""
    resamples = counts(cell.dataset, len(sizes), settings)
    scores = {"accuracy": mean(hits, sizes, resamples).mean(axis=0)}
    return rows(scores, len(sizes), cell.eps, cell.layers)


def median(
    values: Float[np.ndarray, "of items"],
    edges: Float[np.ndarray, " edges"],
    resamples: Int64[np.ndarray, "resamples items"],
) -> Float[np.ndarray, " resamples"]:
    """The median of all values of the items in every resample, straight between the edges of its bin.

    Args:
        edges: of the bins, rising; values lie at or above the first, and the last may be infinite: a median in a
            bin without an end is its lower edge.
    """
    bins = len(edges) - 1
    items = values.shape[1]
    place = np.searchsorted(edges, values, side="right").clip(max=bins) - 1
    table = np.bincount((place + bins * np.arange(items)).ravel(), minlength=bins * items).reshape(items, bins)
    cumulated = (resamples.astype(float) @ table).cumsum(axis=1)  # whole numbers, by the fast product
    half = cumulated[:, -1] / 2
    rows = np.arange(len(resamples))
    at = (cumulated < half[:, None]).sum(axis=1)
    below = np.where(at > 0, cumulated[rows, at - 1], 0)
    width = np.where(np.isfinite(edges[at + 1]), edges[at + 1] - edges[at], 0.0)
    return edges[at] + width * (half - below) / (cumulated[rows, at] - below)


def descending(f: Float[np.ndarray, "depth resamples"], problem: Problem | None) -> Bool[np.ndarray, " resamples"]:
    """Whether the loss falls strictly from the layer of the cap, of a cell that is held to none from X_0, to the
    last."""
    first = problem.cap_layer if problem else 0
    return (np.diff(f[first:], axis=0) < 0).all(axis=0)


def rows(scores: Mapping[str, np.ndarray], items: int, gamma: float, layer: int) -> Iterable[Row]:
    """Rows `<name>_replicate` of one cell, with the number of the resample as `bin`, and how many items there are.

    Args:
        scores: by name, a number for every resample, the first of which is the test set itself.
    """
    place = {"split": "test", "gamma": gamma, "layer": layer}
    yield place | {"metric": "test_items", "value": items}
    for name, values in scores.items():
        for number, value in enumerate(values):
            yield place | {"metric": f"{name}_replicate", "bin": float(number), "value": float(value)}
