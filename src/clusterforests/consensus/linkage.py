"""Agglomerative consensus: linkage of weighted nodes on 1 - P."""

from collections.abc import Callable

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, IntArray

Merges = list[tuple[float, int, int]]  # (height, kept, absorbed)
Join = Callable[[FloatArray, FloatArray, float, float], FloatArray]

SMALLEST = 0.1  # of an even share of the rows: a smaller group is not a cluster of its own


def mean_distance(a: FloatArray, b: FloatArray, weight_a: float, weight_b: float) -> FloatArray:
    """Average linkage: the distances of two joined groups from the others are the mean over their rows."""
    joined: FloatArray = (weight_a * a + weight_b * b) / (weight_a + weight_b)
    return joined


def linkage_labels(P: FloatArray, weights: FloatArray, n_clusters: int, join: Join = mean_distance) -> IntArray:
    """Merge the nearest groups until n_clusters are left; labels by size, largest first.

    `weights` are rows per entry: w equal rows merge at distance 0 first.
    """
    merges = merge_all(1.0 - P, weights.copy(), join)
    return by_size(_groups(merges, len(weights), n_clusters), weights)


def trimmed_labels(P: FloatArray, weights: FloatArray, n_clusters: int) -> IntArray:
    """Group by average linkage without clusters of outliers; labels by size, largest first.

    The hierarchy is cut where n_clusters groups first have SMALLEST of an even share of the rows each; the rows of
    smaller groups then go where their mean P is highest. If there is no such cut, it is that of `linkage_labels`.
    """
    n = len(weights)
    merges = merge_all(1.0 - P, weights.copy())
    least = SMALLEST * weights.sum() / n_clusters
    pieces = _first_cut(merges, weights, n_clusters, least)
    if pieces is None or pieces == n_clusters:
        return by_size(_groups(merges, n, n_clusters), weights)
    # The n_clusters largest pieces are the clusters.
    labels = by_size(_groups(merges, n, pieces), weights)
    group_weights = np.zeros((n, n_clusters))
    core = labels < n_clusters
    group_weights[core, labels[core]] = weights[core]
    # The rows of the others go where their mean P is highest. It is often equal for two clusters, so it is summed
    # in a fixed order, unlike products of BLAS.
    means = [(P[~core] * share).sum(axis=1) for share in (group_weights / group_weights.sum(axis=0)).T]
    labels[~core] = np.argmax(means, axis=0)
    return by_size(labels, weights)


def _first_cut(merges: Merges, weights: FloatArray, n_clusters: int, least: float) -> int | None:
    """Find the lowest number of pieces, from n_clusters on, of which n_clusters weigh at least `least`."""
    size, parent = weights.copy(), np.arange(len(weights))
    large = int((size >= least).sum())
    found = None
    for done, (_, kept, absorbed) in enumerate(merges):
        pieces = len(weights) - done
        if large >= n_clusters:
            found = pieces
        if pieces == n_clusters:
            break
        a, b = _root(parent, kept), _root(parent, absorbed)
        parent[b] = a
        large -= int(size[a] >= least) + int(size[b] >= least)
        size[a] += size[b]
        large += int(size[a] >= least)
    return found


def _groups(merges: Merges, n: int, n_groups: int) -> IndexArray:
    """Find the groups after the merges that leave n_groups of n, each named by one of its members."""
    parent = np.arange(n)
    for _, a, b in merges[: n - n_groups]:
        parent[_root(parent, b)] = _root(parent, a)
    return np.array([_root(parent, i) for i in range(n)])


def _root(parent: IndexArray, i: int) -> int:
    """Find the member that names the group of i, and shorten the way to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = int(parent[i])
    return i


def by_size(groups: AnyArray, weights: FloatArray | None = None) -> IntArray:
    """Renumber the groups from 0, heaviest first, on ties the one that comes first."""
    names, first, group = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(group, weights=weights)
    rank = np.empty(len(names), dtype=np.int32)
    rank[np.lexsort((first, -sizes))] = np.arange(len(names))
    return rank[group]


def merge_all(distance: FloatArray, weights: FloatArray, join: Join = mean_distance) -> Merges:
    """Find all n - 1 merges, lowest first. Overwrites its arguments.

    By nearest-neighbour chains (Murtagh 1983): where linkage is reducible, as average and single linkage are, merging
    reciprocal nearest neighbours in any order gives the same hierarchy.
    """
    n = len(weights)
    np.fill_diagonal(distance, np.inf)
    active = np.ones(n, dtype=bool)
    merges: Merges = []
    chain: list[int] = []
    while len(merges) < n - 1:
        if not chain:
            chain.append(int(np.flatnonzero(active)[0]))
        tip = chain[-1]
        nearest = int(np.argmin(distance[tip]))
        # On a tie the way back is preferred, or the chain would not end.
        if len(chain) > 1 and distance[tip, chain[-2]] <= distance[tip, nearest]:
            a, b = sorted((chain.pop(), chain.pop()))
            merges.append((float(distance[a, b]), a, b))
            joined = join(distance[a], distance[b], weights[a], weights[b])
            joined[a] = np.inf
            weights[a] += weights[b]
            active[b] = False
            distance[a], distance[:, a] = joined, joined
            distance[b], distance[:, b] = np.inf, np.inf
        else:
            chain.append(nearest)
    return sorted(merges, key=lambda merge: merge[0])  # Sorting is stable: ties stay as they were found.
