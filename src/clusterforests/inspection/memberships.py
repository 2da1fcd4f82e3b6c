"""How surely each row belongs to its cluster, by its companions: the rows that it shares a cluster of a tree with.

A row's membership in a cluster is the share of its companions in a tree that are of this cluster, averaged over the
trees. It is 1 where no tree joins rows of different clusters, however many clusters the trees have. Where trees say
nothing of a row, it is about the cluster's share of all rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import FloatArray, IndexArray, Int64Array, IntArray
from clusterforests.consensus.affinity import label_blocks
from clusterforests.inspection.arguments import check_members

EQUAL_SUMS = 1e-9  # smaller differences of sums of weights are rounding

# How often rows are together with each cluster, counted cluster by cluster: mean P.


class ClusterCounts(NamedTuple):
    """The weight of each cluster's rows, in all and in each part of each partition. Those of different rows add up."""

    first: Int64Array  # (T + 1,): where each partition's lines begin
    cells: FloatArray  # (lines, n_clusters): a line for each part; the last, which the label -1 picks, is zero
    sizes: FloatArray  # (n_clusters,)

    @property
    def parts(self) -> list[FloatArray]:
        """The lines of each partition."""
        return np.split(self.cells, self.first[1:-1])

    def __add__(self, other: object) -> "ClusterCounts":
        assert isinstance(other, ClusterCounts)
        return ClusterCounts(self.first, self.cells + other.cells, self.sizes + other.sizes)


def count_clusters(
    partitions: IntArray,
    labels: IndexArray,
    weights: FloatArray | None,
    n_parts: Sequence[int],
    n_clusters: int,
    threads: int = 1,
) -> ClusterCounts:
    """Count some rows; `n_parts` and `n_clusters` are those of all."""
    first = np.concatenate([[0], np.cumsum(np.asarray(n_parts, dtype=np.int64) + 1)])
    cells = np.zeros((int(first[-1]), n_clusters))
    for where, block in label_blocks(partitions):
        block_weights = None if weights is None else np.ascontiguousarray(weights[where], dtype=np.float64)
        _core.count_cells(block, first, labels[where].astype(np.int32), block_weights, cells, threads)
    return ClusterCounts(first, cells, np.bincount(labels, weights, minlength=n_clusters).astype(np.float64))


def copies_of(weights: FloatArray) -> FloatArray:
    """Compute what each row counts for itself, which is left out."""
    return np.minimum(weights, 1.0)


def counted(partitions: IntArray, labels: IndexArray, weights: FloatArray | None, threads: int = 1) -> ClusterCounts:
    """Count all rows."""
    n_parts = [int(member.max()) + 1 for member in partitions]
    return count_clusters(partitions, labels, weights, n_parts, int(labels.max()) + 1, threads)


def shares_with(
    counts: ClusterCounts, partitions: IntArray, labels: IndexArray, weights: FloatArray | None, threads: int = 1
) -> FloatArray:
    """Compute the mean P between some rows and the rows of each cluster, from the counts of all.

    A row is left out of its own cluster; one that is all of its cluster has 1 there. Where rows are not clustered in
    some partitions: partitions with the two rows together, summed over the cluster, over partitions that cluster both,
    summed likewise; 0 where there are none.
    """
    rows, n_clusters = len(labels), len(counts.sizes)
    together, both = np.zeros((2, rows, n_clusters))
    everywhere, seen = np.zeros(n_clusters), np.zeros(rows)
    for member, table in zip(partitions, counts.parts, strict=True):
        clustered = member >= 0
        together += np.take(table, member, axis=0, mode="wrap")
        if clustered.all():
            everywhere += table.sum(axis=0)
        else:
            both[clustered] += table.sum(axis=0)
        seen += clustered
    both += everywhere
    copy = np.ones(rows) if weights is None else copies_of(weights)
    own, itself = (np.arange(rows), labels), copy * seen
    for sums in (together, both):
        others = sums[own] - itself
        sums[own] = np.where(others > EQUAL_SUMS * itself, others, 0.0)
    shares: FloatArray = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    alone = counts.sizes[labels] <= copy
    shares[alone, labels[alone]] = 1.0
    return shares


def share_range(P: FloatArray) -> tuple[float, float]:
    """Find the lowest and the highest share of two different rows; 0 and 1 if there are none that differ."""
    pairs = P[~np.eye(len(P), dtype=bool)]
    low, high = float(pairs.min(initial=1.0)), float(pairs.max(initial=0.0))
    return (low, high) if low < high else (0.0, 1.0)


