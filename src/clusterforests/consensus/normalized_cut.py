"""Recursive normalised cuts of the consensus graph (Algorithm 3, line 8)."""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.random import stream
from clusterforests.backends import Backend, CpuBackend, Effort, KMeansJobs
from clusterforests.consensus.affinity import Graph
from clusterforests.consensus.eigenvectors import ZERO, second_vector

ROWS = 128  # of W that are written out at a time


@dataclass
class CutNode:
    """A part of the graph. `left` and `right` are node ids, -1 for a part that is not split."""

    members: IndexArray
    size: float
    left: int = -1
    right: int = -1
    vector: FloatArray = field(default_factory=lambda: np.empty(0))
    degrees: FloatArray = field(default_factory=lambda: np.empty(0))  # within the part
    cutoff: float = 0.0
    ncut: float = np.inf
    label: int = -1


@dataclass(frozen=True)
class CutTree:
    """How the parts came about: node 0 is the whole graph; leaves carry the cluster labels."""

    nodes: list[CutNode]

    def labels(self) -> IntArray:
        """Give each node of the graph the label of its leaf."""
        labels = np.empty(len(self.nodes[0].members), dtype=np.int32)
        for node in self.nodes:
            if node.left < 0:
                labels[node.members] = node.label
        return labels


def recursive_cut(graph: Graph, n_clusters: int, rule: str) -> CutTree:
    """Split the graph until there are n_clusters parts.

    rule: "ncut" splits by the sign of the second eigenvector, always the largest part next; "ncut-lowest" the part
    whose cut has the lowest Ncut value; "ncut-best" cuts where Ncut is lowest along the vector; "ncut-shifted" at the
    cutoff that the paper's perturbation analysis suggests.
    """
    nodes = [CutNode(np.arange(len(graph.weights)), float(graph.weights.sum()))]
    for _ in range(n_clusters - 1):
        leaves = [i for i, node in enumerate(nodes) if node.left < 0 and len(node.members) > 1]
        if not leaves:
            found = sum(node.left < 0 for node in nodes)
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {found} groups of rows that the partitions tell apart. "
                "Lower n_clusters, or raise n_base_clusters or n_estimators."
            )
        if rule == "ncut-lowest":
            for i in leaves:
                _propose(graph, nodes[i], rule)
            chosen = min(leaves, key=lambda i: (nodes[i].ncut, i))
        else:
            chosen = min(leaves, key=lambda i: (-nodes[i].size, i))
        node = nodes[chosen]
        _propose(graph, node, rule)
        right = _on_right(node.vector, node.cutoff)
        node.left, node.right = len(nodes), len(nodes) + 1
        for side in (~right, right):
            members = node.members[side]
            nodes.append(CutNode(members, float(graph.weights[members].sum())))
    leaves = sorted((i for i, node in enumerate(nodes) if node.left < 0), key=lambda i: (-nodes[i].size, i))
    for label, i in enumerate(leaves):
        nodes[i].label = label
    return CutTree(nodes)


def _propose(graph: Graph, node: CutNode, rule: str) -> None:
    """Find where the node would be cut, unless that is known."""
    if len(node.vector):
        return
    if len(node.members) == len(graph.weights):
        part = graph
    else:
        graph.affinity.release()  # The room is for the part now.
        part = graph.part(node.members)
    node.vector = second_vector(part, signs_only=rule in ("ncut", "ncut-lowest"))
    node.degrees = part.degrees
    if rule == "ncut-best":
        node.cutoff = _best_cutoff(part, node.vector)
    elif rule == "ncut-shifted":
        node.cutoff = _shifted_cutoff(part, node.vector)
    node.ncut = part.ncut(_on_right(node.vector, node.cutoff))


def _on_right(vector: FloatArray, cutoff: float) -> BoolArray:
    """Say which entries go right; one that is on the cutoff up to rounding does."""
    right: BoolArray = vector >= cutoff - ZERO * np.abs(vector).max()
    return right


