"""One clustering from many: the consensus of anyone's partitions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests.affinity import Signatures, affinity, coassociate, collapse, sharpness_for
from clusterforests.agreement import agree
from clusterforests.backends import CpuBackend
from clusterforests.grouping import kmeans_groups
from clusterforests.hypergraph import cspa, hbgf, mcla
from clusterforests.linkage import by_size, linkage_labels
from clusterforests.mixture import mixture
from clusterforests.spectral import CutTree, Graph, cut
from clusterforests.validation import check_parameters, check_partitions, check_rows

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Combined:
    labels: IntArray
    cut_tree: CutTree | None  # None where the method has no tree of cuts


def combine(
    backend: CpuBackend,
    partitions: IntArray,
    n_clusters: int,
    method: str,
    threshold: float,
    sharpness: float | str,
) -> Combined:
    """Algorithm 3, lines 6 to 8, on labels of shape (T, n); below zero means "not clustered"."""
    signatures = collapse(partitions)
    if len(signatures) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {len(signatures)} groups of rows that the partitions tell "
            "apart. Lower n_clusters, or raise base_clusters or n_estimators."
        )
    if method in FROM_LABELS:
        groups = FROM_LABELS[method](backend, signatures, n_clusters)
        return Combined(by_size(groups, signatures.weights)[signatures.inverse], None)
    W = affinity(backend, signatures, threshold, sharpness_for(sharpness, len(partitions)))
    graph = Graph(backend, W, signatures.weights)
    if method == "kway":
        groups = kmeans_groups(backend, graph.embedding(n_clusters), signatures.weights, n_clusters)
        return Combined(groups[signatures.inverse], None)
    tree = cut(graph, n_clusters, method)
    return Combined(tree.labels()[signatures.inverse], tree)


def _linkage(backend: CpuBackend, signatures: Signatures, n_clusters: int, *, method: str) -> IntArray:
    P = coassociate(backend, signatures.labels, signatures.labels)
    np.fill_diagonal(P, 1.0)
    return linkage_labels(P, signatures.weights, n_clusters, method)


# What needs the labels alone, without the regularised graph: groups of signatures.
FROM_LABELS: Mapping[str, Callable[[CpuBackend, Signatures, int], IntArray]] = {
    "average": partial(_linkage, method="average"),
    "single": partial(_linkage, method="single"),
    "cspa": cspa,
    "hbgf": hbgf,
    "mcla": mcla,
    "mixture": mixture,
    "agreement": agree,
}


def consensus(
    partitions: Any,
    n_clusters: int,
    *,
    method: str = "ncut",
    threshold: float = 0.4,
    sharpness: float | str = "auto",
) -> IntArray:
    """Combine partitions of the same rows, from whatever source, into one.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    n_clusters : int
        Number of clusters of the result.
    method : str, default="ncut"
        "ncut" (recursive normalised cuts, largest part next), "ncut-lowest", "ncut-best", "ncut-shifted", "kway",
        "average", "single", "cspa", "hbgf", "mcla", "mixture" or "agreement": see `ClusterForest`.
    threshold : float, default=0.4
        Shares of partitions below it count as 0. Used by "kway" and the cuts named "ncut...".
    sharpness : float or "auto", default="auto"
        The graph's weights are exp(sharpness * share), at most 50; "auto" is a tenth of the number of partitions, at
        most 10. Used where `threshold` is.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.

    Examples
    --------
    >>> from clusterforests import consensus
    >>> consensus([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, -1]], n_clusters=2)
    array([0, 0, 1, 1], dtype=int32)
    """
    check_parameters({"n_clusters": n_clusters, "method": method, "threshold": threshold, "sharpness": sharpness})
    labels = check_partitions(partitions)
    check_rows(labels.shape[1], n_clusters)
    return combine(CpuBackend(), labels, n_clusters, method, threshold, sharpness).labels
