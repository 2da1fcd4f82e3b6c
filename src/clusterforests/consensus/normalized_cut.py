"""Normalised cuts of a graph of rows: again and again, into all parts at once, and where there are gaps."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.portable_math import expm1
from clusterforests._utils.random import stream
from clusterforests.backends import Backend, CpuBackend, Effort, KMeansJobs
from clusterforests.consensus.affinity import LIMITS, Graph, GraphLimits, Signatures, check_pairs, coassociate
from clusterforests.consensus.eigenvectors import ZERO, second_vector, spectral_embedding

# Recursive cuts: the paper's.


@dataclass
class CutNode:
    """A part of the graph. `left` and `right` are node ids, -1 for a part that is not split."""

    members: IndexArray
    size: float
    left: int = -1
    right: int = -1
    vector: FloatArray = field(default_factory=lambda: np.empty(0))
    degrees: FloatArray = field(default_factory=lambda: np.empty(0))  # within the part
    ncut: float = np.inf
    label: int = -1

    @property
    def cutoff(self) -> float:
        """Entries of the vector from here on go right: those of 0, up to rounding, included."""
        return float(-ZERO * np.abs(self.vector).max())


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


def recursive_cut(graph: Graph, n_clusters: int) -> CutTree:
    """Split the largest part by the sign of its second eigenvector, until there are n_clusters parts."""
    nodes = [CutNode(np.arange(len(graph.weights)), float(graph.weights.sum()))]
    for _ in range(n_clusters - 1):
        leaves = [i for i, node in enumerate(nodes) if node.left < 0 and len(node.members) > 1]
        if not leaves:
            found = sum(node.left < 0 for node in nodes)
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {found} groups of rows that the partitions tell apart. "
                "Lower n_clusters, or raise n_base_clusters or n_estimators."
            )
        node = nodes[min(leaves, key=lambda i: (-nodes[i].size, i))]
        part = graph
        if len(node.members) < len(graph.weights):
            graph.affinity.release()  # The room is for the part now.
            part = graph.part(node.members)
        node.vector, node.degrees = second_vector(part, signs_only=True), part.degrees
        right = node.vector >= node.cutoff
        node.ncut = part.ncut(right)
        node.left, node.right = len(nodes), len(nodes) + 1
        for side in (~right, right):
            members = node.members[side]
            nodes.append(CutNode(members, float(graph.weights[members].sum())))
    # Clusters are named by size, largest first.
    leaves = sorted((i for i, node in enumerate(nodes) if node.left < 0), key=lambda i: (-nodes[i].size, i))
    for label, i in enumerate(leaves):
        nodes[i].label = label
    return CutTree(nodes)


# Cuts into all parts at once: K-means on the rows of a spectral embedding.

STARTS = 20
MANY_CLUSTERS = 100  # beyond, random rows hardly ever start in every cluster: starts are spread out instead


def kmeans_groups(
    backend: Backend, rows: FloatArray, weights: FloatArray, n_clusters: int, starts: int = STARTS
) -> IntArray:
    """Cluster the rows of an embedding, on the CPU and beside the table that the back end holds."""
    side = CpuBackend(backend.threads)
    table = side.load(np.ascontiguousarray(rows), weights)
    if n_clusters > MANY_CLUSTERS and table.n_distinct >= n_clusters:
        # One start is enough where its rows are drawn far from each other (k-means++).
        with threadpool_limits(1):  # so that the last digit does not depend on the threads asked for
            found = KMeans(n_clusters, n_init=1, random_state=0).fit(rows, sample_weight=weights)
        if len(np.unique(found.labels_)) == n_clusters:
            groups: IntArray = found.labels_.astype(np.int32)
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


# Cuts where there are gaps, whatever the shape of the clusters.
#
# Partitions into many small clusters hardly ever put rows on two sides of a gap together, and rows inside a cluster are
# linked through their neighbours, however long the way. So the finest partitions alone make the graph; a little of all
# the others' shares joins its pieces where they are more than the clusters that are wanted.

FINEST = 0.3  # of the partitions
SCALE = 10.0
BACKGROUND_WEIGHT = 0.1
MOST_CONDUCTANCE = 0.01  # most of a cluster's links that may lead out of it
SMALLEST = 0.1  # of an even share: gaps around less are gaps around outliers


def cut_at_gaps(backend: Backend, signatures: Signatures, n_clusters: int) -> IntArray:
    """Cut the graph of the finest partitions into groups."""
    embedded = spectral_embedding(gap_graph(backend, signatures), n_clusters)
    return kmeans_groups(backend, embedded, signatures.weights, n_clusters)


def gap_graph(backend: Backend, signatures: Signatures, limits: GraphLimits = LIMITS) -> Graph:
    """Make the graph of the finest partitions, joined by a little of all."""
    check_pairs(signatures)
    W = expm1(SCALE * fine_shares(backend, signatures))
    W += BACKGROUND_WEIGHT * coassociate(backend, signatures.labels, signatures.labels)
    return Graph(backend, W, signatures.weights, limits)


def conductance(backend: Backend, signatures: Signatures, groups: IntArray) -> float:
    """Compute the mean share of a group's links, in the finest partitions, that lead out of it.

    Infinite if a group is small.
    """
    nodes = np.arange(len(groups))
    sizes = np.bincount(groups, signatures.weights)
    if sizes.min() < SMALLEST * sizes.mean():
        return np.inf
    P = fine_shares(backend, signatures)
    group_weights = np.zeros((len(sizes), len(groups)))
    group_weights[groups, nodes] = signatures.weights
    to_groups = backend.multiply(P, group_weights)
    own = np.bincount(groups, signatures.weights * to_groups[groups, nodes])
    every = np.bincount(groups, signatures.weights * to_groups.sum(axis=0))
    return float(1 - (own / every).mean())


def fine_shares(backend: Backend, signatures: Signatures) -> FloatArray:
    """Compute P of the partitions with the most clusters."""
    count = max(1, round(FINEST * len(signatures.labels)))
    finest = np.sort(np.argsort(-signatures.labels.max(axis=1), kind="stable")[:count])
    labels = np.ascontiguousarray(signatures.labels[finest])
    P = coassociate(backend, labels, labels)
    np.fill_diagonal(P, 1.0)
    return P
