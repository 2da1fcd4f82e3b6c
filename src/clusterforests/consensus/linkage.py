"""Agglomerative consensus: average and single linkage on 1 - P, with weights."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, IntArray

Merges = list[tuple[float, int, int]]  # (height, kept, absorbed)

SMALLEST = 0.1  # of an even share of the rows: a smaller group is not a cluster of its own


def linkage_labels(P: FloatArray, weights: FloatArray, n_clusters: int, method: str) -> IntArray:
    """Merge the nearest groups until n_clusters are left; labels by size, largest first.

    Nearest-neighbour chains (Murtagh 1983): both linkages are reducible, so merging reciprocal nearest neighbours
    in any order gives the same hierarchy. `weights` are rows per entry: w equal rows merge at distance 0 first.
    """
    merges = _by_height(merge_all(1.0 - P, weights.copy(), method))
    return by_size(_groups(merges, len(weights), n_clusters), weights)


def trimmed_labels(P: FloatArray, weights: FloatArray, n_clusters: int) -> IntArray:
    """Group by average linkage without clusters of outliers; labels by size, largest first.

    The hierarchy is cut where n_clusters groups first have SMALLEST of an even share of the rows each; the rows of
    smaller groups then go where their mean P is highest. If there is no such cut, it is that of `linkage_labels`.
    """
    n = len(weights)
    merges = _by_height(merge_all(1.0 - P, weights.copy(), "average"))
    least = SMALLEST * weights.sum() / n_clusters
    pieces = _first_cut(merges, weights, n_clusters, least)
    if pieces is None or pieces == n_clusters:
        return by_size(_groups(merges, n, n_clusters), weights)
    labels = by_size(_groups(merges, n, pieces), weights)
    members = np.zeros((n, n_clusters))
    core = labels < n_clusters
    members[core, labels[core]] = weights[core]
    # Mean P is often equal for two clusters, so it is summed in a fixed order, unlike products of BLAS.
    means = [(P[~core] * share).sum(axis=1) for share in (members / members.sum(axis=0)).T]
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


def _by_height(merges: Merges) -> Merges:
    return sorted(merges, key=lambda merge: merge[0])  # Sorting is stable: ties stay as they were found.


def _groups(merges: Merges, n: int, n_groups: int) -> IndexArray:
    """Find the groups after the merges that leave n_groups of n, each named by one of its members."""
    parent = np.arange(n)
    for _, a, b in merges[: n - n_groups]:
        parent[_root(parent, b)] = _root(parent, a)
    return np.array([_root(parent, i) for i in range(n)])


def threshold_labels(P: FloatArray, weights: FloatArray, threshold: float) -> IntArray:
    """Group by single linkage up to a threshold: along entries of P of at least that; largest group first."""
    return by_size(connected_components(csr_array(threshold <= P), directed=False)[1], weights)


def by_size(groups: AnyArray, weights: FloatArray | None = None) -> IntArray:
    """Renumber the groups from 0, heaviest first, on ties the one that comes first."""
    names, first, group = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(group, weights=weights)
    rank = np.empty(len(names), dtype=np.int32)
    rank[np.lexsort((first, -sizes))] = np.arange(len(names))
    return rank[group]


def merge_all(distance: FloatArray, weights: FloatArray, method: str) -> Merges:
    """Find all n - 1 merges. Overwrites its arguments."""
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
            if method == "average":
                joined = (weights[a] * distance[a] + weights[b] * distance[b]) / (weights[a] + weights[b])
            else:
                joined = np.minimum(distance[a], distance[b])
            joined[a] = np.inf
            weights[a] += weights[b]
            active[b] = False
            distance[a], distance[:, a] = joined, joined
            distance[b], distance[:, b] = np.inf, np.inf
        else:
            chain.append(nearest)
    return merges


def _root(parent: IndexArray, i: int) -> int:
    """Find the member that names the group of i, and shorten the way to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = int(parent[i])
    return i
