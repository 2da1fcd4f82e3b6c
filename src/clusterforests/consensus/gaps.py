"""Cut where there are gaps, whatever the shape of the clusters.

Partitions into many small clusters hardly ever put rows on two sides of a gap together, and rows inside a cluster are
linked through their neighbours, however long the way. So the finest partitions alone make the graph; a little of all
the others' shares joins its pieces where they are more than the clusters asked for.
"""

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.portable_math import expm1
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import Graph, Signatures, check_pairs, coassociate
from clusterforests.consensus.eigenvectors import spectral_embedding
from clusterforests.consensus.normalized_cut import kmeans_groups
from clusterforests.consensus.settings import LIMITS, GraphLimits

FINEST = 0.3  # of the partitions
SCALE = 10.0
JOINED = 0.1
CLEAN = 0.01  # most of a cluster's links that may lead out of it
SMALLEST = 0.1  # of an even share: gaps around less are gaps around outliers


def cut_at_gaps(backend: Backend, signatures: Signatures, n_clusters: int) -> IntArray:
    """Cut the graph of the finest partitions into groups."""
    embedded = spectral_embedding(gap_graph(backend, signatures), n_clusters)
    return kmeans_groups(backend, embedded, signatures.weights, n_clusters)


def gap_graph(backend: Backend, signatures: Signatures, limits: GraphLimits = LIMITS) -> Graph:
    """Make the graph of the finest partitions, joined by a little of all."""
    check_pairs(signatures)
    W = expm1(SCALE * fine_shares(backend, signatures))
    W += JOINED * coassociate(backend, signatures.labels, signatures.labels)
    return Graph(backend, W, signatures.weights, limits)


def leak(backend: Backend, signatures: Signatures, groups: IntArray) -> float:
    """Compute the mean share of a group's links, in the finest partitions, that lead out of it.

    Infinite if a group is small.
    """
    sizes = np.bincount(groups, signatures.weights)
    if sizes.min() < SMALLEST * sizes.mean():
        return np.inf
    P = fine_shares(backend, signatures)
    member = np.zeros((len(sizes), len(groups)))
    member[groups, np.arange(len(groups))] = signatures.weights[np.arange(len(groups))]
    to_groups = backend.multiply(P, member)
    own = np.bincount(groups, signatures.weights * to_groups[groups, np.arange(len(groups))])
    every = np.bincount(groups, signatures.weights * to_groups.sum(axis=0))
    return float(1 - (own / every).mean())


def fine_shares(backend: Backend, signatures: Signatures) -> FloatArray:
    """Compute P of the partitions with the most clusters."""
    labels = np.ascontiguousarray(signatures.labels[_finest(signatures.labels)])
    P = coassociate(backend, labels, labels)
    np.fill_diagonal(P, 1.0)
    return P


def _finest(labels: IntArray) -> IndexArray:
    """Choose the partitions with the most clusters, ascending."""
    count = max(1, round(FINEST * len(labels)))
    return np.sort(np.argsort(-labels.max(axis=1), kind="stable")[:count])
