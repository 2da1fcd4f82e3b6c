"""Linkage of rows by how often partitions put them together: the last step of two baselines."""

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import coassociate, collapse
from clusterforests.combining.combine import combine
from clusterforests.combining.linkage import threshold_labels


def link_by_coassociation(
    backend: Backend,
    partitions: IntArray,
    n_clusters: int,
    linkage: str,
    threshold: float | None,
) -> IntArray:
    """Join rows that share a cluster in at least the share `threshold` of partitions, by single linkage.

    Without a threshold, join the nearest groups until `n_clusters` are left, by single or average linkage.
    """
    if threshold is None:
        return combine(backend, partitions, n_clusters, linkage, threshold=0.0, sharpness=0.0, landmarks=None).labels
    signatures = collapse(partitions)
    m = len(signatures)
    check_memory(5 * 8 * m * m, f"Linkage of {m} distinct rows of labels", "Use fewer rows.")
    P = coassociate(backend, signatures.labels, signatures.labels)
    np.fill_diagonal(P, 1.0)
    return threshold_labels(P, signatures.weights, threshold)[signatures.inverse]
