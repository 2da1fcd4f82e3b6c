"""How far clusters differ in each feature, and whether they only repeat one."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray, count_values
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.inspection.arguments import check_counts, check_labels
from clusterforests.table.feature_columns import EncodedTable

SEPARATED_CELLS = 2**20
EQUAL_DIFFERENCE = 1e-12  # a smaller difference is rounding
FEW_CELLS = 3  # of which any groups look apart


class Separation(NamedTuple):
    """Shares of each feature's variance between clusters (eta squared), from 0 to 1."""

    features: FloatArray  # (n_features,): between all clusters
    clusters: FloatArray  # (n_clusters, n_features): between each cluster and the rest
    direction: IntArray  # (n_clusters, n_features): 1 if the cluster's mean is above that of all rows, -1 if below


def feature_separation(X: Any, labels: Any, weights: Any = None) -> Separation:
    """Compute the share of each feature's variance between clusters: all of them, and each against the rest.

    Clusters that were found with the feature's help differ in it by construction, so a high share is no proof that the
    feature has structure: see `ClusterForest.feature_pvalues_` for that.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; NaN is a missing cell, which is left out.
    labels : array-like of shape (n_samples,)
        Cluster of each row, numbered from 0 without a gap.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts.

    Returns
    -------
    separation : Separation
        With `features`, `clusters` and `direction`. A feature that is constant, or has at most 3 cells, separates
        nothing.

    Examples
    --------
    >>> from clusterforests.inspection import feature_separation
    >>> found = feature_separation([[0, 1], [1, 2], [0, 3], [9, 3], [8, 2], [9, 1]], [0, 0, 0, 1, 1, 1])
    >>> found.features.round(2)
    array([0.99, 0.  ])
    >>> found.direction
    array([[-1,  0],
           [ 1,  0]], dtype=int32)
    """
    table = check_cells(X)
    found = check_labels(labels, len(table))
    counts = np.ones(len(table)) if weights is None else check_counts(weights, len(table))
    return separate(table, found, counts, int(found.max()) + 1)


def separate(X: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Separation:
    """Do what `feature_separation` does in blocks of features."""
    step = max(1, SEPARATED_CELLS // len(X))
    parts = [_separate(X[:, j : j + step], labels, weights, n_clusters) for j in range(0, X.shape[1], step)]
    return Separation(*(np.concatenate(several, axis=-1) for several in zip(*parts, strict=True)))


def _separate(X: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Separation:
    known = ~np.isnan(X) & (weights > 0)[:, None]
    w = np.where(known, weights[:, None], 0.0)
    z = _centred(X, w, known)
    # Sums of squares between the clusters, and between each cluster and the rest; z has mean 0.
    sizes = np.array([w[labels == k].sum(axis=0) for k in range(n_clusters)])
    sums = np.array([(w * z)[labels == k].sum(axis=0) for k in range(n_clusters)])
    rest = np.array([sizes[np.arange(n_clusters) != k].sum(axis=0) for k in range(n_clusters)])
    inside = _per(sums**2, sizes)
    total = np.where(w.sum(axis=0) > FEW_CELLS, (w * z**2).sum(axis=0), 0.0)
    features = np.where((sizes > 0).sum(axis=0) > 1, np.minimum(_per(inside.sum(axis=0), total), 1.0), 0.0)
    both = (sizes > 0) & (rest > 0)
    clusters = np.where(both, np.minimum(_per(inside + _per(sums**2, rest), total), 1.0), 0.0)
    apart = np.abs(sums) > EQUAL_DIFFERENCE * sizes  # z is at most 1
    return Separation(features, clusters, np.where(apart, np.sign(sums), 0).astype(np.int32))


def _centred(X: FloatArray, w: FloatArray, known: BoolArray) -> FloatArray:
    """Subtract the means and divide by the largest deviation; 0 where nothing is known or all is equal."""
    values = np.where(known, X, 0.0)
    # Powers of 2 are exact, and nothing overflows. An offset must not cost digits.
    values = np.ldexp(values, -np.frexp(np.abs(values).max(axis=0, initial=0.0))[1])
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    values = np.where(known, values - np.where(np.isfinite(low), low, 0.0), 0.0)
    z = np.where(known, values - _per((w * values).sum(axis=0), w.sum(axis=0)), 0.0)
    varies = values.max(axis=0, initial=0.0) > 0
    return _per(z, np.where(varies, np.abs(z).max(axis=0, initial=0.0), 0.0))


def _per(a: Any, b: FloatArray) -> FloatArray:
    """Divide a by b; 0 where b is 0."""
    ratio: FloatArray = np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), b.shape)), where=b > 0)
    return ratio


def check_cells(X: Any) -> FloatArray:
    """Check that X holds numbers; NaN is allowed."""
    table: FloatArray = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")
    return table


# Do the clusters only repeat one feature?

MAX_REPEATED_VALUES = 50
ROWS_PER_VALUE = 3  # at least: where each row has its own value, that value is no category
REPEATED_INDEX = 0.9  # adjusted Rand index from which a feature counts as repeated


def dominant_features(table: EncodedTable, labels: IntArray, weights: FloatArray | None) -> dict[int, float]:
    """Find the features of few values that agree with the clusters, and their adjusted Rand indices.

    `labels` are the clusters of the first rows of the table. The only feature of a table is not repeated: nothing else
    could be found.
    """
    if labels.max(initial=0) == 0 or len(table.widths) == 1:
        return {}
    weights = np.ones(len(labels)) if weights is None else weights[: len(labels)]
    whole = bool((weights == np.rint(weights)).all())  # then a weight is so many equal rows
    most = min(MAX_REPEATED_VALUES, int(weights.sum() if whole else (weights > 0).sum()) // ROWS_PER_VALUE)
    found = {}
    for feature in _with_few_values(table, len(labels), most):
        columns = table.values[: len(labels), table.first[feature] : table.first[feature] + table.widths[feature]]
        values = columns[:, 0] if columns.shape[1] == 1 else columns.argmax(axis=1)
        index = adjusted_rand(labels, np.unique(values, return_inverse=True)[1], weights, replacement=True)
        if index >= REPEATED_INDEX:
            found[int(feature)] = float(index)
    return found


def _with_few_values(table: EncodedTable, rows: int, most: int) -> IndexArray:
    """Find the features that have from two to so many values."""
    count = table.widths.astype(np.intp)
    single = np.flatnonzero(table.widths == 1)
    at_once = max(1, SEPARATED_CELLS // max(1, rows))
    for start in range(0, len(single), at_once):
        some = single[start : start + at_once]
        count[some] = count_values(table.values[:rows, table.first[some]])
    return np.flatnonzero((count > 1) & (count <= most))
