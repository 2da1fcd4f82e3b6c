"""Stability: would half of the partitions have given the same clustering?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.adjusted_rand import adjusted_rand, contingency
from clusterforests._base.parameters import Rule, check_parameters, integer, real
from clusterforests._base.random import Purpose, permutations, stream
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray
from clusterforests.diagnostics.arguments import SEED, Combine, check_counts, check_given, check_labels, labels_from
from clusterforests.diagnostics.distribution import sample_rows
from clusterforests.tables.checks import check_enough_rows


@dataclass(frozen=True)
class Stability:
    """How well clusterings from two halves of the partitions agree."""

    mean: float  # adjusted Rand index of the two, averaged over the splits
    low: float  # the share `level` of the splits lies between `low` and `high`
    high: float
    scores: FloatArray  # of each split; NaN if its halves share no pair of clustered rows
    clusters: FloatArray  # best Jaccard index of each cluster in the clustering of a half, averaged over the halves
    n_rows: int  # rows that were clustered


def stability(
    partitions: Any,
    n_clusters: int,
    combine: Combine,
    *,
    n_splits: int = 20,
    seed: int = 0,
    level: float = 0.9,
    max_rows: int = 1000,
    labels: Any = None,
    weights: Any = None,
) -> Stability:
    """Estimate whether other partitions of the same kind would have given the same clustering.

    The partitions are split at random into two halves (of an odd number one is left out), each half is combined on
    its own, and the two clusterings are compared by the adjusted Rand index. Rows that a half does not cluster at all
    are not given to `combine` and not compared.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        As for `cluster_shares`; at least 2 partitions.
    n_clusters : int
        Number of clusters.
    combine : callable
        `combine(partitions, n_clusters)` returns one label for each row, such as `clusterforests.consensus`.
    n_splits : int, default=20
        Number of splits; each calls `combine` twice.
    seed : int, default=0
        Determines the splits, and the sample of rows.
    level : float, default=0.9
        Share of the splits that the interval holds.
    max_rows : int, default=1000
        Of more rows a random sample of this many is clustered, the same for the same `seed`.
    labels : array-like of shape (n_samples,) or None, default=None
        The clustering whose clusters are looked up in the halves; None combines all partitions (of the sample).
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts in the comparisons.

    Returns
    -------
    result : Stability
        With `mean`, `low`, `high`, `scores`, `n_rows` and, for each cluster, `clusters`: NaN if no half clusters any
        of its rows.

    Examples
    --------
    >>> from clusterforests import consensus
    >>> from clusterforests.diagnostics import stability
    >>> stability([[0, 0, 1, 1]] * 4, 2, consensus, n_splits=5).mean
    1.0
    """
    rules = {"combine": Rule(callable, "a function"), "n_splits": integer(1), "level": real(0, 1)}
    check_parameters({"n_clusters": n_clusters, "combine": combine, "n_splits": n_splits, "level": level}, rules)
    check_parameters({"seed": seed, "max_rows": max_rows}, {"seed": SEED, "max_rows": integer(2)})
    members = check_given(partitions)
    n, half = members.shape[1], len(members) // 2
    check_enough_rows(min(n, max_rows), n_clusters)
    if half < 1:
        raise ValueError("partitions has 1 member; stability needs at least 2.")
    given = None if labels is None else check_labels(labels, n)
    counts = None if weights is None else check_counts(weights, n)
    rows = sample_rows(n, max_rows, seed, counts)
    members = np.ascontiguousarray(members[:, rows], dtype=np.int32)
    w = np.ones(len(rows)) if counts is None else counts[rows]
    whole = labels_from(combine, members, n_clusters) if given is None else given[rows]
    k = int((whole if given is None else given).max()) + 1
    scores, found = np.empty(n_splits), []
    for split, order in enumerate(permutations(stream(seed, Purpose.HALF_FORESTS, np.arange(n_splits)), len(members))):
        first = labels_from(combine, members[order[:half]], n_clusters)
        second = labels_from(combine, members[order[half : 2 * half]], n_clusters)
        scores[split] = adjusted_rand(first, second, w)
        found += [_best_jaccard(whole, first, w, k), _best_jaccard(whole, second, w, k)]
    known = scores[~np.isnan(scores)]
    if not len(known):
        raise ValueError("partitions has no two rows that both halves of a split cluster. Give more partitions.")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Stability(float(known.mean()), float(low), float(high), scores, _mean_known(np.array(found)), len(rows))


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
