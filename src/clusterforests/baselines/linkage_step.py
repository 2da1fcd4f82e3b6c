"""The last step of evidence accumulation and random projection: linkage on how often rows land together."""

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import coassociate, collapse
from clusterforests.combining.combine import combine
from clusterforests.combining.linkage import threshold_labels


def join(
    backend: Backend,
    partitions: IntArray,
    n_clusters: int,
    linkage: str,
    threshold: float | None,
) -> IntArray:
    """Single linkage up to a threshold, or either linkage until n_clusters are left."""
    if threshold is None:
        return combine(backend, partitions, n_clusters, linkage, threshold=0.0, sharpness=0.0, landmarks=None).labels
    signatures = collapse(partitions)
    m = len(signatures)
    check_memory(5 * 8 * m * m, f"Linkage of {m} different rows of labels", "Use fewer rows.")
    P = coassociate(backend, signatures.labels, signatures.labels)
    np.fill_diagonal(P, 1.0)
    return threshold_labels(P, signatures.weights, threshold)[signatures.inverse]
