"""Would half of the partitions have given the same clustering? Stability, and how far halves agree on pairs of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.random import Purpose, permutations, stream
from clusterforests._utils.statistics import adjusted_rand, contingency
from clusterforests._utils.validation import Rule, check_parameters, integer, real
from clusterforests.backends import CpuBackend
from clusterforests.inspection.arguments import (
    SEED,
    Combine,
    check_counts,
    check_given,
    check_labels,
    combined,
)
from clusterforests.table.checks import check_enough_rows

# Clusterings by random halves of the partitions, which say whether other partitions would have given the same.
#
# Stability, the consensus distribution and PAC are all read off these clusterings.

# The same everywhere, so that the same forest has the same stability on the page, in the table of K and in plots.
N_SPLITS = 20
STABILITY_ROWS = 500

RULES = {
    "combine": Rule(callable, "a function"),
    "n_clusters": integer(1),
    "n_splits": integer(1),
    "seed": SEED,
    "max_rows": integer(2),
}


@dataclass(frozen=True)
class HalfCuts:
    """Clusterings of the same rows by random halves of the partitions, two for each split.

    Attributes
    ----------
    labels : ndarray of shape (2 * n_splits, n_rows)
        The clusterings; the two of a split follow each other. -1 for a row that no partition of the half clusters.
    whole : ndarray of shape (n_rows,)
        The clustering by all partitions.
    n_clusters : int
        Number of clusters of `whole`, rows that were not sampled included.
    rows : ndarray of shape (n_rows,)
        The rows that were clustered: all, or a random sample.
    weights : ndarray of shape (n_rows,)
        How often each of them counts.
    """

    labels: IndexArray
    whole: IndexArray
    n_clusters: int
    rows: IndexArray
    weights: FloatArray


def half_cuts(
    partitions: Any,
    n_clusters: int,
    combine: Combine,
    *,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    max_rows: int = STABILITY_ROWS,
    labels: Any = None,
    weights: Any = None,
) -> HalfCuts:
    """Cluster the rows by random halves of the partitions.

    The partitions are split at random into two halves (of an odd number one is left out), and each half is combined on
    its own into the same number of clusters. A fitted forest has a method of this name.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each of at least 2 partitions. A negative label means "not clustered" there.
    n_clusters : int
        Number of clusters.
    combine : callable
        `combine(partitions, n_clusters)` returns one label for each row, as `clusterforests.consensus_clustering` does.
        It is not given rows that no partition of the half clusters.
    n_splits : int, default=20
        Number of splits; each calls `combine` twice.
    seed : int, default=0
        Determines the splits, and the sample of rows.
    max_rows : int, default=500
        Of more rows a random sample of this many is clustered, the same for the same `seed`.
    labels : array-like of shape (n_samples,) or None, default=None
        The clustering by all partitions; None combines them (of the sample).
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts. Rows without weight are left out.

    Returns
    -------
    cuts : HalfCuts
    """
    given = {"combine": combine, "n_clusters": n_clusters, "n_splits": n_splits, "seed": seed, "max_rows": max_rows}
    check_parameters(given, RULES)
    members = check_given(partitions)
    n, half = members.shape[1], len(members) // 2
    check_enough_rows(min(n, max_rows), n_clusters)
    if half < 1:
        raise ValueError("partitions has 1 member; two halves need at least 2.")
    whole = None if labels is None else check_labels(labels, n)
    weights = None if weights is None else check_counts(weights, n)
    # The rows that are clustered, by all partitions and then by the halves of each split.
    rows = rows_to_compare(n, max_rows, seed, weights)
    members = np.ascontiguousarray(members[:, rows], dtype=np.int32)
    sampled = combined(combine, members, n_clusters) if whole is None else whole[rows]
    orders = permutations(stream(seed, Purpose.HALF_FORESTS, np.arange(n_splits)), len(members))
    parts = [part for order in orders for part in (order[:half], order[half : 2 * half])]
    return HalfCuts(
        labels=np.array([combined(combine, members[part], n_clusters) for part in parts]),
        whole=sampled,
        n_clusters=int((sampled if whole is None else whole).max()) + 1,
        rows=rows,
        weights=np.ones(len(rows)) if weights is None else weights[rows],
    )


def rows_to_compare(n_rows: int, max_rows: int, seed: int, weights: FloatArray | None) -> IndexArray:
    """Choose rows that count: all, or a random sample of max_rows, in ascending order."""
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
    if len(rows) <= max_rows:
        return rows
    return np.sort(rows[permutations(stream(seed, Purpose.DIAGNOSTIC_ROWS), len(rows))[0, :max_rows]])


RECOVERED = 0.75  # Jaccard index from which on a cluster counts as recovered (Hennig 2007)


@dataclass(frozen=True)
class Stability:
    """How well clusterings from two halves of the partitions agree."""

    mean: float  # adjusted Rand index of the two, averaged over the splits
    low: float  # the share `level` of the splits lies between `low` and `high`
    high: float
    scores: FloatArray  # of each split; NaN if its halves share no pair of clustered rows
    clusters: FloatArray  # best Jaccard index of each cluster in the clustering of a half, averaged over the halves
    recovered: FloatArray  # share of the halves in which this index of a cluster is at least 0.75
    n_rows: int  # rows that were clustered


def stability(cuts: HalfCuts, level: float = 0.9) -> Stability:
    """Estimate whether other partitions of the same kind would have given the same clustering.

    The clusterings by the two halves of each split are compared by the adjusted Rand index: 1 if they are the same,
    0 on average if they have nothing to do with each other.

    Parameters
    ----------
    cuts : HalfCuts
        What `half_cuts` returned.
    level : float, default=0.9
        Share of the splits that the interval holds.

    Returns
    -------
    result : Stability
        With `mean`, `low`, `high`, `scores`, `n_rows` and, for each cluster, `clusters` and `recovered`: NaN if no
        half clusters any of its rows.

    Examples
    --------
    >>> from clusterforests import consensus_clustering
    >>> from clusterforests.inspection import half_cuts, stability
    >>> stability(half_cuts([[0, 0, 1, 1]] * 4, 2, consensus_clustering, n_splits=5)).mean
    1.0
    """
    check_parameters({"level": level}, {"level": real(0, 1)})
    pairs = zip(cuts.labels[::2], cuts.labels[1::2], strict=True)
    scores = np.array([adjusted_rand(first, second, cuts.weights) for first, second in pairs])
    known = scores[~np.isnan(scores)]
    if not len(known):
        raise ValueError("partitions has no two rows that both halves of a split cluster. Give more partitions.")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    again = np.array([_best_jaccard(cuts.whole, found, cuts.weights, cuts.n_clusters) for found in cuts.labels])
    return Stability(
        mean=float(known.mean()),
        low=float(low),
        high=float(high),
        scores=scores,
        clusters=_mean_known(again),
        recovered=_mean_known(np.where(np.isnan(again), np.nan, again >= RECOVERED)),
        n_rows=len(cuts.rows),
    )


def _best_jaccard(whole: IndexArray, found: IndexArray, weights: FloatArray, n_clusters: int) -> FloatArray:
    """Find the best Jaccard index of each cluster of `whole`, over rows with a label in `found`; NaN without any."""
    table = contingency(whole, found, weights, n_clusters)
    sizes = table.sum(axis=1)
    union = sizes[:, None] + table.sum(axis=0)[None, :] - table
    index = np.divide(table, union, out=np.zeros_like(table), where=union > 0).max(axis=1)
    return np.where(sizes > 0, index, np.nan)


def _mean_known(values: FloatArray) -> FloatArray:
    """Average the columns over what is not NaN."""
    known: BoolArray = ~np.isnan(values)
    count = known.sum(axis=0).astype(np.float64)
    means: FloatArray = np.where(known, values, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    return means


# The consensus matrix M: the share of half forests that put two rows into the same cluster (Monti et al. 2003).
#
# It is 0 or 1 for all pairs of rows if every half finds the same clusters.


@dataclass(frozen=True)
class ConsensusCdf:
    """The distribution of M over pairs of distinct rows; pairs that no half clusters both of are left out."""

    points: FloatArray  # from 0 to 1
    cdf: FloatArray  # share of pairs whose M is at most the point
    values: FloatArray  # the different values of M, ascending
    mass: FloatArray  # share of pairs with each value
    n_rows: int  # rows that the pairs are taken from


def consensus_cdf(cuts: HalfCuts, n_points: int = 101) -> ConsensusCdf:
    """Compute the distribution of M, the share of half forests that put two rows together, over pairs of rows.

    Parameters
    ----------
    cuts : HalfCuts
        What `half_cuts` returned. Copies of a row, that is, weights above 1, have M = 1.
    n_points : int, default=101
        Number of points at which the distribution function is given.

    Returns
    -------
    distribution : ConsensusCdf

    Examples
    --------
    >>> from clusterforests import consensus_clustering
    >>> from clusterforests.inspection import consensus_cdf, half_cuts, pac
    >>> cuts = half_cuts([[0, 0, 1, 1]] * 4, 2, consensus_clustering)
    >>> consensus_cdf(cuts, 3).cdf.round(2)
    array([0.67, 0.67, 1.  ])
    >>> pac(cuts)
    0.0
    """
    check_parameters({"n_points": n_points}, {"n_points": integer(2)})
    values, mass = _pair_distribution(np.ascontiguousarray(cuts.labels, dtype=np.int32), cuts.weights)
    points = np.arange(n_points) / (n_points - 1)  # Rounded as M is, so that equal fractions compare equal.
    upto = np.concatenate([[0.0], np.cumsum(mass)])
    cdf = np.minimum(upto[np.searchsorted(values, points, side="right")] / upto[-1], 1.0)
    return ConsensusCdf(points, cdf, values, mass / upto[-1], len(cuts.rows))


def _pair_distribution(members: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the values of M and the weight of ordered pairs with each."""
    n, size = members.shape[1], len(members)
    check_memory(4 * 8 * n * n, f"The consensus of {n} rows", "Lower max_rows.")
    backend, table = CpuBackend(), np.arange(size + 1, dtype=np.float64)
    pairs = np.outer(weights, weights)
    np.fill_diagonal(pairs, weights * (weights - np.minimum(weights, 1.0)))
    if pairs.sum() <= 0:
        raise ValueError("Only 1 row counts; a pair needs at least 2.")
    together = backend.coassociate(members, members, table)
    if members.min() >= 0:
        mass = np.bincount(together.ravel().astype(np.intp), pairs.ravel(), minlength=size + 1).astype(np.float64)
        values = table / size
    else:
        some = np.where(members < 0, members, 0)
        both = backend.coassociate(some, some, table)
        pairs = pairs[both > 0]
        values, which = np.unique(together[both > 0] / both[both > 0], return_inverse=True)
        mass = np.bincount(which, pairs).astype(np.float64)
        if mass.sum() <= 0:
            raise ValueError("No two rows are clustered by the same half of the partitions.")
    return values[mass > 0], mass[mass > 0]


def pac(cuts: HalfCuts, low: float = 0.1, high: float = 0.9) -> float:
    """Compute the proportion of ambiguous clustering: pairs with M strictly between two bounds (Senbabaoglu 2014).

    Parameters
    ----------
    cuts : HalfCuts
        What `half_cuts` returned.
    low, high : float, default=0.1 and 0.9
        The bounds.

    Returns
    -------
    pac : float
        From 0 (nearly all halves agree on every pair) to 1.
    """
    check_parameters({"low": low, "high": high}, {"low": real(0, 1), "high": real(0, 1)})
    if low > high:
        raise ValueError(f"low={low} is more than high={high}. Swap them.")
    distribution = consensus_cdf(cuts)
    between = (distribution.values > low) & (distribution.values < high)
    return float(distribution.mass[between].sum())
