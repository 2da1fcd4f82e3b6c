"""Score every feature by clusterings that did not use it, and test the score against an exact null.

If a feature has nothing to do with a clustering, its values are a random direction among the n rows as far as the
clusters are concerned. The share of its variance that lies between c clusters then has the mean (c - 1) / (n - 1), and
the sum of such shares over several clusterings has a variance that depends on nothing but how much these overlap.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

from clusterforests import _core
from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests.feature_screening.screened_rows import ScreenedRows
from clusterforests.table.feature_columns import FeatureColumns

# Sums of squares, of features by cluster, that are at hand at a time.
SUMS_AT_ONCE = 2**22
# Moments below this would be divided by.
LEAST_MOMENT = 1e-300


class OutOfBagScores(NamedTuple):
    """Of each feature: how much of its variance lies between clusters that it did not make, and the p-value."""

    scores: FloatArray  # the mean share above that of permuted rows, from 0 to 1
    p_values: FloatArray  # 1 where every clustering used the feature


class _Clusterings(NamedTuple):
    """The clusters of all clusterings side by side."""

    labels: IntArray  # (T, n)
    sizes: FloatArray
    first: IndexArray  # the first cluster of each clustering

    @classmethod
    def of(cls, labels: IntArray) -> "_Clusterings":
        counts = labels.max(axis=1).astype(np.intp) + 1
        first = np.cumsum(counts) - counts
        sizes = np.bincount((first[:, None] + labels).ravel(), minlength=int(counts.sum())).astype(np.float64)
        return cls(np.ascontiguousarray(labels, dtype=np.int32), sizes, first)


def score_features(rows: ScreenedRows, views: FeatureColumns, labels: IntArray, used: BoolArray) -> OutOfBagScores:
    """Score the features of a table.

    Parameters
    ----------
    rows : ScreenedRows
        The table, of which each feature is one or more columns, in the first view.
    views : FeatureColumns
        Which columns.
    labels : array of shape (T, n)
        Clusterings of the rows.
    used : array of shape (T, p)
        Which features each of them used.
    """
    clusterings = _Clusterings.of(labels)
    sizes, first = clusterings.sizes, clusterings.first
    freedom = max(1, len(rows) - 1)
    ranks = np.add.reduceat((sizes > 0).astype(np.float64), first) - 1
    overlap = _overlap(clusterings)
    scores, p_values = np.zeros(len(views.widths)), np.ones(len(views.widths))
    at_once = max(1, SUMS_AT_ONCE // len(sizes))
    for start in range(0, len(scores), at_once):
        features = np.arange(start, min(start + at_once, len(scores)), dtype=np.int32)
        without = (~used[:, features]).astype(np.float64)
        count = without.sum(axis=0)
        # The sum of shares over the clusterings without the feature, and its moments if it is noise.
        total = (without * _shares(rows, views, features, clusterings)).sum(axis=0)
        rank, square = (without * ranks[:, None]).sum(axis=0), (without * (overlap @ without)).sum(axis=0)
        mean = rank / freedom
        variance = 2.0 * (square / freedom - mean**2) / (freedom + 2)
        # The tail is that of a gamma distribution with these moments.
        scores[features] = np.maximum(total - mean, 0.0) / np.maximum(count, 1.0)
        mean, variance = np.maximum(mean, LEAST_MOMENT), np.maximum(variance, LEAST_MOMENT)
        tail = gammaincc(mean**2 / variance, np.maximum(total, 0.0) * mean / variance)
        p_values[features] = np.where(count > 0, tail, 1.0)
    return OutOfBagScores(scores, p_values)


def significant(p_values: FloatArray, level: float) -> BoolArray:
    """Choose features so that at most the share `level` of them is there by chance (Benjamini and Hochberg)."""
    order = np.argsort(p_values, kind="stable")
    below = np.flatnonzero(p_values[order] <= level * np.arange(1, len(order) + 1) / len(order))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: below[-1] + 1 if len(below) else 0]] = True
    return chosen


def _overlap(clusterings: _Clusterings) -> FloatArray:
    """Compute <A_t, A_s> - 1, where A_t is the projection on the indicators of clustering t."""
    labels, sizes, first = clusterings
    size, every = np.maximum(sizes, 1.0), len(sizes)
    numbers = first[:, None] + labels
    overlap = np.empty((len(labels), len(labels)))
    for t, (start, end) in enumerate(zip(first, np.append(first[1:], every), strict=True)):
        pairs = np.bincount((labels[t].astype(np.int64) * every + numbers).ravel(), minlength=(end - start) * every)
        common = np.square(pairs.reshape(-1, every).astype(np.float64)) / size[start:end, None] / size[None, :]
        overlap[t] = np.add.reduceat(np.add.reduceat(common, [0], axis=0)[0], first) - 1.0
    return overlap


def _shares(rows: ScreenedRows, views: FeatureColumns, features: IntArray, clusterings: _Clusterings) -> FloatArray:
    """Compute the share of each feature's variance between the clusters of each clustering: (T, features)."""
    columns = views.columns(0, features)
    labels, sizes, first = clusterings
    ends = np.append(first, len(sizes))
    between, total, scale = _core.share_variance(rows.take(columns).T, labels, ends, sizes, rows.threads)
    # The levels of a category count by their variance.
    if len(columns) > len(features):
        ends = np.cumsum(views.widths[features])
        starts, weight = ends - views.widths[features], np.square(scale / scale.max(initial=LEAST_MOMENT))
        between, total = np.add.reduceat(between * weight, starts, axis=1), np.add.reduceat(total * weight, starts)
    shares: FloatArray = np.divide(between, total, out=np.zeros_like(between), where=total > 0)
    return shares
