"""Consensus by cutting the hypergraph whose edges are the clusters of all partitions.

CSPA and MCLA (Strehl and Ghosh 2002) and HBGF (Fern and Brodley 2004) were published with METIS, which keeps the parts
balanced. Here their graphs are cut by normalised cuts and spectral K-means instead, so no partitioner is needed and
parts may differ in size.
"""

import contextlib

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.random import stream, uniform
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import Signatures, coassociate, collapse
from clusterforests.combining.grouping import best_groups, incidence, kmeans_groups
from clusterforests.combining.normalized_cut import DENSE, Graph, cut

NO_VALUE = 1e-12  # squared singular values below it are rounding


def cspa(backend: Backend, signatures: Signatures, n_clusters: int) -> IntArray:
    """Normalised cuts of the co-association as it is: two rows are as similar as the partitions say."""
    P = coassociate(backend, signatures.labels, signatures.labels)
    return cut(Graph(backend, P, signatures.weights), n_clusters, "ncut").labels()


def hbgf(backend: Backend, signatures: Signatures, n_clusters: int) -> IntArray:
    """Spectral partition of the graph that joins each row with its clusters."""
    rows = bipartite_embedding(signatures, n_clusters)
    return kmeans_groups(backend, rows, signatures.weights, n_clusters)


def bipartite_embedding(signatures: Signatures, count: int) -> FloatArray:
    """The `count` leading left singular vectors of the normalised incidence matrix, rows scaled to length 1.

    Fewer where its rank is lower: then the vectors that there are tell all signatures apart.
    """
    clusters = incidence(signatures.labels).rows
    of_row = clusters.sum(axis=1)
    of_cluster = signatures.weights @ clusters
    scaled = clusters.multiply(np.sqrt(signatures.weights / of_row)[:, None])
    normalised = scaled.multiply(1 / np.sqrt(of_cluster)[None, :]).tocsr()
    first = np.sqrt(signatures.weights * of_row)
    first /= np.linalg.norm(first)  # the singular value 1 and its vector are known
    rows = np.column_stack([first, _left_vectors(normalised, first, count - 1)])
    unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _left_vectors(matrix: scipy.sparse.csr_array, first: FloatArray, count: int) -> FloatArray:
    """Leading left singular vectors beside the known one, by way of the shorter side's Gram matrix."""
    tall = matrix.shape[0] > matrix.shape[1]
    side, known = (matrix.T.tocsr(), matrix.T @ first) if tall else (matrix, first)
    n = side.shape[0]
    count = min(count, n - 1)
    if count == 0:
        return np.empty((len(first), 0))
    values = None
    if n > max(DENSE, 4 * count):
        other = side.T.tocsr()
        operator = scipy.sparse.linalg.LinearOperator(
            (n, n), matvec=lambda v: side @ (other @ v) - known * (known @ v), dtype=np.float64
        )
        start = uniform(stream(0, np.arange(n))) - 0.5
        # Values too close for an iteration are left to the dense method.
        with contextlib.suppress(scipy.sparse.linalg.ArpackNoConvergence):
            values, vectors = scipy.sparse.linalg.eigsh(operator, k=count, which="LA", v0=start)
    if values is None:
        gram = (side @ side.T).toarray() - np.outer(known, known)
        values, vectors = scipy.linalg.eigh(gram, subset_by_index=[n - count, n - 1])
    found = values > NO_VALUE
    left: FloatArray = matrix @ vectors[:, found] / np.sqrt(values[found]) if tall else vectors[:, found]
    return left


def mcla(backend: Backend, signatures: Signatures, n_clusters: int) -> IntArray:
    """Clusters of clusters compete for the rows.

    Clusters are grouped by the Jaccard similarity of their rows; a row goes to the group of which it is in the largest
    share of clusters.
    """
    every = incidence(signatures.labels).rows
    check_memory(16 * every.shape[0] * every.shape[1], f"A table of {every.shape[1]} clusters", "Use fewer partitions.")
    kinds = collapse(every.toarray().astype(np.int32))  # clusters with the same rows are kept once, with a weight
    if len(kinds) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {len(kinds)} different clusters in the partitions. Lower "
            "n_clusters, or choose another method."
        )
    clusters = scipy.sparse.csr_array(kinds.labels.astype(np.float64))
    graph = Graph(backend, jaccard(clusters, signatures.weights), kinds.weights)
    groups = cut(graph, n_clusters, "ncut").labels()  # the largest part next: nearest to a balanced partition
    membership = np.zeros((len(kinds), n_clusters))
    membership[np.arange(len(kinds)), groups] = kinds.weights
    association: FloatArray = clusters @ (membership / membership.sum(axis=0))
    return best_groups(association, signatures.weights)


def jaccard(clusters: scipy.sparse.csr_array, weights: FloatArray) -> FloatArray:
    """Rows in both clusters over rows in either, for each pair of columns."""
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
