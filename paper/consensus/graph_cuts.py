"""Cuts and linkages of the graph of shares, beside those of the library."""

from collections.abc import Callable
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Graph, affinity_scale_for, check_pairs, link_weights
from clusterforests.consensus.eigenvectors import ZERO, second_vector, spectral_embedding
from clusterforests.consensus.linkage import linkage_labels
from clusterforests.consensus.normalized_cut import MOST_CONDUCTANCE, conductance, cut_at_gaps, kmeans_groups
from paper.consensus.nodes import Signatures, labels_of, nodes_of, shares

Cutoff = Callable[[Graph, FloatArray], float]  # of a part of the graph and its eigenvector


def affinity_graph(nodes: Signatures) -> Graph:
    """Make the graph of W = exp(scale P) - 1 as a matrix, as the library does by default."""
    check_pairs(nodes)
    backend, scale = CpuBackend(), affinity_scale_for("auto", len(nodes.labels))
    return Graph(backend, link_weights(backend, nodes.labels, nodes.labels, "auto", scale), nodes.weights)


def ncut_lowest(partitions: Any, n_clusters: int) -> IntArray:
    """Recursive cuts, next the part whose cut has the lowest Ncut value."""
    nodes = nodes_of(partitions, n_clusters)
    graph = affinity_graph(nodes)
    return labels_of(nodes, recursive_groups(graph, n_clusters, lambda *_: 0.0, lowest=True))


def ncut_best(partitions: Any, n_clusters: int) -> IntArray:
    """Recursive cuts, where Ncut is lowest along the eigenvector (Shi and Malik 2000)."""
    nodes = nodes_of(partitions, n_clusters)
    return labels_of(nodes, recursive_groups(affinity_graph(nodes), n_clusters, best_cutoff))


def ncut_shifted(partitions: Any, n_clusters: int) -> IntArray:
    """Recursive cuts, at the cutoff that the paper's perturbation analysis suggests for unequal sizes."""
    nodes = nodes_of(partitions, n_clusters)
    return labels_of(nodes, recursive_groups(affinity_graph(nodes), n_clusters, shifted_cutoff))


def gaps_or_kway(partitions: Any, n_clusters: int) -> IntArray:
    """Cut at gaps between clusters where they are clean, otherwise into all parts at once."""
    nodes = nodes_of(partitions, n_clusters)
    groups = cut_at_gaps(CpuBackend(), nodes, n_clusters)
    if conductance(CpuBackend(), nodes, groups) > MOST_CONDUCTANCE:
        rows = spectral_embedding(affinity_graph(nodes), n_clusters)
        groups = kmeans_groups(CpuBackend(), rows, nodes.weights, n_clusters)
    return labels_of(nodes, groups)


def single_linkage(partitions: Any, n_clusters: int) -> IntArray:
    """Join the nearest rows until n_clusters groups are left (Fred and Jain 2002)."""
    nodes = nodes_of(partitions, n_clusters)
    return labels_of(nodes, linkage_labels(shares(nodes), nodes.weights, n_clusters, _least_distance))


def _least_distance(a: FloatArray, b: FloatArray, *_: float) -> FloatArray:
    return np.minimum(a, b)


# Recursive cuts whose order, or whose place along the eigenvector, is another than the library's.


def recursive_groups(graph: Graph, n_clusters: int, cutoff: Cutoff, *, lowest: bool = False) -> IntArray:
    """Split the largest part, or the one whose cut has the lowest Ncut, until there are n_clusters."""
    parts: list[IndexArray] = [np.arange(len(graph))]
    sizes = [float(graph.weights.sum())]
    cuts: dict[int, tuple[float, IndexArray]] = {}  # of the parts that were looked at: Ncut, and which nodes go right

    def look(i: int) -> None:
        if i not in cuts:
            part = graph if len(parts[i]) == len(graph) else graph.part(parts[i])
            vector = second_vector(part)
            right = vector >= cutoff(part, vector) - ZERO * np.abs(vector).max()
            cuts[i] = part.ncut(right), right

    open_parts = [0]
    for _ in range(n_clusters - 1):
        able = [i for i in open_parts if len(parts[i]) > 1]
        for i in able if lowest else []:
            look(i)
        chosen = min(able, key=lambda i: (cuts[i][0] if lowest else -sizes[i], i))
        look(chosen)
        open_parts.remove(chosen)
        right = cuts[chosen][1]
        for side in (~right, right):
            open_parts.append(len(parts))
            parts.append(parts[chosen][side])
            sizes.append(float(graph.weights[parts[-1]].sum()))
    groups = np.empty(len(graph), dtype=np.int32)
    for label, i in enumerate(sorted(open_parts, key=lambda i: (-sizes[i], i))):
        groups[parts[i]] = label
    return groups


def best_cutoff(part: Graph, vector: FloatArray) -> float:
    """Find the middle of the gap along the vector where Ncut is lowest."""
    order = np.argsort(vector, kind="stable")
    z, w = vector[order], part.weights[order]
    W = part.W[np.ix_(order, order)]
    volume = np.cumsum(w * part.degrees[order])
    # Pairs within the first i nodes: twice each node's links to those before it, and once that of its own.
    inside = np.cumsum(w * (2 * (np.tril(W, -1) @ w) + np.diag(W) * w))
    gaps = np.flatnonzero(np.diff(z) > 2 * ZERO * np.abs(z).max())
    crossing = (volume - inside)[gaps]
    ncut = crossing / volume[gaps] + crossing / (volume[-1] - volume[gaps])
    best = gaps[np.argmin(ncut)]
    return float((z[best] + z[best + 1]) / 2)


def shifted_cutoff(part: Graph, vector: FloatArray) -> float:
    """Find the place from which both clusters are equally many noise widths away (the proof of Theorem 2).

    With gamma = small / large, entries of the larger cluster scatter sqrt(gamma) times as far about their mean as
    those of the smaller one, so the cutoff is (mean_large + sqrt(gamma) mean_small) / (1 + sqrt(gamma)).
    """
    right = vector >= -ZERO * np.abs(vector).max()
    sizes = np.array([part.weights[~right].sum(), part.weights[right].sum()])
    means = np.array([np.average(vector[side], weights=part.weights[side]) for side in (~right, right)])
    small = int(np.argmin(sizes))
    root = np.sqrt(sizes[small] / sizes[1 - small])
    return float((means[1 - small] + root * means[small]) / (1 + root))
