"""How far the rows of a cluster differ from all others in each column.

Everything is by ranks, so that neither units nor outliers matter. Cliff's delta is the chance that a row of the
cluster is above a row of the rest, less the chance that it is below: from -1 to 1. In a column of zeros and ones it is
the share of ones in the cluster less that in the rest.
"""

from dataclasses import dataclass, fields

import numpy as np

from clusterforests._base.typing import BoolArray, FloatArray, IndexArray

CELLS_AT_ONCE = 2**21
_UNIFORM = 1 / 12**0.5  # standard deviation of ranks from 0 to 1


@dataclass(frozen=True)
class Effects:
    """Of each cluster and column, (n_clusters, n_columns): NaN where the cluster or the rest has no known cell."""

    delta: FloatArray  # Cliff's delta
    error: FloatArray  # standard deviation of delta, at most, if the column is shuffled
    spread: FloatArray  # standard deviation of the ranks in the cluster as a share of that of all rows


def rank_columns(values: FloatArray, weights: FloatArray, columns: BoolArray | None = None) -> FloatArray:
    """Rank the known cells of each column, or of some: the share of rows below, and half of those that are equal.

    Ranks of other columns are NaN.
    """
    ranks = np.full(values.shape, np.nan)
    for j in range(values.shape[1]) if columns is None else np.flatnonzero(columns):
        column = values[:, j]
        known = np.flatnonzero(~np.isnan(column) & (weights > 0))
        if len(known):
            ranks[known, j] = _midranks(column[known], weights[known])
    return ranks


def _midranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    order = np.argsort(values, kind="stable")
    ordered, upto = values[order], np.cumsum(weights[order])
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    ends = upto[last]
    middles = (np.append(0.0, ends[:-1]) + ends) / (2 * ends[-1])
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(middles, np.diff(last, prepend=-1))
    return ranks


def measure_effects(ranks: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Effects:
    """Compare each cluster with the rest in each column.

    Parameters
    ----------
    ranks : array of shape (n, C)
        From `rank_columns`.
    labels, weights : array of shape (n,)
        Cluster of each row, and how often it counts.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    effects : Effects
    """
    step = max(1, CELLS_AT_ONCE // max(1, len(ranks)))
    parts = [_measure(ranks[:, j : j + step], labels, weights, n_clusters) for j in range(0, ranks.shape[1], step)]
    return Effects(
        *(np.concatenate([getattr(part, field.name) for part in parts], axis=1) for field in fields(Effects))
    )


def _measure(ranks: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Effects:
    known = ~np.isnan(ranks)
    mass = known * weights[:, None]
    filled = np.where(known, ranks, 0.0)
    shape = n_clusters, ranks.shape[1]
    sizes, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for c in range(n_clusters):
        rows = labels == c
        w, r = mass[rows], filled[rows]
        sizes[c], first[c], second[c] = w.sum(axis=0), (w * r).sum(axis=0), (w * r * r).sum(axis=0)
    total = sizes.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = total - sizes
        there = (sizes > 0) & (rest > 1e-9 * total)
        above = (first * total - sizes**2 / 2) / (sizes * rest)
        error = np.sqrt((total + 1) / (3 * sizes * rest))
        variance = second / sizes - (first / sizes) ** 2
    spread = np.sqrt(np.maximum(variance, 0.0)) / _UNIFORM
    return Effects(*(np.where(there, part, np.nan) for part in (np.clip(2 * above - 1, -1, 1), error, spread)))


def weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    """Average known values."""
    scale = float(np.abs(values).max()) or 1.0  # so that no sum overflows
    return float((weights * (values / scale)).sum() / weights.sum() * scale)
