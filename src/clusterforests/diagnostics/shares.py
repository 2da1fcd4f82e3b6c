"""How often rows are together with each cluster, counted cluster by cluster: mean P."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray, Int64Array, IntArray
from clusterforests.backends.label_tables import count_cells
from clusterforests.combining.placement import label_blocks
from clusterforests.diagnostics.arguments import ROUNDING, check_members, is_forest


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
        mass = None if weights is None else np.ascontiguousarray(weights[where], dtype=np.float64)
        count_cells(block, first, labels[where].astype(np.int32), mass, cells, threads)
    return ClusterCounts(first, cells, np.bincount(labels, weights, minlength=n_clusters).astype(np.float64))


def copies_of(weights: FloatArray) -> FloatArray:
    """Compute what each row counts for itself, which is left out."""
    return np.minimum(weights, 1.0)


def counted(partitions: IntArray, labels: IndexArray, weights: FloatArray | None, threads: int = 1) -> ClusterCounts:
    """Count all rows."""
    n_parts = [int(member.max()) + 1 for member in partitions]
    return count_clusters(partitions, labels, weights, n_parts, int(labels.max()) + 1, threads)


def cluster_shares(source: Any, labels: Any = None, weights: Any = None) -> FloatArray:
    """Compute the mean P between each row and the rows of each cluster.

    Counted cluster by cluster, never pair by pair: time grows like n_partitions * n_samples * n_clusters.

    Parameters
    ----------
    source : ClusterForest or array-like of shape (n_partitions, n_samples)
        A fitted forest, which needs no other argument; or integer labels, one row for each partition. A negative label
        means "not clustered" there.
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
    if is_forest(source):
        shares: FloatArray = source.cluster_shares_
        return shares
    members, clusters, counts = check_members(source, labels, weights)
    return shares_with(counted(members, clusters, counts), members, clusters, counts)


def shares_with(
    counts: ClusterCounts, partitions: IntArray, labels: IndexArray, weights: FloatArray | None, threads: int = 1
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
    copy = np.ones(rows) if weights is None else copies_of(weights)
    own, itself = (np.arange(rows), labels), copy * seen
    for sums in (together, both):
        others = sums[own] - itself
        sums[own] = np.where(others > ROUNDING * itself, others, 0.0)
    shares: FloatArray = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    alone = counts.sizes[labels] <= copy
    shares[alone, labels[alone]] = 1.0
    return shares


def share_range(P: FloatArray) -> tuple[float, float]:
    """Find the lowest and the highest share of two different rows; 0 and 1 if there are none that differ."""
    pairs = P[~np.eye(len(P), dtype=bool)]
    low, high = float(pairs.min(initial=1.0)), float(pairs.max(initial=0.0))
    return (low, high) if low < high else (0.0, 1.0)
