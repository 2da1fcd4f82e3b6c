"""How far clusters differ in each feature, against what chance would do; and whether they only repeat one."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import betaincc
from sklearn.utils import check_array

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray, count_values
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.inspection.arguments import check_counts, check_labels
from clusterforests.table.feature_columns import EncodedTable

CELLS_AT_ONCE = 2**20
_EQUAL = 1e-12  # a smaller difference is rounding


@dataclass(frozen=True)
class EtaSquared:
    """Shares of variance between groups, and what they are if the feature's values are shuffled."""

    share: FloatArray  # eta squared, from 0 to 1
    expected: FloatArray  # its mean over all shuffles, exact
    deviation: FloatArray  # its standard deviation over all shuffles, exact
    excess: FloatArray  # (share - expected) / deviation
    p_value: FloatArray  # chance of a share at least as high, from the beta distribution with these two moments


@dataclass(frozen=True)
class Separation:
    """How far each feature tells all clusters apart, and each cluster from the rest."""

    features: EtaSquared  # each array of shape (n_features,)
    clusters: EtaSquared  # each array of shape (n_clusters, n_features)
    direction: IntArray  # (n_clusters, n_features): 1 if the cluster's mean is above that of all rows, -1 if below


def feature_separation(X: Any, labels: Any, weights: Any = None) -> Separation:
    """Compute the share of each feature's variance between clusters: all of them, and each against the rest.

    The null is a feature whose values are shuffled over the rows: mean and standard deviation are those over all
    shuffles, in closed form [1]_. Clusters that were found with the feature's help differ in it by construction, so
    the excess over this null is no proof that the feature has structure: see
    `ClusterForest.feature_pvalues_` for that.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; NaN is a missing cell, which is left out.
    labels : array-like of shape (n_samples,)
        Cluster of each row, numbered from 0 without a gap.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts. The null takes w for w rows: weights that are not counts make it wrong.

    Returns
    -------
    separation : Separation
        A feature that is constant, or has at most 3 cells, separates nothing: share, moments and excess are 0 and the
        p-value is 1.

    References
    ----------
    .. [1] F. Kazi-Aoual, S. Hitier, R. Sabatier, J.-D. Lebreton, "Refined approximations to permutation tests for
           multivariate inference", Computational Statistics & Data Analysis 20 (1995).

    Examples
    --------
    >>> from clusterforests.inspection import feature_separation
    >>> found = feature_separation([[0, 1], [1, 2], [0, 3], [9, 3], [8, 2], [9, 1]], [0, 0, 0, 1, 1, 1])
    >>> found.features.share.round(2), found.features.expected
    (array([0.99, 0.  ]), array([0.2, 0.2]))
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
    step = max(1, CELLS_AT_ONCE // len(X))
    parts = [_separate(X[:, j : j + step], labels, weights, n_clusters) for j in range(0, X.shape[1], step)]
    return Separation(
        _side_by_side([part.features for part in parts]),
        _side_by_side([part.clusters for part in parts]),
        np.concatenate([part.direction for part in parts], axis=-1),
    )


def _side_by_side(parts: list[EtaSquared]) -> EtaSquared:
    arrays = ([getattr(part, field.name) for part in parts] for field in fields(EtaSquared))
    return EtaSquared(*(np.concatenate(several, axis=-1) for several in arrays))


def _separate(X: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int) -> Separation:
    known = ~np.isnan(X) & (weights > 0)[:, None]
    w = np.where(known, weights[:, None], 0.0)
    z = _centred(X, w, known)
    sizes = np.array([w[labels == k].sum(axis=0) for k in range(n_clusters)])
    sums = np.array([(w * z)[labels == k].sum(axis=0) for k in range(n_clusters)])
    null = _Null(w.sum(axis=0), (w * z**2).sum(axis=0), (w * z**4).sum(axis=0))
    inside = _per(sums**2, sizes)
    features = null.compare(inside.sum(axis=0), (sizes > 0).sum(axis=0), _per(1.0, sizes).sum(axis=0))
    rest = np.array([sizes[np.arange(n_clusters) != k].sum(axis=0) for k in range(n_clusters)])
    groups = (sizes > 0).astype(np.intp) + (rest > 0)
    clusters = null.compare(inside + _per(sums**2, rest), groups, _per(1.0, sizes) + _per(1.0, rest))
    apart = np.abs(sums) > _EQUAL * sizes  # z is at most 1
    return Separation(features, clusters, np.where(apart, np.sign(sums), 0).astype(np.int32))


def _centred(X: FloatArray, w: FloatArray, known: BoolArray) -> FloatArray:
    """Subtract the means and divide by the largest deviation; 0 where nothing is known or all is equal."""
    values = np.where(known, X, 0.0)
    values = np.ldexp(
        values, -np.frexp(np.abs(values).max(axis=0, initial=0.0))[1]
    )  # This is exact, and nothing overflows.
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    values = np.where(known, values - np.where(np.isfinite(low), low, 0.0), 0.0)  # An offset must not cost digits.
    z = np.where(known, values - _per((w * values).sum(axis=0), w.sum(axis=0)), 0.0)
    varies = values.max(axis=0, initial=0.0) > 0
    return _per(z, np.where(varies, np.abs(z).max(axis=0, initial=0.0), 0.0))


def _per(a: Any, b: FloatArray) -> FloatArray:
    """Divide a by b; 0 where b is 0."""
    ratio: FloatArray = np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), b.shape)), where=b > 0)
    return ratio


class _Null:
    """The null: what the share between groups of given sizes is if features are shuffled over their cells."""

    def __init__(self, cells: FloatArray, second: FloatArray, fourth: FloatArray) -> None:
        self.cells, self.total = cells, second
        self.tailed = _per(fourth, second**2)

    def compare(self, between: FloatArray, groups: IndexArray, inverse_sizes: FloatArray) -> EtaSquared:
        """Compare with the moments under permutation, after Kazi-Aoual et al. for a projection and one feature."""
        usable = (self.total > 0) & (self.cells > 3) & (groups > 1)
        n = np.where(usable, self.cells, 4.0)
        m = groups - 1.0  # trace of the projection, and of its square
        diagonal = inverse_sizes - (2 * m + 1) / n  # sum of squares of its diagonal
        expected = m / (n - 1)
        variance = 2 * m * (n - 1 - m) / ((n - 1) ** 2 * (n + 1))
        variance += (
            (n * (n + 1) * diagonal - (n - 1) * m * (m + 2))
            * (n * (n + 1) * self.tailed - 3 * (n - 1))
            / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        )
        certain = ~usable | (variance <= _EQUAL * expected**2)
        expected, variance = np.where(usable, expected, 0.0), np.where(certain, 0.0, variance)
        share = np.where(usable, np.minimum(_per(between, self.total), 1.0), 0.0)
        deviation = np.sqrt(variance)
        spread = np.maximum(_per(expected * (1 - expected), variance) - 1, _EQUAL)
        chance = betaincc(
            np.where(certain, 1.0, expected * spread), np.where(certain, 1.0, (1 - expected) * spread), share
        )
        return EtaSquared(share, expected, deviation, _per(share - expected, deviation), np.where(certain, 1.0, chance))


def check_cells(X: Any) -> FloatArray:
    """Check that X holds numbers; NaN is allowed."""
    table: FloatArray = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")
    return table


# Do the clusters only repeat one feature?

MOST_VALUES = 50
ROWS_PER_VALUE = 3  # at least: where each row has its own value, that value is no category
SAME = 0.9  # adjusted Rand index from which a feature counts as repeated


def dominant_features(table: EncodedTable, labels: IntArray, weights: FloatArray | None) -> dict[int, float]:
    """Find the features of few values that agree with the clusters, and their adjusted Rand indices.

    `labels` are the clusters of the first rows of the table. The only feature of a table is not repeated: nothing else
    could be found.
    """
    if labels.max(initial=0) == 0 or len(table.widths) == 1:
        return {}
    mass = np.ones(len(labels)) if weights is None else weights[: len(labels)]
    whole = bool((mass == np.rint(mass)).all())  # then a weight is so many equal rows
    most = min(MOST_VALUES, int(mass.sum() if whole else (mass > 0).sum()) // ROWS_PER_VALUE)
    found = {}
    for feature in _with_few_values(table, len(labels), most):
        columns = table.values[: len(labels), table.first[feature] : table.first[feature] + table.widths[feature]]
        values = columns[:, 0] if columns.shape[1] == 1 else columns.argmax(axis=1)
        index = adjusted_rand(labels, np.unique(values, return_inverse=True)[1], mass, replacement=True)
        if index >= SAME:
            found[int(feature)] = float(index)
    return found


def _with_few_values(table: EncodedTable, rows: int, most: int) -> IndexArray:
    """Find the features that have from two to so many values."""
    count = table.widths.astype(np.intp)
    single = np.flatnonzero(table.widths == 1)
    at_once = max(1, CELLS_AT_ONCE // max(1, rows))
    for start in range(0, len(single), at_once):
        some = single[start : start + at_once]
        count[some] = count_values(table.values[:rows, table.first[some]])
    return np.flatnonzero((count > 1) & (count <= most))
