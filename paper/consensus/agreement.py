"""The partition that disagrees with the given ones on the fewest pairs of rows (Gionis, Mannila and Tsaparas 2005)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.affinity import Signatures, coassociate
from clusterforests.consensus.linkage import by_size, linkage_labels, merge_all
from paper.consensus.nodes import incidence, nodes_of


@dataclass(frozen=True)
class Aggregate:
    """A partition, and the number of pairs of rows on which it disagrees with the given ones, summed over these."""

    labels: IntArray
    disagreements: int


def aggregate(partitions: Any, n_clusters: int | None = None) -> Aggregate:
    """Find a partition that agrees with the given ones as much as possible.

    Two partitions disagree on a pair of rows if one has them together and the other apart; a pair with a
    row that is not clustered does not count. Average linkage and the best of the given partitions are both improved by
    moving single rows (more exactly: all rows with the same labels) until no move helps, and the better result is kept.
    It need not have the least possible number of disagreements. Rows that no partition tells apart stay together.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    n_clusters : int or None, default=None
        Number of clusters; None leaves it to the agreement. If then every row is clustered in every one of T
        partitions, the disagreements are at most 2 - 2 / T times the least possible.

    Returns
    -------
    result : Aggregate
        With `labels`, where cluster 0 is the largest, and `disagreements`.

    References
    ----------
    A. Gionis, H. Mannila, P. Tsaparas. Clustering aggregation. ACM Transactions on Knowledge Discovery from Data 1
    (2007), article 4.

    Examples
    --------
    >>> from paper.consensus import aggregate
    >>> aggregate([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]])
    Aggregate(labels=array([0, 1, 0, 1, 2, 2], dtype=int32), disagreements=5)
    """
    nodes = nodes_of(partitions, 1 if n_clusters is None else n_clusters)
    groups = by_size(agree(CpuBackend(), nodes, n_clusters), nodes.weights)
    return Aggregate(groups[nodes.inverse], _disagreements(nodes, groups))


def agreement(partitions: Any, n_clusters: int) -> IntArray:
    """Find the partition into n_clusters that disagrees with the given ones on the fewest pairs of rows."""
    return aggregate(partitions, n_clusters).labels


def agree(backend: Backend, signatures: Signatures, n_clusters: int | None) -> IntArray:
    """Group the signatures: equal rows stay together, which costs nothing unless n_clusters asks for more parts."""
    m = len(signatures)
    check_memory(4 * 8 * m * m, f"The agreement on pairs of {m} different rows of labels", "Use fewer rows.")
    P = coassociate(backend, signatures.labels, signatures.labels)
    votes = pair_votes(backend, signatures, P)
    starts = [_linked(P, signatures.weights, n_clusters)]
    given = _best_given(votes, signatures, n_clusters)
    if given is not None:
        starts.append(given)
    found = [local_search(votes, signatures.weights, start, free=n_clusters is None) for start in starts]
    return max(found, key=lambda groups: _agreement(votes, signatures.weights, groups))


def pair_votes(backend: Backend, signatures: Signatures, P: FloatArray) -> FloatArray:
    """Count the partitions with a pair together less those with it apart; 0 for a signature and itself."""
    labels = signatures.labels
    clustered = np.where(labels < 0, -1, 0).astype(np.int32)
    both = backend.coassociate(clustered, clustered, np.arange(len(labels) + 1, dtype=np.float64))
    votes: FloatArray = np.rint((2.0 * P - 1.0) * both)
    np.fill_diagonal(votes, 0.0)
    return votes


def _linked(P: FloatArray, weights: FloatArray, n_clusters: int | None) -> IntArray:
    """Group by average linkage, as long as groups are together in more than half of the partitions on average."""
    if n_clusters is None:
        merges = merge_all(1.0 - P, weights.copy())
        n_clusters = len(weights) - sum(height < 0.5 for height, _, _ in merges)
    return linkage_labels(P, weights, n_clusters)


def _best_given(votes: FloatArray, signatures: Signatures, n_clusters: int | None) -> IntArray | None:
    """Find the partition that agrees most, among those that are complete and have as many clusters as asked for."""
    members = incidence(signatures.labels)
    sizes = members.partitions.sum(axis=1)
    fits = (signatures.labels >= 0).all(axis=1) & ((sizes == n_clusters) | (n_clusters is None))
    if not fits.any():
        return None
    weighted = members.rows.multiply(signatures.weights[:, None]).tocsr()
    pairs = weighted.multiply(votes @ weighted.toarray()).sum(axis=0)
    agreement = np.where(fits, members.partitions @ pairs, -np.inf)
    return by_size(signatures.labels[agreement.argmax()], signatures.weights)


def local_search(votes: FloatArray, weights: FloatArray, groups: IntArray, *, free: bool) -> IntArray:
    """Move one signature at a time to the group that it agrees with most, until all are where they should be.

    The number of groups stays the same unless `free`: then a signature may also open a group, and groups may vanish.
    All sums are of whole numbers, so that no gain is rounding and the search ends.
    """
    groups = groups.copy()
    sizes = np.bincount(groups).tolist() + [0] * free
    member = np.arange(len(sizes))[:, None] == groups
    pull = np.ascontiguousarray((member * weights) @ votes)  # (groups, m): votes of a group for each signature
    moved = True
    while moved:
        moved = False
        for i, weight in enumerate(weights):
            old, new = int(groups[i]), int(pull[:, i].argmax())
            if pull[new, i] <= pull[old, i] or (sizes[old] == 1 and not free):
                continue
            step = weight * votes[i]
            pull[old] -= step
            pull[new] += step
            sizes[old] -= 1
            sizes[new] += 1
            groups[i] = new
            moved = True
            if free and 0 not in sizes:
                sizes.append(0)
                pull = np.vstack([pull, np.zeros(len(groups))])
    return groups


def _agreement(votes: FloatArray, weights: FloatArray, groups: IntArray) -> float:
    """Sum the votes over all pairs of rows in the same group; the partition with most disagrees least."""
    parts = (np.flatnonzero(groups == group) for group in np.unique(groups))
    return math.fsum(float(weights[part] @ votes[np.ix_(part, part)] @ weights[part]) for part in parts) / 2


def _disagreements(signatures: Signatures, groups: IntArray) -> int:
    """Count pairs together in one of two partitions but not in both, from the sizes of clusters."""
    pairs = 0.0
    for member in signatures.labels:
        seen = member >= 0
        table = np.zeros((member.max() + 1, groups.max() + 1))
        np.add.at(table, (member[seen], groups[seen]), signatures.weights[seen])
        sizes = np.concatenate([table.sum(axis=0), table.sum(axis=1)])
        pairs += (sizes @ sizes - 2.0 * (table**2).sum()) / 2.0
    return round(pairs)
