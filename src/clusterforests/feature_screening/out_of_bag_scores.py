"""Score every feature by clusterings that did not use it, and test the score against an exact null.

If a feature has nothing to do with a clustering, its values are a random direction among the n rows as far as the
clusters are concerned. The share of its variance that lies between c clusters then has the mean (c - 1) / (n - 1), and
the sum of such shares over several clusterings has a variance that depends on nothing but how much these overlap.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests.feature_screening.probe_clusterings import SearchedRows
from clusterforests.table.feature_columns import FeatureColumns
from clusterforests.table.wide_scaling import share_variance

SUMS_AT_ONCE = 2**22  # of features by cluster
LEAST = 1e-300


class HonestScores(NamedTuple):
    """Of each feature: how much of its variance lies between clusters that it did not make, and the p-value."""

    scores: FloatArray  # the mean share above that of permuted rows, from 0 to 1
    p_values: FloatArray  # 1 where every clustering used the feature


def score_features(rows: SearchedRows, views: FeatureColumns, labels: IntArray, used: BoolArray) -> HonestScores:
    """Score the features of a table.

    Parameters
    ----------
    rows : SearchedRows
        The table, of which each feature is one or more columns, in the first view.
    views : FeatureColumns
        Which columns.
    labels : array of shape (T, n)
        Clusterings of the rows.
    used : array of shape (T, p)
        Which features each of them used.
    """
    members = _members(labels)
    first, sizes = members.first, members.sizes
    freedom = max(1, len(rows) - 1)
    ranks = np.add.reduceat((sizes > 0).astype(np.float64), first) - 1
    overlap = _overlap(members, labels)
    scores, p_values = np.zeros(len(views.widths)), np.ones(len(views.widths))
    at_once = max(1, SUMS_AT_ONCE // len(sizes))
    for start in range(0, len(scores), at_once):
        features = np.arange(start, min(start + at_once, len(scores)), dtype=np.int32)
        without = (~used[:, features]).astype(np.float64)
        shares = _between(rows, views, features, members)
        count = without.sum(axis=0)
        rank, square = (without * ranks[:, None]).sum(axis=0), (without * (overlap @ without)).sum(axis=0)
        null_mean = rank / freedom
        null_variance = 2.0 * (square / freedom - null_mean**2) / (freedom + 2)
        total = (without * shares).sum(axis=0)
        scores[features] = np.maximum(total - null_mean, 0.0) / np.maximum(count, 1.0)
        p_values[features] = np.where(count > 0, _tail(total, null_mean, null_variance), 1.0)
    return HonestScores(scores, p_values)


def significant(p_values: FloatArray, level: float) -> BoolArray:
    """Choose features so that at most the share `level` of them is there by chance (Benjamini and Hochberg)."""
    order = np.argsort(p_values, kind="stable")
    below = np.flatnonzero(p_values[order] <= level * np.arange(1, len(order) + 1) / len(order))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: below[-1] + 1 if len(below) else 0]] = True
    return chosen


class _Members(NamedTuple):
    """The clusters of all clusterings side by side."""

    labels: IntArray  # (T, n)
    sizes: FloatArray
    first: IndexArray  # the first cluster of each clustering


def _members(labels: IntArray) -> _Members:
    counts = labels.max(axis=1).astype(np.intp) + 1
    first = np.cumsum(counts) - counts
    sizes = np.bincount((first[:, None] + labels).ravel(), minlength=int(counts.sum())).astype(np.float64)
    return _Members(np.ascontiguousarray(labels, dtype=np.int32), sizes, first)


def _overlap(members: _Members, labels: IntArray) -> FloatArray:
    """Compute <A_t, A_s> - 1, where A_t is the projection on the indicators of clustering t."""
    size, every = np.maximum(members.sizes, 1.0), len(members.sizes)
    ends = np.append(members.first[1:], every)
    places = members.first[:, None] + labels  # of each row's clusters among all
    overlap = np.empty((len(labels), len(labels)))
    for t, (start, end) in enumerate(zip(members.first, ends, strict=True)):
        pairs = np.bincount((labels[t].astype(np.int64) * every + places).ravel(), minlength=(end - start) * every)
        common = np.square(pairs.reshape(-1, every).astype(np.float64)) / size[start:end, None] / size[None, :]
        overlap[t] = np.add.reduceat(np.add.reduceat(common, [0], axis=0)[0], members.first) - 1.0
    return overlap


def _between(rows: SearchedRows, views: FeatureColumns, features: IntArray, members: _Members) -> FloatArray:
    """Compute the share of each feature's variance between the clusters of each clustering: (T, features)."""
    columns = views.columns(0, features)
    ends = np.append(members.first, len(members.sizes))
    between, total, scale = share_variance(rows.take(columns), members.labels, ends, members.sizes, rows.threads)
    if len(columns) > len(features):  # the levels of a category count by their variance
        ends = np.cumsum(views.widths[features])
        starts, weight = ends - views.widths[features], np.square(scale / scale.max(initial=LEAST))
        between, total = np.add.reduceat(between * weight, starts, axis=1), np.add.reduceat(total * weight, starts)
    shares: FloatArray = np.divide(between, total, out=np.zeros_like(between), where=total > 0)
    return shares


def _tail(total: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Compute the probability of a sum of shares at least as large: a gamma distribution with these moments."""
    mean, variance = np.maximum(mean, LEAST), np.maximum(variance, LEAST)
    tail: FloatArray = gammaincc(mean**2 / variance, np.maximum(total, 0.0) * mean / variance)
    return tail
