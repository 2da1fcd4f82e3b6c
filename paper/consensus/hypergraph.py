"""Consensus by cutting the hypergraph whose edges are the clusters of all partitions.

CSPA and MCLA (Strehl and Ghosh 2002) and HBGF (Fern and Brodley 2004) were published with METIS, which keeps the parts
balanced. Here their graphs are cut by normalised cuts and spectral K-means instead, so no partitioner is needed and
parts may differ in size.
"""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import LIMITS, Graph, GraphLimits, Signatures, collapse
from clusterforests.consensus.eigenvectors import LOOK_EVERY, leading_vectors, span_is_known, start_vector
from clusterforests.consensus.normalized_cut import kmeans_groups, recursive_cut
from paper.consensus.nodes import best_nonempty_groups, incidence, labels_of, nodes_of, shares

NO_VALUE = 1e-12  # squared singular values below this are rounding


def cspa(partitions: Any, n_clusters: int) -> IntArray:
    """Cut the graph of the plain shares P: two rows are as similar as the partitions say."""
    nodes = nodes_of(partitions, n_clusters)
    graph = Graph(CpuBackend(), shares(nodes), nodes.weights)
    return labels_of(nodes, recursive_cut(graph, n_clusters).labels())


def hbgf(partitions: Any, n_clusters: int) -> IntArray:
    """Partition the graph that joins each row with its clusters, by K-means on singular vectors."""
    nodes = nodes_of(partitions, n_clusters)
    rows = bipartite_embedding(nodes, n_clusters)
    return labels_of(nodes, kmeans_groups(CpuBackend(), rows, nodes.weights, n_clusters))


def bipartite_embedding(signatures: Signatures, count: int, limits: GraphLimits = LIMITS) -> FloatArray:
    """Find the `count` leading left singular vectors of the normalised incidence matrix, rows scaled to length 1.

    There are fewer if its rank is lower: then they tell all signatures apart.
    """
    clusters = incidence(signatures.labels).rows
    of_row = clusters.sum(axis=1)
    of_cluster = signatures.weights @ clusters
    scaled = clusters.multiply(np.sqrt(signatures.weights / of_row)[:, None])
    normalised = scaled.multiply(1 / np.sqrt(of_cluster)[None, :]).tocsr()
    first = np.sqrt(signatures.weights * of_row)
    first /= np.linalg.norm(first)  # the known vector, with singular value 1
    rows = np.column_stack([first, _left_vectors(normalised, first, count - 1, limits)])
    unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _left_vectors(matrix: scipy.sparse.csr_array, first: FloatArray, count: int, limits: GraphLimits) -> FloatArray:
    """Find the leading left singular vectors beside the known one, by way of the shorter side's Gram matrix."""
    tall = matrix.shape[0] > matrix.shape[1]
    side, known = (matrix.T.tocsr(), matrix.T @ first) if tall else (matrix, first)
    count = min(count, side.shape[0] - 1)
    if count == 0:
        return np.empty((len(first), 0))
    values, vectors = _leading_of_gram(side, known, count, limits)
    found = values > NO_VALUE
    left: FloatArray = matrix @ vectors[:, found] / np.sqrt(values[found]) if tall else vectors[:, found]
    return left


def _leading_of_gram(
    side: scipy.sparse.csr_array, known: FloatArray, count: int, limits: GraphLimits
) -> tuple[FloatArray, FloatArray]:
    """Find the leading eigenvalues, ascending, and eigenvectors of side @ side.T beside the known one."""
    n = side.shape[0]
    if n > max(limits.dense_solver, 4 * count):
        other = side.T.tocsr()
        ritz, converged = leading_vectors(
            lambda rows: (side @ (other @ rows.T)).T,
            known,
            start_vector(n)[None, :],
            count,
            span_is_known(count),
            limits,
            LOOK_EVERY,
        )
        if converged:
            return ritz.values[count - 1 :: -1], ritz.vectors[::-1].T
    gram = (side @ side.T).toarray() - np.outer(known, known)
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=[n - count, n - 1])
    return values, vectors


def mcla(partitions: Any, n_clusters: int) -> IntArray:
    """Group the clusters, and let the groups compete for the rows.

    Clusters are grouped by the Jaccard similarity of their rows; a row goes to the group that has the largest share of
    its clusters around the row.
    """
    nodes = nodes_of(partitions, n_clusters)
    every = incidence(nodes.labels).rows
    check_memory(16 * every.shape[0] * every.shape[1], f"A table of {every.shape[1]} clusters", "Use fewer partitions.")
    kinds = collapse(every.toarray().astype(np.int32))  # Clusters with the same rows are kept once.
    if len(kinds) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {len(kinds)} different clusters in the partitions. Lower "
            "n_clusters, or choose another method."
        )
    clusters = scipy.sparse.csr_array(kinds.labels.astype(np.float64))
    graph = Graph(CpuBackend(), jaccard(clusters, nodes.weights), kinds.weights)
    groups = recursive_cut(graph, n_clusters).labels()  # Splitting the largest part comes nearest to balance.
    membership = np.zeros((len(kinds), n_clusters))
    membership[np.arange(len(kinds)), groups] = kinds.weights
    association: FloatArray = clusters @ (membership / membership.sum(axis=0))
    return labels_of(nodes, best_nonempty_groups(association, nodes.weights))


def jaccard(clusters: scipy.sparse.csr_array, weights: FloatArray) -> FloatArray:
    """Divide the rows in both clusters by the rows in either, for each pair of columns."""
    check_memory(
        3 * 8 * clusters.shape[1] ** 2,
        f"The similarity of {clusters.shape[1]} different clusters",
        "Use fewer partitions, or another method.",
    )
    weighted = clusters.multiply(weights[:, None]).tocsr()
    both = (clusters.T.tocsr() @ weighted).toarray()
    sizes = np.diag(both)
    similarity: FloatArray = both / (sizes[:, None] + sizes[None, :] - both)
    return similarity
