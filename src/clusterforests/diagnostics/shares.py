"""What the partitions say of each row and each cluster: mean shares, consensus, silhouette, memberships."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.diagnostics.arguments import (
    ROUNDING,
    check_counts,
    check_members,
    check_shares,
)

_ABOVE = 1 + 1e-9  # by how much a row's own membership is above any other: more than rounding


class ClusterCounts(NamedTuple):
    """The weight of each cluster's rows, in all and in each part of each partition. Those of different rows add up."""

    parts: list[FloatArray]  # (parts + 1, n_clusters): the last line, which the label -1 picks, is zero
    sizes: FloatArray  # (n_clusters,)
    same: FloatArray  # (n_partitions + 1, n_clusters): what rows count with themselves, where clustered; then anywhere

    def __add__(self, other: object) -> "ClusterCounts":
        assert isinstance(other, ClusterCounts)
        parts = [mine + theirs for mine, theirs in zip(self.parts, other.parts, strict=True)]
        return ClusterCounts(parts, self.sizes + other.sizes, self.same + other.same)


def count_clusters(
    partitions: IntArray, labels: IndexArray, weights: FloatArray | None, n_parts: Sequence[int], n_clusters: int
) -> ClusterCounts:
    """Count some rows; `n_parts` and `n_clusters` are those of all."""
    mass = np.ones(len(labels)) if weights is None else weights
    itself = mass * _copies(mass)
    parts, same = [], []
    for member, count in zip(partitions, n_parts, strict=True):
        cells = (member.astype(np.intp) % (count + 1)) * n_clusters + labels
        table = np.bincount(cells, mass, minlength=(count + 1) * n_clusters).reshape(count + 1, -1)
        table[-1] = 0.0
        parts.append(table.astype(np.float64))
        same.append(np.bincount(labels, itself * (member >= 0), minlength=n_clusters))
    same.append(np.bincount(labels, itself, minlength=n_clusters))
    sizes = np.bincount(labels, mass, minlength=n_clusters).astype(np.float64)
    return ClusterCounts(parts, sizes, np.array(same, dtype=np.float64))


def _copies(weights: FloatArray) -> FloatArray:
    """Compute what a row counts for itself, which is left out."""
    return np.minimum(weights, 1.0)


def _counted(partitions: IntArray, labels: IndexArray, weights: FloatArray | None) -> ClusterCounts:
    n_parts = [int(member.max()) + 1 for member in partitions]
    return count_clusters(partitions, labels, weights, n_parts, int(labels.max()) + 1)


def cluster_shares(partitions: Any, labels: Any, weights: Any = None) -> FloatArray:
    """Compute the mean P between each row and the rows of each cluster.

    Counted cluster by cluster, never pair by pair: time grows like n_partitions * n_samples * n_clusters.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    labels : array-like of shape (n_samples,)
        The clustering in question, numbered from 0 without a gap.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_clusters)
        A row is left out of its own cluster; one that is all of its cluster has 1 there. Where rows are not clustered
        in some partitions: partitions with the two rows together, summed over the cluster, over partitions that
        cluster both, summed likewise; 0 where there are none.

    Examples
    --------
    >>> from clusterforests.diagnostics import cluster_shares
    >>> cluster_shares([[0, 0, 1, 1], [0, 0, 0, 1]], [0, 0, 1, 1])
    array([[1.  , 0.25],
           [1.  , 0.25],
           [0.5 , 0.5 ],
           [0.  , 0.5 ]])
    """
    members, clusters, counts = check_members(partitions, labels, weights)
    return shares_with(_counted(members, clusters, counts), members, clusters, counts)


def shares_with(
    counts: ClusterCounts, partitions: IntArray, labels: IndexArray, weights: FloatArray | None
) -> FloatArray:
    """Compute `cluster_shares` of some rows from the counts of all."""
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
    copy = np.ones(rows) if weights is None else _copies(weights)
    own, itself = (np.arange(rows), labels), copy * seen
    for sums in (together, both):
        others = sums[own] - itself
        sums[own] = np.where(others > ROUNDING * itself, others, 0.0)
    shares: FloatArray = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    alone = counts.sizes[labels] <= copy
    shares[alone, labels[alone]] = 1.0
    return shares