def _best_cutoff(part: Graph, vector: FloatArray, step: int = ROWS) -> float:
    """Find the middle of the gap along the vector where Ncut is lowest."""
    order = np.argsort(vector, kind="stable")
    z, w = vector[order], part.weights[order]
    volume = np.cumsum(w * part.degrees[order])
    inside = np.cumsum(w * _links_to_earlier(part, order, step))  # pairs within the first i nodes
    gaps = np.flatnonzero(np.diff(z) > 2 * ZERO * np.abs(z).max())
    crossing = (volume - inside)[gaps]
    ncut = crossing / volume[gaps] + crossing / (volume[-1] - volume[gaps])
    best = gaps[np.argmin(ncut)]
    return float((z[best] + z[best + 1]) / 2)


def _links_to_earlier(part: Graph, order: IndexArray, step: int = ROWS) -> FloatArray:
    """Sum twice the weight of each node's links to those before it in the order, and once that of its own."""
    w = part.weights[order]
    if part.affinity.is_matrix:
        W = part.W[np.ix_(order, order)]
        links: FloatArray = 2 * (np.tril(W, -1) @ w) + np.diag(W) * w
        return links
    links = np.empty(len(order))
    for start in range(0, len(order), step):
        some = slice(start, start + step)
        W = part.affinity.between(order[some], order[: some.stop])
        links[some] = 2 * (np.tril(W, start - 1) @ w[: some.stop]) + np.diag(W, start) * w[some]
    return links


def _shifted_cutoff(part: Graph, vector: FloatArray) -> float:
    """Find the place from which both clusters are equally many noise widths away (the proof of Theorem 2).

    With gamma = small / large, entries of the larger cluster scatter sqrt(gamma) times as far about their mean as
    those of the smaller one, so the cutoff is (mean_large + sqrt(gamma) mean_small) / (1 + sqrt(gamma)).
    """
    right = _on_right(vector, 0.0)
    sizes = np.array([part.weights[~right].sum(), part.weights[right].sum()])
    means = np.array([np.average(vector[side], weights=part.weights[side]) for side in (~right, right)])
    small = int(np.argmin(sizes))
    root = np.sqrt(sizes[small] / sizes[1 - small])
    return float((means[1 - small] + root * means[small]) / (1 + root))


# K-means on the rows of a spectral embedding.

STARTS = 20
MANY_CLUSTERS = 100  # beyond, random rows hardly ever start in every cluster: starts are spread out instead


def kmeans_groups(
    backend: Backend, rows: FloatArray, weights: FloatArray, n_clusters: int, starts: int = STARTS
) -> IntArray:
    """Cluster the rows of an embedding, on the CPU and beside the table that the back end holds."""
    side = CpuBackend(backend.threads)
    table = side.load(np.ascontiguousarray(rows), weights)
    if n_clusters > MANY_CLUSTERS and table.n_distinct >= n_clusters:
        groups = _spread_start(rows, weights, n_clusters)
        if len(np.unique(groups)) == n_clusters:
            return groups
    features = [np.arange(rows.shape[1], dtype=np.int32)]
    jobs = KMeansJobs(features, np.array([n_clusters], np.int32), stream(0), starts, 200, Effort.IMPROVED)
    runs = side.kmeans(jobs)
    if not runs.solved[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {table.n_distinct} different rows of the spectral "
            "embedding. Lower n_clusters."
        )
    labels: IntArray = side.assign(features, runs.centers)[0]
    return labels


def _spread_start(rows: FloatArray, weights: FloatArray, n_clusters: int) -> IntArray:
    """Run K-means once, from rows that are drawn far from each other (k-means++)."""
    with threadpool_limits(1):  # so that the last digit does not depend on the threads asked for
        found = KMeans(n_clusters, n_init=1, random_state=0).fit(rows, sample_weight=weights)
    groups: IntArray = found.labels_.astype(np.int32)
    return groups


# Groups by the highest score, none of them empty.


def best_nonempty_groups(scores: FloatArray, weights: FloatArray) -> IntArray:
    """Give each row the group with its highest score, the first on ties, but leave no group empty.

    Of all labellings without an empty group this one has the highest sum of weighted scores: each group claims one row
    and the others are free, so the cost of the claims is an assignment problem.
    """
    labels: IntArray = scores.argmax(axis=1).astype(np.int32)
    if len(np.unique(labels)) < scores.shape[1]:
        cost = weights[:, None] * (scores.max(axis=1, keepdims=True) - scores)
        claimed, groups = linear_sum_assignment(cost)
        labels[claimed] = groups
    return labels
