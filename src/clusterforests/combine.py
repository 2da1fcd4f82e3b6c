"""One clustering from many: the consensus of anyone's partitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests.affinity import Signatures, affinity, coassociate, collapse, sharpness_for
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.linkage import linkage_labels
from clusterforests.spectral import CutTree, Graph, cut
from clusterforests.streams import stream
from clusterforests.validation import MAX_MEMBERS, check_parameters, check_rows


@dataclass(frozen=True)
class Combined:
    labels: npt.NDArray[np.int32]
    cut_tree: CutTree | None  # None where the method has no tree of cuts


def combine(
    backend: CpuBackend,
    partitions: npt.NDArray[np.int32],
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
    if method in ("average", "single"):
        P = coassociate(backend, signatures.labels, signatures.labels)
        np.fill_diagonal(P, 1.0)
        labels = linkage_labels(P, signatures.weights, n_clusters, method)
        return Combined(labels[signatures.inverse], None)
    W = affinity(backend, signatures, threshold, sharpness_for(sharpness, len(partitions)))
    graph = Graph(backend, W, signatures.weights)
    if method == "kway":
        return Combined(_kway(backend, graph, signatures, n_clusters)[signatures.inverse], None)
    tree = cut(graph, n_clusters, method)
    return Combined(tree.labels()[signatures.inverse], tree)


def _kway(backend: CpuBackend, graph: Graph, signatures: Signatures, n_clusters: int) -> npt.NDArray[np.int32]:
    """K-means on the leading eigenvectors."""
    rows = CpuBackend(backend.threads)
    rows.load(np.ascontiguousarray(graph.embedding(n_clusters)), signatures.weights)
    features = [np.arange(n_clusters, dtype=np.int32)]
    jobs = KMeansJobs(features, np.array([n_clusters], np.int32), stream(0), n_init=20, max_iter=200, improve=True)
    runs = rows.kmeans(jobs)
    if not runs.solved[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {rows.table.distinct} different rows of the spectral "
            "embedding. Lower n_clusters."
        )
    labels: npt.NDArray[np.int32] = rows.assign(features, runs.centers)[0]
    return labels


def consensus(
    partitions: Any,
    n_clusters: int,
    *,
    method: str = "ncut",
    threshold: float = 0.4,
    sharpness: float | str = "auto",
) -> npt.NDArray[np.int32]:
    """Combine partitions of the same rows, from whatever source, into one.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    n_clusters : int
        Number of clusters of the result.
    method : str, default="ncut"
        "ncut" (recursive normalised cuts, largest part next), "ncut-lowest", "ncut-best", "ncut-shifted", "kway",
        "average" or "single": see `ClusterForest`.
    threshold : float, default=0.4
        Shares of partitions below it count as 0. Not used by "average" and "single".
    sharpness : float or "auto", default="auto"
        The graph's weights are exp(sharpness * share), at most 50; "auto" is a tenth of the number of partitions, at
        most 10. Not used by "average" and "single".

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
    labels = _check_partitions(partitions)
    check_rows(labels.shape[1], n_clusters)
    return combine(CpuBackend(), labels, n_clusters, method, threshold, sharpness).labels


def _check_partitions(partitions: Any) -> npt.NDArray[np.int32]:
    """Labels renumbered from 0 in each partition, -1 where negative."""
    try:
        given = np.asarray(partitions)
    except ValueError as error:
        raise ValueError("partitions must all label the same number of rows.") from error
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"partitions must have shape (n_partitions, n_samples), both at least 1; it has shape {given.shape}."
        )
    if len(given) > MAX_MEMBERS:
        raise ValueError(f"partitions has {len(given)} members; at most {MAX_MEMBERS} are allowed.")
    if given.dtype.kind not in "biu":
        raise TypeError(f"partitions must hold integer labels, not {given.dtype}. Encode other labels as integers.")
    labels = np.full(given.shape, -1, dtype=np.int32)
    for member, out in zip(given, labels, strict=True):
        clustered = member >= 0
        out[clustered] = np.unique(member[clustered], return_inverse=True)[1]
    never = np.flatnonzero((labels < 0).all(axis=0))
    if len(never):
        raise ValueError(
            f"{len(never)} row(s) are not clustered in any partition, the first is row {never[0]}: nothing is known "
            "of them. Leave them out, or cluster them in at least one partition."
        )
    return labels