def item_consensus(shares: Any, labels: Any) -> FloatArray:
    """Look up the mean P between each row and the others of its cluster (Monti et al. 2003).

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_clusters)
        From `cluster_shares`.
    labels : array-like of shape (n_samples,)
        Cluster of each row.

    Returns
    -------
    consensus : ndarray of shape (n_samples,)
    """
    shares, labels = check_shares(shares, labels)
    own: FloatArray = shares[np.arange(len(labels)), labels]
    return own


def cluster_consensus(partitions: Any, labels: Any, weights: Any = None) -> FloatArray:
    """Compute the mean P over the pairs of distinct rows within each cluster (Monti et al. 2003).

    Parameters
    ----------
    partitions, labels, weights
        As for `cluster_shares`.

    Returns
    -------
    consensus : ndarray of shape (n_clusters,)
        A cluster of one row has 1. Ratios of sums where rows are not clustered in some partitions.
    """
    return consensus_with(_counted(*check_members(partitions, labels, weights)))


def consensus_with(counts: ClusterCounts) -> FloatArray:
    """Compute `cluster_consensus` from the counts of all rows."""
    together, both = np.zeros((2, len(counts.sizes)))
    for table, same in zip(counts.parts, counts.same[:-1], strict=True):
        together += (table**2).sum(axis=0) - same
        both += table.sum(axis=0) ** 2 - same
    nothing = ROUNDING * counts.sizes**2
    alone = (counts.sizes**2 - counts.same[-1] <= nothing).astype(np.float64)
    consensus: FloatArray = np.divide(together, both, out=alone, where=both > nothing)
    return consensus


def consensus_silhouette(shares: Any, labels: Any, weights: Any = None) -> FloatArray:
    """Compute the silhouette of each row, with 1 - mean P as its distance from a cluster.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_clusters)
        From `cluster_shares`.
    labels : array-like of shape (n_samples,)
        Cluster of each row.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts.

    Returns
    -------
    silhouette : ndarray of shape (n_samples,)
        (b - a) / max(a, b), where a is the distance from the own cluster and b that from the nearest other one: from
        -1 to 1. 0 for a row that is all of its cluster, and for all rows if there is only one cluster.
    """
    shares, labels = check_shares(shares, labels)
    counts = np.ones(len(labels)) if weights is None else check_counts(weights, len(labels))
    return silhouette_with(np.bincount(labels, counts).astype(np.float64), shares, labels, counts)


def silhouette_with(sizes: FloatArray, shares: FloatArray, labels: IndexArray, weights: FloatArray) -> FloatArray:
    """Compute `consensus_silhouette` of some rows from the sizes of the clusters."""
    own, other = _own_and_best_other(shares, labels)
    if shares.shape[1] == 1:
        return np.zeros(len(labels))
    a, b = 1.0 - own, 1.0 - other
    farther = np.maximum(a, b)
    alone = sizes[labels] <= _copies(weights)
    return np.divide(b - a, farther, out=np.zeros(len(labels)), where=(farther > 0) & ~alone)


def memberships(shares: Any, labels: Any) -> FloatArray:
    """Compute the soft membership of each row in each cluster.

    Memberships are the shares of a row divided by their sum. The clustering decides where it and the shares differ: if
    another cluster has a share at least as high as the row's own, the own one is first raised just above it (by a part
    in 10^9). A row without any share belongs to its own cluster.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_clusters)
        From `cluster_shares`.
    labels : array-like of shape (n_samples,)
        Cluster of each row.

    Returns
    -------
    memberships : ndarray of shape (n_samples, n_clusters)
        Every row sums to 1, and its highest entry is at its label.
    """
    shares, labels = check_shares(shares, labels)
    own, other = _own_and_best_other(shares, labels)
    raised = shares.copy()
    raised[np.arange(len(labels)), labels] = np.where(other > 0, np.maximum(own, other * _ABOVE), 1.0)
    soft: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return soft


def _own_and_best_other(shares: FloatArray, labels: IndexArray) -> tuple[FloatArray, FloatArray]:
    rows = np.arange(len(labels))
    others = shares.copy()
    others[rows, labels] = 0.0
    return shares[rows, labels], others.max(axis=1)
