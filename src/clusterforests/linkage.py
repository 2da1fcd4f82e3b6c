"""Agglomerative consensus: average and single linkage on 1 - P, with weights."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

FloatArray = npt.NDArray[np.float64]


def linkage_labels(P: FloatArray, weights: FloatArray, n_clusters: int, method: str) -> npt.NDArray[np.int32]:
    """Merge the nearest groups until n_clusters are left; labels by size, largest first.

    Nearest-neighbour chains (Murtagh 1983): both linkages are reducible, so merging reciprocal nearest neighbours
    in any order gives the same hierarchy. `weights` are rows per entry: w equal rows merge at distance 0 first.
    """
    n = len(weights)
    merges = merge_all(1.0 - P, weights.copy(), method)
    merges.sort(key=lambda merge: merge[0])  # stable: ties in the order they were found
    parent = np.arange(n)
    for _, a, b in merges[: n - n_clusters]:
        parent[_root(parent, b)] = _root(parent, a)
    return by_size(np.array([_root(parent, i) for i in range(n)]), weights)


def threshold_labels(P: FloatArray, weights: FloatArray, threshold: float) -> npt.NDArray[np.int32]:
    """Single linkage up to a threshold: what hangs together by entries of P of at least that; largest group first."""
    return by_size(connected_components(csr_array(threshold <= P), directed=False)[1], weights)


def by_size(groups: npt.NDArray[Any], weights: FloatArray | None = None) -> npt.NDArray[np.int32]:
    """The groups renumbered from 0, heaviest first, on ties the one that comes first."""
    names, first, group = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(group, weights=weights)
    rank = np.empty(len(names), dtype=np.int32)
    rank[np.lexsort((first, -sizes))] = np.arange(len(names))
    return rank[group]


def merge_all(distance: FloatArray, weights: FloatArray, method: str) -> list[tuple[float, int, int]]:
    """All n - 1 merges as (height, kept, absorbed). Overwrites its arguments."""
    n = len(weights)
    np.fill_diagonal(distance, np.inf)
    active = np.ones(n, dtype=bool)
    merges: list[tuple[float, int, int]] = []
    chain: list[int] = []
    while len(merges) < n - 1:
        if not chain:
            chain.append(int(np.flatnonzero(active)[0]))
        tip = chain[-1]
        nearest = int(np.argmin(distance[tip]))
        # On a tie prefer the way back, or the chain would not end.
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


def _root(parent: npt.NDArray[np.intp], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = int(parent[i])
    return i
