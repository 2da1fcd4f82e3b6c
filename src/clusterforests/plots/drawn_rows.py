"""Which rows are drawn, and in which order."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.random import Purpose, stream
from clusterforests._base.typing import IndexArray, IntArray
from clusterforests.diagnostics import item_consensus
from clusterforests.forest_view import ForestView


class OrderedRows(NamedTuple):
    """Rows by cluster, the surest first within each, and how many of them each cluster has."""

    rows: IndexArray
    sizes: IndexArray


def rows_to_draw(labels: IntArray, max_rows: int) -> IndexArray:
    """Choose at most max_rows rows: the same share of every cluster, but at least one row of each.

    The choice depends on the row numbers alone, so that all pictures of a forest show the same rows.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Clusters, numbered from 0.
    max_rows : int
        At least the number of clusters.

    Returns
    -------
    rows : ndarray
        Ascending.
    """
    n = len(labels)
    if n <= max_rows:
        return np.arange(n)
    sizes = np.bincount(labels)
    present = np.flatnonzero(sizes)
    if len(present) > max_rows:
        raise ValueError(f"max_rows={max_rows} is less than the number of clusters, {len(present)}. Raise it.")
    counts = np.zeros(len(sizes), dtype=np.intp)
    counts[present] = np.maximum(1, sizes[present] * max_rows // n)
    while counts.sum() > max_rows:  # the one row that each tiny cluster is given comes out of the largest
        counts[np.argmax(counts)] -= 1
    rest = np.where(counts < sizes, sizes * max_rows / n - counts, -np.inf)
    counts[np.argsort(-rest, kind="stable")[: max_rows - counts.sum()]] += 1
    order = np.lexsort((stream(0, Purpose.PLOTTED_ROWS, np.arange(n)), labels))
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(counts, sizes)])


def surest_first(view: ForestView, max_rows: int) -> OrderedRows:
    """Order the rows to draw. How sure a row is, is judged by the rows drawn."""
    rows = rows_to_draw(view.labels, max_rows)
    labels = view.labels[rows]
    sure = item_consensus(view.partitions(rows).astype(np.int32), labels)
    order = np.lexsort((-sure, labels))
    return OrderedRows(rows[order], np.bincount(labels))
