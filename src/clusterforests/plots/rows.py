"""Which rows are drawn, and in which order."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.random import Purpose, stream
from clusterforests._base.typing import IndexArray, IntArray
from clusterforests.diagnostics import cluster_shares, item_consensus
from clusterforests.estimator import ClusterForest


class OrderedRows(NamedTuple):
    """Rows by cluster, within a cluster the surest first, and how many of them each cluster has."""

    rows: IndexArray
    sizes: IndexArray


def thin(labels: IntArray, max_rows: int) -> IndexArray:
    """At most max_rows rows, ascending: as large a share of every cluster, but at least one of its rows.

    Which ones depends on their numbers alone: the same for every picture of as many rows.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Clusters, numbered from 0.
    max_rows : int
        At least the number of clusters.

    Returns
    -------
    rows : ndarray
    """
    n = len(labels)
    if n <= max_rows:
        return np.arange(n)
    sizes = np.bincount(labels)
    several = np.flatnonzero(sizes)
    if len(several) > max_rows:
        raise ValueError(f"max_rows={max_rows} is less than the number of clusters, {len(several)}. Raise it.")
    counts = np.zeros(len(sizes), dtype=np.intp)
    counts[several] = np.maximum(1, sizes[several] * max_rows // n)
    while counts.sum() > max_rows:  # clusters too small for one row have got one at the cost of the largest
        counts[np.argmax(counts)] -= 1
    rest = np.where(counts < sizes, sizes * max_rows / n - counts, -np.inf)
    counts[np.argsort(-rest, kind="stable")[: max_rows - counts.sum()]] += 1
    order = np.lexsort((stream(0, Purpose.PLOTTED_ROWS, np.arange(n)), labels))
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(counts, sizes)])


def surest_first(forest: ClusterForest, max_rows: int) -> OrderedRows:
    """How sure a row is, is judged by the rows that are drawn."""
    rows = thin(forest.labels_, max_rows)
    labels = forest.labels_[rows]
    sure = item_consensus(cluster_shares(forest.partitions_[:, rows].astype(np.int32), labels), labels)
    order = np.lexsort((-sure, labels))
    return OrderedRows(rows[order], np.bincount(labels))
