"""How surely each row belongs to its cluster, by its companions: the rows that it shares a cluster of a tree with.

A row's membership in a cluster is the share of its companions in a tree that are of this cluster, averaged over the
trees. It is 1 where no tree joins rows of different clusters, however many clusters the trees have. Where trees say
nothing of a row, it is about the cluster's share of all rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.backends.label_tables import sum_companions
from clusterforests.combining.placement import label_blocks
from clusterforests.diagnostics.arguments import ROUNDING, check_members, is_forest
from clusterforests.diagnostics.shares import ClusterCounts, copies_of, counted


def memberships(source: Any, labels: Any = None, weights: Any = None) -> FloatArray:
    """Compute the soft membership of each row in each cluster.

    It is the chance that a companion of the row, drawn from a random tree, is of the cluster. Memberships do not depend
    on the row's own label: a doubtful row may have its highest membership in another cluster.

    Parameters
    ----------
    source : ClusterForest or array-like of shape (n_partitions, n_samples)
        A fitted forest, which needs no other argument; or partitions, as for `cluster_shares`.
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
    >>> from clusterforests.diagnostics import memberships
    >>> memberships([[0, 0, 1, 1, 2], [0, 0, 0, 1, 1]], [0, 0, 1, 1, 1])
    array([[0.75, 0.25],
           [0.75, 0.25],
           [0.5 , 0.5 ],
           [0.  , 1.  ],
           [0.  , 1.  ]])
    """
    if is_forest(source):
        soft: FloatArray = source.memberships_
        return soft
    members, clusters, mass = check_members(source, labels, weights)
    return memberships_with(counted(members, clusters, mass), members, clusters, mass)


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
        sums[where] = sum_companions(*known, ROUNDING, threads)
    return without_itself(sums, labels)


def without_itself(sums: FloatArray, labels: IndexArray) -> FloatArray:
    """Compute memberships from the sums that `sum_companions` makes: a row is no companion of itself."""
    others, itself = sums[:, :-1].copy(), sums[:, -1]
    own = np.arange(len(labels)), labels
    rest = others[own] - itself
    others[own] = np.where(rest > ROUNDING * itself, rest, 0.0)
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


def item_consensus(source: Any, labels: Any = None, weights: Any = None) -> FloatArray:
    """Compute the membership of each row in its own cluster.

    Parameters
    ----------
    source, labels, weights
        As for `memberships`.

    Returns
    -------
    consensus : ndarray of shape (n_samples,)
    """
    if is_forest(source):
        own: FloatArray = source.item_consensus_
        return own
    return own_membership(memberships(source, labels, weights), np.asarray(labels))


def own_membership(soft: FloatArray, labels: IntArray | IndexArray) -> FloatArray:
    """Look up each row's membership in its own cluster."""
    own: FloatArray = soft[np.arange(len(labels)), labels]
    return own


def cluster_consensus(source: Any, labels: Any = None, weights: Any = None) -> FloatArray:
    """Average the item consensus over the rows of each cluster.

    Parameters
    ----------
    source, labels, weights
        As for `memberships`.

    Returns
    -------
    consensus : ndarray of shape (n_clusters,)
        NaN for a cluster without weight.
    """
    if is_forest(source):
        found: FloatArray = source.cluster_consensus_
        return found
    own = item_consensus(source, labels, weights)
    mass = None if weights is None else np.asarray(weights, dtype=np.float64)
    return mean_of(sums_by_cluster(own, np.asarray(labels), mass, int(np.max(labels)) + 1))


def sums_by_cluster(
    values: FloatArray, labels: IntArray | IndexArray, weights: FloatArray | None, n_clusters: int
) -> FloatArray:
    """Sum weighted values, and weights, over the rows of each cluster: (2, n_clusters). Those of other rows add up."""
    mass = np.ones(len(labels)) if weights is None else weights
    return np.array([np.bincount(labels, given, minlength=n_clusters) for given in (mass * values, mass)])


def mean_of(sums: FloatArray) -> FloatArray:
    """Divide weighted sums by the sums of the weights; NaN where these are 0."""
    values, mass = sums
    means: FloatArray = np.divide(values, mass, out=np.full(len(mass), np.nan), where=mass > 0)
    return means


def consensus_silhouette(source: Any, labels: Any = None, weights: Any = None) -> FloatArray:
    """Compute how far the membership of each row in its own cluster is above that in the next.

    Parameters
    ----------
    source, labels, weights
        As for `memberships`.

    Returns
    -------
    silhouette : ndarray of shape (n_samples,)
        (own - other) / max(own, other), from -1 to 1: 1 for a row whose companions are all of its cluster, below 0 for
        a doubtful one, whose highest membership is in another cluster. 0 for all rows if there is only one cluster.
    """
    if is_forest(source):
        found: FloatArray = source.silhouette_
        return found
    return silhouette_with(memberships(source, labels, weights), np.asarray(labels))


def silhouette_with(soft: FloatArray, labels: IntArray | IndexArray) -> FloatArray:
    """Compute `consensus_silhouette` from memberships."""
    if soft.shape[1] == 1:
        return np.zeros(len(labels))
    own, others = own_membership(soft, labels), soft.copy()
    others[np.arange(len(labels)), labels] = 0.0
    other = others.max(axis=1)
    silhouette: FloatArray = (own - other) / np.maximum(own, other)
    return silhouette
