"""What the partitions say of each row and each cluster."""

from typing import Any

import numpy as np

from clusterforests.diagnostics.checks import (
    ROUNDING,
    FloatArray,
    IndexArray,
    IntArray,
    check_counts,
    check_members,
    check_shares,
)

_ABOVE = 1 + 1e-9  # a row's own membership over any other: more than rounding takes away


class _Counted:
    """Checked input, and the weight of each cluster's rows in each part of a partition."""

    def __init__(self, partitions: Any, labels: Any, weights: Any) -> None:
        self.partitions, self.labels, counts = check_members(partitions, labels, weights)
        self.weights = np.ones(len(self.labels)) if counts is None else counts
        self.copy = np.minimum(self.weights, 1.0)  # what a row counts for itself, which is left out
        self.sizes = self.total(self.weights)

    def total(self, weights: FloatArray) -> FloatArray:
        """By clusters."""
        return np.bincount(self.labels, weights).astype(np.float64)

    def parts(self, member: IntArray) -> FloatArray:
        """(parts + 1, n_clusters): the last line, which the label -1 picks, is zero."""
        n_parts = int(member.max()) + 2
        cells = (member.astype(np.intp) % n_parts) * len(self.sizes) + self.labels
        table = np.bincount(cells, self.weights, minlength=n_parts * len(self.sizes)).reshape(n_parts, -1)
        table[-1] = 0.0
        return table.astype(np.float64)


def cluster_shares(partitions: Any, labels: Any, weights: Any = None) -> FloatArray:
    """Mean P between each row and the rows of each cluster.

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
    given = _Counted(partitions, labels, weights)
    together = np.zeros((len(given.labels), len(given.sizes)))
    both, everywhere, seen = np.zeros_like(together), np.zeros(len(given.sizes)), np.zeros(len(given.labels))
    for member in given.partitions:
        table, clustered = given.parts(member), member >= 0
        together += np.take(table, member, axis=0, mode="wrap")
        if clustered.all():
            everywhere += table.sum(axis=0)
        else:
            both[clustered] += table.sum(axis=0)
        seen += clustered
    both += everywhere
    own, itself = (np.arange(len(given.labels)), given.labels), given.copy * seen
    for counts in (together, both):
        others = counts[own] - itself
        counts[own] = np.where(others > ROUNDING * itself, others, 0.0)
    shares: FloatArray = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    alone = given.sizes[given.labels] <= given.copy
    shares[alone, given.labels[alone]] = 1.0
    return shares


def item_consensus(shares: Any, labels: Any) -> FloatArray:
    """Mean P between each row and the others of its cluster (Monti et al. 2003).

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
    """Mean P over the pairs of distinct rows within each cluster (Monti et al. 2003).

    Parameters
    ----------
    partitions, labels, weights
        As for `cluster_shares`.

    Returns
    -------
    consensus : ndarray of shape (n_clusters,)
        A cluster of one row has 1. Ratios of sums where rows are not clustered in some partitions.
    """
    given = _Counted(partitions, labels, weights)
    itself = given.weights * given.copy
    together, both = np.zeros((2, len(given.sizes)))
    for member in given.partitions:
        table, same = given.parts(member), given.total(itself * (member >= 0))
        together += (table**2).sum(axis=0) - same
        both += table.sum(axis=0) ** 2 - same
    nothing = ROUNDING * given.sizes**2
    alone = (given.sizes**2 - given.total(itself) <= nothing).astype(np.float64)
    return np.divide(together, both, out=alone, where=both > nothing)


def consensus_silhouette(shares: Any, labels: Any, weights: Any = None) -> FloatArray:
    """Silhouette of each row, with 1 - mean P as its distance from a cluster.

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
    own, other = _own_and_best_other(shares, labels)
    if shares.shape[1] == 1:
        return np.zeros(len(labels))
    a, b = 1.0 - own, 1.0 - other
    farther = np.maximum(a, b)
    alone = np.bincount(labels, counts)[labels] <= np.minimum(counts, 1.0)
    return np.divide(b - a, farther, out=np.zeros(len(labels)), where=(farther > 0) & ~alone)


def memberships(shares: Any, labels: Any) -> FloatArray:
    """Soft membership of each row in each cluster.

    The shares, divided by their sum. The clustering decides where it and the shares differ: if another cluster has a
    share at least as high as the row's own, the own one is first raised just above it (by a part in 10^9). A row
    without any share belongs to its own cluster.

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
