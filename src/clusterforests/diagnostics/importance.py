"""Which features a forest's clusters rest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from clusterforests._base.parameters import Rule, check_parameters, integer
from clusterforests._base.random import Purpose, permutations, stream
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.combining.consensus_function import consensus
from clusterforests.diagnostics.arguments import (
    SEED,
    Combine,
    check_members,
    labels_from,
)
from clusterforests.diagnostics.distribution import sample_rows
from clusterforests.diagnostics.separation import Separation, check_cells, join, separate, standardise

_ENOUGH = 0.1  # share of the trees that must do without a feature
_PAIRS = 10  # of fresh trees, on complementary halves of the features


@dataclass(frozen=True)
class FeatureImportance:
    """How far each feature tells apart the clusters that are found without it, and how much trees use it."""

    separation: Separation
    use: FloatArray  # share of the trees that have the feature
    use_excess: FloatArray  # over trees of the same sizes that choose at random, in standard deviations
    n_trees: IndexArray  # trees that clustered without the feature; 0 where too few could and fresh ones did
    n_rows: int  # rows looked at


def feature_importance(
    X: Any,
    labels: Any,
    partitions: Any,
    features: Sequence[npt.ArrayLike],
    *,
    combine: Combine | None = None,
    weights: Any = None,
    max_rows: int = 500,
    seed: int = 0,
) -> FeatureImportance:
    """Measure how far each feature tells apart the clusters that are found without it.

    Clusters differ in the features they were made from, noise or not. So each feature is held against clusters it had
    no part in: those that trees without it combine to. Shuffling the feature then changes nothing else, and
    `feature_separation` gives the null. Features that two thirds of the trees do without, all at once, share one such
    clustering. Where less than a tenth of the trees do without a feature, ten K-means clusterings of random halves of
    the other features, all standardised, take their place.

    What is found is agreement between features. Noise that depends on the features which the clusters rest on passes
    for one of them; a feature that shows the clusters alone, while no other does, is missed: its `use` can be high.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table that the forest was grown on. Numbers; NaN is a missing cell, which is left out.
    labels : array-like of shape (n_samples,)
        The clusters, numbered from 0 without a gap. They say how many to look for and what the new ones are called:
        old and new are matched one to one, as many rows as possible keeping their label.
    partitions : array-like of shape (n_partitions, n_samples)
        Labels of the rows in each tree. A negative label means "not clustered" there.
    features : sequence of array-like of int
        Features of each tree.
    combine : callable or None, default=None
        `combine(partitions, n_clusters)` returns one label for each row, best in the same way that `labels` were
        made. None means `clusterforests.consensus` with `threshold=0`.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts where features are compared; see `feature_separation`.
    max_rows : int, default=500
        Of more rows a random sample of this many is looked at, the same for the same `seed`: rows are combined anew for
        every feature.
    seed : int, default=0
        Determines the sample and the fresh trees.

    Returns
    -------
    importance : FeatureImportance
        With `separation` (a `Separation`), `use`, `use_excess`, `n_trees` and `n_rows`.
    """
    combine = partial(consensus, threshold=0.0) if combine is None else combine
    rules = {"combine": Rule(callable, "a function or None"), "max_rows": integer(4), "seed": SEED}
    check_parameters({"combine": combine, "max_rows": max_rows, "seed": seed}, rules)
    table = check_cells(X)
    members, old, counts = check_members(partitions, labels, weights)
    if members.shape[1] != len(table):
        raise ValueError(f"partitions has {members.shape[1]} columns but X has {len(table)} rows: it needs one each.")
    used = _used(features, len(members), table.shape[1])
    rows = sample_rows(len(table), max_rows, seed, counts)
    w = np.ones(len(rows)) if counts is None else counts[rows]
    table, members, old, n_clusters = table[rows], members[:, rows].astype(np.int32), old[rows], int(old.max()) + 1
    few = (~used).sum(axis=0) < _ENOUGH * len(used)
    fresh, fresh_used = _fresh_trees(table, n_clusters, seed) if few.any() else (members[:0], used[:0])
    parts, done, n_trees = [], [], np.zeros(table.shape[1], dtype=np.intp)
    for trees, their, chosen in ((members, used, ~few), (fresh, fresh_used, few)):
        for columns in _together(their, np.flatnonzero(chosen)):
            without = ~their[:, columns].any(axis=1)
            new = _clusters(combine, trees[without], old, n_clusters)
            parts.append(separate(table[:, columns], new, w, n_clusters))
            done.append(columns)
            n_trees[columns] = 0 if trees is fresh else without.sum()
    separation = join(parts, np.argsort(np.concatenate(done)))
    return FeatureImportance(separation, used.mean(axis=0), _use_excess(used), n_trees, len(rows))


def _used(features: Sequence[npt.ArrayLike], n_trees: int, n_features: int) -> BoolArray:
    """Mark which tree has which feature."""
    if len(features) != n_trees:
        raise ValueError(f"features has {len(features)} entries but partitions has {n_trees}: it needs one for each.")
    used = np.zeros((n_trees, n_features), dtype=bool)
    for tree, given in enumerate(features):
        names = np.asarray(given)
        if names.dtype.kind not in "iu" or names.min(initial=0) < 0 or names.max(initial=0) >= n_features:
            raise ValueError(f"features[{tree}] must hold integers from 0 to {n_features - 1}, columns of X.")
        used[tree, names] = True
    return used


def _use_excess(used: BoolArray) -> FloatArray:
    """Compare the use of features with trees of the same sizes that choose at random, in standard deviations."""
    chance = used.mean(axis=1)
    deviation = float(np.sqrt((chance * (1 - chance)).sum()))
    excess: FloatArray = used.sum(axis=0) - chance.sum()
    return excess / deviation if deviation > 0 else np.zeros(len(excess))


def _together(used: BoolArray, columns: IndexArray) -> list[list[int]]:
    """Put columns that two thirds of the trees do without into groups, the others alone: one clustering a group."""
    groups: list[list[int]] = []
    trees = np.ones(len(used), dtype=bool)
    for column in columns[np.argsort(used[:, columns].sum(axis=0), kind="stable")].tolist():
        more = trees | used[:, column]
        if groups and 3 * more.sum() <= len(used):
            groups[-1].append(column)
            trees = more
        else:
            groups.append([column])
            trees = used[:, column]
    return groups


def _clusters(combine: Combine, trees: IntArray, old: IndexArray, n_clusters: int) -> IndexArray:
    """Combine the trees and name the clusters after the old ones; -1 for rows that no tree clusters."""
    clustered = (trees >= 0).any(axis=0)
    apart = np.unique(trees[:, clustered], axis=1).shape[1] if clustered.any() else 0
    if min(apart, n_clusters) < 2:
        return np.where(clustered, 0, -1)
    new = labels_from(combine, trees, min(apart, n_clusters))
    if new.max() >= n_clusters:
        raise ValueError(f"combine returned {new.max() + 1} clusters where n_clusters={n_clusters} were asked for.")
    overlap = np.zeros((n_clusters, n_clusters))
    np.add.at(overlap, (new[clustered], old[clustered]), 1)
    names: IndexArray = linear_sum_assignment(overlap, maximize=True)[1]
    return np.where(clustered, names[new], -1)


def _fresh_trees(X: FloatArray, n_clusters: int, seed: int) -> tuple[IntArray, BoolArray]:
    """Cluster random halves of the standardised features by K-means, each beside its complement; mark who uses what."""
    orders = permutations(stream(seed, Purpose.HALF_FEATURES, np.arange(_PAIRS)), X.shape[1])
    middle = X.shape[1] // 2
    halves = [np.sort(half) for order in orders for half in (order[:middle], order[middle:]) if len(half)]
    backend = CpuBackend()
    backend.load(standardise(X))
    clusters = np.full(len(halves), n_clusters, dtype=np.int32)
    runs = backend.kmeans(
        KMeansJobs(halves, clusters, stream(seed, Purpose.FRESH_TREES, np.arange(len(halves))), 5, 100)
    )
    solved = np.flatnonzero(runs.solved).tolist()  # The others had fewer different rows than clusters.
    if not len(solved):
        return np.empty((0, len(X)), dtype=np.int32), np.empty((0, X.shape[1]), dtype=bool)
    trees = backend.assign([halves[i] for i in solved], [runs.centers[i] for i in solved])
    return trees, _used([halves[i] for i in solved], len(solved), X.shape[1])
