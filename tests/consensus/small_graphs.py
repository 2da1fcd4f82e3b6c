"""Small graphs for the tests of cuts and eigenvectors, and what plain linear algebra says of them."""

import numpy as np
import reference

from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import LIMITS, Graph, GraphLimits, affinity, collapse

BACKEND = CpuBackend(1)
# Limits with which W is a matrix, or an operator down to the smallest part.
KINDS = {"dense": LIMITS, "operator": GraphLimits(matrix_nodes=0, matrix_part=0)}


def graph_of(n=60, members=25, k=3, noise=0.3, seed=0, weighted=True, limits=LIMITS):
    rng = np.random.default_rng(seed)
    labels = np.tile(np.sort(rng.integers(0, k, n)), (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    signatures = collapse(labels.astype(np.int32))
    weights = rng.integers(1, 4, len(signatures)).astype(float) if weighted else np.ones(len(signatures))
    graph = Graph(BACKEND, affinity(BACKEND, signatures, 0.4, 5.0, limits), weights, limits)
    P = (signatures.labels[:, :, None] == signatures.labels[:, None, :]).mean(axis=0)
    return graph, reference.regularised(P, 0.4, 5.0), weights


def from_matrix(W, weights=None):
    W = np.asarray(W, dtype=float)
    return Graph(BACKEND, W, np.ones(len(W)) if weights is None else np.asarray(weights, dtype=float))


def normalised(W, weights):
    """S W S with S = sqrt(weights / degrees), and its eigenvectors, largest first."""
    root = np.sqrt(weights / (W @ weights))
    matrix = root[:, None] * W * root[None, :]
    values, vectors = np.linalg.eigh(matrix)
    return matrix, values[::-1], vectors[:, ::-1].T
