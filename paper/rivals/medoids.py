"""Partitioning around medoids (Kaufman and Rousseeuw 1990) on a matrix of dissimilarities."""

from dataclasses import dataclass

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray

_ROUNDING = 1e-12  # share of the cost that a swap must gain at least
_ROWS_AT_A_TIME = 64  # so that intermediate results stay in the cache


@dataclass(frozen=True)
class Medoids:
    """A partition around medoids."""

    labels: IntArray
    medoids: IndexArray  # row of each cluster's medoid
    cost: float  # sum of dissimilarities to the nearest medoid


def partition_around_medoids(distances: FloatArray, n_clusters: int) -> Medoids:
    """Choose medoids by BUILD, then make the best SWAP until none lowers the cost. Ties go to the lowest index."""
    if not np.isfinite(distances).all():
        raise ValueError("distances must be finite.")
    medoids = _build(distances, n_clusters)
    while True:
        labels, nearest, second = _two_nearest(distances, medoids)
        cost = float(nearest.sum())
        swap = _best_swap(distances, medoids, labels, nearest, second)
        if swap is None or not swap[0] < -_ROUNDING * cost:
            return Medoids(labels, medoids, cost)
        medoids[swap[1]] = swap[2]


def _build(distances: FloatArray, n_clusters: int) -> IndexArray:
    """Choose the most central row, then repeatedly the row that lowers the cost most."""
    chosen = [int(distances.sum(axis=0).argmin())]
    nearest = distances[chosen[0]].copy()
    while len(chosen) < n_clusters:
        gain = np.maximum(nearest - distances, 0.0).sum(axis=1)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        np.minimum(nearest, distances[chosen[-1]], out=nearest)
    return np.array(chosen)


def _two_nearest(distances: FloatArray, medoids: IndexArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Find each row's nearest medoid, the distance to it, and the distance to the second nearest."""
    to_medoids = distances[medoids]
    labels = to_medoids.argmin(axis=0)
    labels[medoids] = np.arange(len(medoids))  # even if two medoids are at distance 0
    rows = np.arange(len(labels))
    nearest = to_medoids[labels, rows]
    to_medoids[labels, rows] = np.inf
    return labels.astype(np.int32), nearest, to_medoids.min(axis=0)


def _best_swap(
    distances: FloatArray,
    medoids: IndexArray,
    labels: IntArray,
    nearest: FloatArray,
    second: FloatArray,
) -> tuple[float, int, int] | None:
    """Find the best swap: the change of cost, the cluster and its new medoid.

    All (row, cluster) pairs are tried at once. The cost of a row in another cluster changes by min(d - nearest, 0). A
    row that loses its medoid goes to the new one or to its second nearest, which adds min(max(d, nearest), second) -
    nearest to that.
    """
    n, k = len(labels), len(medoids)
    if n == k:
        return None
    members = np.zeros((n, k))
    members[np.arange(n), labels] = 1.0
    change = np.empty((n, k))
    for start in range(0, n, _ROWS_AT_A_TIME):
        block = distances[start : start + _ROWS_AT_A_TIME]
        joining = np.minimum(block, nearest).sum(axis=1) - nearest.sum()
        left_behind = np.clip(block, nearest, second) - nearest
        change[start : start + _ROWS_AT_A_TIME] = joining[:, None] + left_behind @ members
    change[medoids] = np.inf
    row, cluster = np.unravel_index(int(change.argmin()), change.shape)
    return float(change[row, cluster]), int(cluster), int(row)