def memberships(partitions: Any, labels: Any, weights: Any = None) -> FloatArray:
    """Compute the soft membership of each row in each cluster.

    It is the chance that a companion of the row, drawn from a random tree, is of the cluster. Memberships do not depend
    on the row's own label: an ambiguous row may have its highest membership in another cluster.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    labels : array-like of shape (n_samples,)
        Cluster of each row, numbered from 0 without a gap.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts.

    Returns
    -------
    memberships : ndarray of shape (n_samples, n_clusters)
        Every row sums to 1. A row is no companion of itself, unless it is all of its cluster. One that never has a
        companion belongs to its own cluster.

    Examples
    --------
    >>> from clusterforests.inspection import memberships
    >>> memberships([[0, 0, 1, 1, 2], [0, 0, 0, 1, 1]], [0, 0, 1, 1, 1])
    array([[0.75, 0.25],
           [0.75, 0.25],
           [0.5 , 0.5 ],
           [0.  , 1.  ],
           [0.  , 1.  ]])
    """
    members, clusters, row_weights = check_members(partitions, labels, weights)
    return memberships_with(counted(members, clusters, row_weights), members, clusters, row_weights)


def memberships_with(
    counts: ClusterCounts, partitions: IntArray, labels: IndexArray, weights: FloatArray | None, threads: int = 1
) -> FloatArray:
    """Compute `memberships` of some rows from the counts of all."""
    copies = np.ones(len(labels)) if weights is None else copies_of(weights)
    copies = np.where(counts.sizes[labels] <= copies, 0.0, copies)
    everyone = counts.cells.sum(axis=1)
    sums = np.empty((len(labels), len(counts.sizes) + 1))
    for where, block in label_blocks(partitions):
        known = block, counts.first, counts.cells, everyone, np.ascontiguousarray(copies[where])
        sums[where] = _core.sum_companions(*known, EQUAL_SUMS, threads)
    return without_itself(sums, labels)


def without_itself(sums: FloatArray, labels: IndexArray) -> FloatArray:
    """Compute memberships from the sums that `sum_companions` makes: a row is no companion of itself."""
    others, itself = sums[:, :-1].copy(), sums[:, -1]
    own = np.arange(len(labels)), labels
    rest = others[own] - itself
    others[own] = np.where(rest > EQUAL_SUMS * itself, rest, 0.0)
    return normalise(others, labels)


@dataclass(frozen=True)
class FromMemberships:
    """Something of some rows that follows from their memberships and labels."""

    finish: Callable[[FloatArray, IndexArray], FloatArray]

    def __call__(
        self,
        counts: ClusterCounts,
        partitions: IntArray,
        labels: IndexArray,
        weights: FloatArray | None,
        threads: int = 1,
    ) -> FloatArray:
        return self.finish(memberships_with(counts, partitions, labels, weights, threads), labels)


def normalise(sums: FloatArray, labels: IntArray | IndexArray) -> FloatArray:
    """Divide each row by its sum; a row of zeros belongs to the cluster of its label."""
    total = sums.sum(axis=1, keepdims=True)
    soft: FloatArray = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
    alone = np.flatnonzero(total[:, 0] <= 0)
    soft[alone, labels[alone]] = 1.0
    return soft


def own_membership(soft: FloatArray, labels: IntArray | IndexArray) -> FloatArray:
    """Look up each row's membership in its own cluster."""
    own: FloatArray = soft[np.arange(len(labels)), labels]
    return own


def nearest_clusters(labels: IntArray, soft: FloatArray) -> IntArray:
    """Return the labels, and for a row that has none the cluster in which its membership is highest."""
    return np.where(labels < 0, soft.argmax(axis=1).astype(labels.dtype), labels)


def sums_by_cluster(
    values: FloatArray, labels: IntArray | IndexArray, weights: FloatArray | None, n_clusters: int
) -> FloatArray:
    """Sum weighted values, and weights, over the rows of each cluster: (2, n_clusters). Those of other rows add up."""
    weights = np.ones(len(labels)) if weights is None else weights
    return np.array([np.bincount(labels, given, minlength=n_clusters) for given in (weights * values, weights)])


def mean_of(sums: FloatArray) -> FloatArray:
    """Divide weighted sums by the sums of the weights; NaN where these are 0."""
    values, weights = sums
    means: FloatArray = np.divide(values, weights, out=np.full(len(weights), np.nan), where=weights > 0)
    return means


def consensus_silhouette(memberships: FloatArray, labels: IntArray | IndexArray) -> FloatArray:
    """Compute how far the membership of each row in its own cluster is above that in the next.

    Parameters
    ----------
    memberships : ndarray of shape (n_samples, n_clusters)
        As `memberships` computes them.
    labels : ndarray of shape (n_samples,)
        Cluster of each row.

    Returns
    -------
    silhouette : ndarray of shape (n_samples,)
        (own - other) / max(own, other), from -1 to 1: 1 for a row whose companions are all of its cluster, below 0 for
        an ambiguous one, whose highest membership is in another cluster. 0 for all rows if there is only one cluster.
    """
    if memberships.shape[1] == 1:
        return np.zeros(len(labels))
    own, others = own_membership(memberships, labels), memberships.copy()
    others[np.arange(len(labels)), labels] = 0.0
    other = others.max(axis=1)
    silhouette: FloatArray = (own - other) / np.maximum(own, other)
    return silhouette
