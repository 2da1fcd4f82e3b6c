"""Stability: would half of the partitions have given the same clustering?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray
from clusterforests._utils.random import Purpose, permutations, stream
from clusterforests._utils.statistics import adjusted_rand, contingency
from clusterforests._utils.validation import Rule, check_parameters, integer, real, several
from clusterforests.inspection.arguments import (
    SEED,
    Combine,
    CombineMany,
    check_counts,
    check_given,
    check_labels,
    is_forest,
    labels_from,
)
from clusterforests.table.checks import check_enough_rows

# Clusterings by random halves of the partitions, which say whether other partitions would have given the same.
#
# Stability, PAC, the consensus distribution and its area are all read off these clusterings.

# The same everywhere, so that the same forest has the same stability on the page, in the table of K and in plots.
N_SPLITS = 20
MAX_ROWS = 500


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
    source: Any,
    n_clusters: int | None = None,
    combine: Combine | None = None,
    *,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    labels: Any = None,
    weights: Any = None,
) -> HalfCuts:
    """Cluster the rows by random halves of the partitions.

    The partitions are split at random into two halves (of an odd number one is left out), and each half is combined on
    its own into the same number of clusters.

    Parameters
    ----------
    source : ClusterForest or array-like of shape (n_partitions, n_samples)
        A fitted forest, which needs only `n_splits` and `max_rows`; or at least 2 partitions, as for `cluster_shares`.
    n_clusters : int
        Number of clusters.
    combine : callable
        `combine(partitions, n_clusters)` returns one label for each row, such as `clusterforests.consensus`. It is not
        given rows that no partition of the half clusters.
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
    if isinstance(source, HalfCuts):
        return source
    if is_forest(source):
        cuts: HalfCuts = source.half_cuts(n_splits, max_rows=max_rows)
        return cuts
    check_parameters({"combine": combine}, {"combine": Rule(callable, "a function")})
    assert combine is not None
    check_parameters({"n_clusters": n_clusters}, {"n_clusters": integer(1)})
    assert n_clusters is not None

    def combine_many(partitions: Any, numbers: Sequence[int]) -> list[Any]:
        return [combine(partitions, number) for number in numbers]

    options = {"n_splits": n_splits, "seed": seed, "max_rows": max_rows, "weights": weights}
    wholes = None if labels is None else [labels]
    return half_cuts_for_each(source, [n_clusters], combine_many, wholes=wholes, **options)[0]


def half_cuts_for_each(
    partitions: Any,
    numbers: Sequence[int],
    combine: CombineMany,
    *,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    wholes: Sequence[Any] | None = None,
    weights: Any = None,
) -> list[HalfCuts]:
    """Do what `half_cuts` does for several numbers of clusters, combining each half for all of them at once.

    Parameters
    ----------
    partitions, n_splits, seed, max_rows, weights
        As for `half_cuts`.
    numbers : sequence of int
        Numbers of clusters.
    combine : callable
        `combine(partitions, numbers)` returns the labels of all rows for each of the numbers.
    wholes : sequence of array-like of shape (n_samples,) or None, default=None
        The clustering by all partitions for each number; None combines them (of the sample).

    Returns
    -------
    cuts : list of HalfCuts
        In the order of the numbers.
    """
    check_parameters({"n_splits": n_splits, "seed": seed}, {"n_splits": integer(1), "seed": SEED})
    check_parameters({"max_rows": max_rows, "numbers": numbers}, {"max_rows": integer(2), "numbers": several(1)})
    members = check_given(partitions)
    n, half = members.shape[1], len(members) // 2
    check_enough_rows(min(n, max_rows), max(numbers))
    if half < 1:
        raise ValueError("partitions has 1 member; two halves need at least 2.")
    given = None if wholes is None else [check_labels(labels, n) for labels in wholes]
    mass = None if weights is None else check_counts(weights, n)
    rows = sample_rows(n, max_rows, seed, mass)
    members = np.ascontiguousarray(members[:, rows], dtype=np.int32)
    whole = labels_from(combine, members, numbers) if given is None else [labels[rows] for labels in given]
    found = []
    for order in permutations(stream(seed, Purpose.HALF_FORESTS, np.arange(n_splits)), len(members)):
        for part in (order[:half], order[half : 2 * half]):
            found.append(labels_from(combine, members[part], numbers))
    return [
        HalfCuts(
            labels=np.array([cuts[i] for cuts in found]),
            whole=whole[i],
            n_clusters=int((whole if given is None else given)[i].max()) + 1,
            rows=rows,
            weights=np.ones(len(rows)) if mass is None else mass[rows],
        )
        for i in range(len(numbers))
    ]


def sample_rows(n_rows: int, max_rows: int, seed: int, weights: FloatArray | None) -> IndexArray:
    """Choose rows that count: all, or a random sample of max_rows, in ascending order."""
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
    if len(rows) <= max_rows:
        return rows
    return np.sort(rows[permutations(stream(seed, Purpose.DIAGNOSTIC_ROWS), len(rows))[0, :max_rows]])


RECOVERED = 0.75  # Jaccard index from which on a cluster counts as found again (Hennig 2007)


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


def stability(
    source: Any,
    n_clusters: int | None = None,
    combine: Combine | None = None,
    *,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    level: float = 0.9,
    max_rows: int = MAX_ROWS,
    labels: Any = None,
    weights: Any = None,
) -> Stability:
    """Estimate whether other partitions of the same kind would have given the same clustering.

    The clusterings by the two halves of each split are compared by the adjusted Rand index: 1 if they are the same,
    0 on average if they have nothing to do with each other.

    Parameters
    ----------
    source : ClusterForest, HalfCuts or array-like of shape (n_partitions, n_samples)
        A fitted forest or what `half_cuts` returned, which need no clusters to be named; or partitions.
    n_clusters, combine, n_splits, seed, max_rows, labels, weights
        As for `half_cuts`.
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
    >>> from clusterforests.inspection import stability
    >>> stability([[0, 0, 1, 1]] * 4, 2, consensus_clustering, n_splits=5).mean
    1.0
    """
    check_parameters({"level": level}, {"level": real(0, 1)})
    options = {"n_splits": n_splits, "seed": seed, "max_rows": max_rows, "labels": labels, "weights": weights}
    cuts = half_cuts(source, n_clusters, combine, **options)
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
