"""How clusters split as their number grows, and which features drive each split."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from clusterforests._utils.arrays import AnyIntArray, FloatArray, IndexArray
from clusterforests.inspection.arguments import check_counts, check_labels, check_names
from clusterforests.inspection.separation import check_cells, separate
from clusterforests.table.feature_columns import NumberColumn

NUMBERS = range(2, 9)
MAX_SPLIT_FEATURES = 3
COMPARABLE_SHARE = 0.5  # features are named whose share is at least so much of the highest


class SplitFeature(NamedTuple):
    """A feature that drives a split."""

    feature: int
    level: Any  # of a category: the level whose frequency differs most; None for a number
    name: str
    share: float  # of the column's variance over the rows of the children, how much lies between the children


class Split(NamedTuple):
    """A cluster that becomes several as the number of clusters grows."""

    step: int  # it is a cluster of n_clusters[step]; the others are clusters of n_clusters[step + 1]
    parent: int
    children: tuple[int, ...]  # the clusters whose rows come mostly from the parent
    features: tuple[SplitFeature, ...]  # at most 3, the one that differs most first; none without X


@dataclass(frozen=True)
class ClusterTree:
    """The clusters of several numbers of clusters, and how they go over into each other.

    Attributes
    ----------
    n_clusters : tuple of int
        The numbers of clusters, ascending: one for each level.
    sizes : tuple of ndarray of shape (n_clusters[i],)
        Weight of each cluster: its number of rows, if rows have no weights.
    overlaps : tuple of ndarray of shape (n_clusters[i], n_clusters[i + 1])
        Weight of the rows that a cluster has in common with each cluster of the next level.
    splits : tuple of Split
        From the top down.
    """

    n_clusters: tuple[int, ...]
    sizes: tuple[FloatArray, ...]
    overlaps: tuple[FloatArray, ...]
    splits: tuple[Split, ...]


def cluster_tree(levels: Any, X: Any = None, *, names: Any = None, weights: Any = None) -> ClusterTree:
    """Find which clusters split from which as their number grows, and the features that drive each split.

    A cluster descends from the one of the level above that most of its rows come from. A split is driven by the
    features with the largest share of variance between the children: those whose means differ most, measured by the
    standard deviation within the children.

    Parameters
    ----------
    levels : array-like of shape (n_levels, n_samples)
        The labels of each level, in ascending order of their numbers of clusters, each numbered from 0 without a gap.
        A fitted forest has a method of this name, which cuts it into each number.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The table, to name the features of each split: numbers, where NaN is a missing cell.
    names : sequence of str or None, default=None
        Names of the features; None numbers them.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts.

    Returns
    -------
    tree : ClusterTree

    Examples
    --------
    >>> from clusterforests.inspection import cluster_tree
    >>> tree = cluster_tree([[0, 0, 0, 0, 1, 1], [0, 0, 2, 2, 1, 1]], [[1], [1], [5], [5], [3], [3]], names=["size"])
    >>> tree.overlaps
    (array([[2., 0., 2.],
           [0., 2., 0.]]),)
    >>> tree.splits
    (Split(step=0, parent=0, children=(0, 2), features=(SplitFeature(feature=0, level=None, name='size', share=1.0),)),)
    """
    labels, weights = _check_levels(levels, weights)
    if X is None:
        return build_tree(labels, weights)
    values = check_cells(X)
    if len(values) != len(weights):
        raise ValueError(f"X has {len(values)} rows but there are labels of {len(weights)}. Pass their table.")
    columns = [NumberColumn(j, None) for j in range(values.shape[1])]
    return build_tree(labels, weights, values, columns, check_names(names, values.shape[1]))


def build_tree(
    labels: Sequence[IndexArray],
    weights: FloatArray,
    values: FloatArray | None = None,
    columns: Sequence[NumberColumn] = (),
    names: Sequence[str] = (),
) -> ClusterTree:
    """Do what `cluster_tree` does, with a table of numbers whose columns are known."""
    overlaps = tuple(shared_rows(a, b, weights) for a, b in pairwise(labels))
    splits = []
    for step, overlap in enumerate(overlaps):
        for parent, children in _families(overlap):
            features: tuple[SplitFeature, ...] = ()
            if values is not None:
                shares = _shares_between(values, labels[step + 1], children, weights)
                features = _driving(shares, columns, names)
            splits.append(Split(step, parent, children, features))
    return ClusterTree(
        n_clusters=tuple(int(found.max()) + 1 for found in labels),
        sizes=tuple(np.bincount(found, weights).astype(np.float64) for found in labels),
        overlaps=overlaps,
        splits=tuple(splits),
    )


def _check_levels(given: Any, weights: Any) -> tuple[list[IndexArray], FloatArray]:
    levels = list(given)
    if not levels:
        raise ValueError("levels is empty. Pass labels for at least one number of clusters.")
    n = np.size(levels[0])
    labels = [check_labels(found, n) for found in levels]
    numbers = [int(found.max()) + 1 for found in labels]
    if any(a >= b for a, b in pairwise(numbers)):
        raise ValueError(
            f"levels has labels of {', '.join(map(str, numbers))} clusters. Order them by their numbers of clusters, "
            "each of which may be there once."
        )
    return labels, np.ones(n) if weights is None else check_counts(weights, n)


def shared_rows(a: AnyIntArray, b: AnyIntArray, weights: FloatArray | None = None) -> FloatArray:
    """Sum the weights of the rows that each cluster of one clustering shares with each of another."""
    shape = int(a.max()) + 1, int(b.max()) + 1
    flat = np.bincount(a.astype(np.intp) * shape[1] + b, weights, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)


def follow(overlaps: Sequence[FloatArray], n_first: int) -> list[IndexArray]:
    """Number the colours of the clusters of each level, given how much clusters of consecutive levels share."""
    colors = [np.arange(n_first)]
    for overlap in overlaps:
        old, new = linear_sum_assignment(overlap, maximize=True)
        kept = overlap[old, new] > 0
        names = np.full(overlap.shape[1], -1)
        names[new[kept]] = colors[-1][old[kept]]
        fresh = np.setdiff1d(np.arange(len(names)), names)
        names[names < 0] = fresh[: int((names < 0).sum())]
        colors.append(names)
    return colors


def _families(overlap: FloatArray) -> list[tuple[int, tuple[int, ...]]]:
    """List the clusters from which several of the next level descend, and these."""
    parents = np.where(overlap.sum(axis=0) > 0, overlap.argmax(axis=0), -1)
    families = [(parent, np.flatnonzero(parents == parent)) for parent in range(len(overlap))]
    return [(parent, tuple(children.tolist())) for parent, children in families if len(children) > 1]


def _shares_between(
    values: FloatArray, labels: IndexArray, children: tuple[int, ...], weights: FloatArray
) -> FloatArray:
    """Compute the share of each column's variance that lies between the children, over their rows."""
    rows = np.flatnonzero(np.isin(labels, children))
    numbers = np.searchsorted(children, labels[rows])
    return separate(values[rows], numbers, weights[rows], len(children)).features


def _driving(shares: FloatArray, columns: Sequence[NumberColumn], names: Sequence[str]) -> tuple[SplitFeature, ...]:
    """Take the best columns, one of each feature, that are comparable with the very best."""
    found: list[SplitFeature] = []
    for j in np.argsort(-shares, kind="stable"):
        if shares[j] <= 0 or shares[j] < COMPARABLE_SHARE * shares.max() or len(found) == MAX_SPLIT_FEATURES:
            break
        column = columns[j]
        if all(column.feature != other.feature for other in found):
            found.append(SplitFeature(column.feature, column.level, column.title(names), float(shares[j])))
    return tuple(found)
