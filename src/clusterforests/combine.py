"""One clustering from many: the consensus of anyone's partitions."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests.affinity import Signatures, affinity, check_pairs, coassociate, collapse, sharpness_for
from clusterforests.agreement import agree
from clusterforests.backends import CpuBackend
from clusterforests.grouping import kmeans_groups
from clusterforests.hypergraph import cspa, hbgf, mcla
from clusterforests.linkage import by_size, linkage_labels, trimmed_labels
from clusterforests.medoid import MEDOID_OF, medoid
from clusterforests.mixture import mixture
from clusterforests.spectral import CutTree, Graph, cut
from clusterforests.validation import check_parameters, check_partitions, check_rows, check_weights

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

BLOCK = 1024  # signatures without weight placed at a time


@dataclass(frozen=True)
class Combined:
    labels: IntArray
    cut_tree: CutTree | None  # None where the method has no tree of cuts
    method: str
    agreement: Mapping[str, float] | None = None  # of each cut that was tried with the others


def combine(
    backend: CpuBackend,
    partitions: IntArray,
    n_clusters: int,
    method: str,
    threshold: float | str,
    sharpness: float | str,
    weights: FloatArray | None = None,
) -> Combined:
    """Algorithm 3, lines 6 to 8, on labels of shape (T, n); below zero means "not clustered".

    Rows of weight 0 take no part in the cut: they get the label of rows with the same signature, or else of the cluster
    with which they share most.
    """
    every = collapse(partitions, weights)
    signatures = _counted(every)
    if len(signatures) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {len(signatures)} groups of rows that the partitions tell "
            "apart. Lower n_clusters, or raise base_clusters or n_estimators."
        )
    cuts = _Cuts(backend, signatures, n_clusters, threshold, sharpness)
    agreement = None
    if method == "medoid":
        method, agreement = medoid(cuts.possible(MEDOID_OF), signatures.weights)
    groups = cuts.groups(method)
    if len(signatures) < len(every):
        groups = _placed(backend, every, signatures, groups)
    return Combined(groups[every.inverse], cuts.tree(method), method, agreement)


class _Cuts:
    """Groups of signatures by any method; each is computed once, and so is the graph."""

    def __init__(
        self,
        backend: CpuBackend,
        signatures: Signatures,
        n_clusters: int,
        threshold: float | str,
        sharpness: float | str,
    ) -> None:
        self.backend = backend
        self.signatures = signatures
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.sharpness = sharpness
        self._groups: dict[str, IntArray] = {}
        self._trees: dict[str, CutTree] = {}

    def groups(self, method: str) -> IntArray:
        """Largest group first."""
        if method not in self._groups:
            self._groups[method] = self._cut(method)
        return self._groups[method]

    def possible(self, methods: Iterable[str]) -> dict[str, IntArray]:
        """The groups of those methods that can make n_clusters of them; the first always can."""
        found = {}
        for method in methods:
            with contextlib.suppress(ValueError):
                found[method] = self.groups(method)
        return found

    def tree(self, method: str) -> CutTree | None:
        return self._trees.get(method)

    def _cut(self, method: str) -> IntArray:
        weights = self.signatures.weights
        if method in FROM_LABELS:
            return by_size(FROM_LABELS[method](self.backend, self.signatures, self.n_clusters), weights)
        if method == "kway":
            return kmeans_groups(self.backend, self.graph.embedding(self.n_clusters), weights, self.n_clusters)
        tree = self._trees[method] = cut(self.graph, self.n_clusters, method)
        return tree.labels()

    @cached_property
    def graph(self) -> Graph:
        sharpness = sharpness_for(self.sharpness, len(self.signatures.labels))
        W = affinity(self.backend, self.signatures, self.threshold, sharpness)
        return Graph(self.backend, W, self.signatures.weights)


def _counted(every: Signatures) -> Signatures:
    """The signatures of rows that have a weight."""
    counted = np.flatnonzero(every.weights > 0)
    if len(counted) == len(every):
        return every
    return Signatures(np.ascontiguousarray(every.labels[:, counted]), np.arange(len(counted)), every.weights[counted])


def _placed(backend: CpuBackend, every: Signatures, counted: Signatures, groups: IntArray) -> IntArray:
    """Groups of all signatures: those without weight go where their mean P is highest, to the first group on ties."""
    placed = np.empty(len(every), dtype=np.int32)
    placed[every.weights > 0] = groups
    members = np.zeros((len(counted), groups.max() + 1))
    members[np.arange(len(counted)), groups] = counted.weights
    members /= members.sum(axis=0)
    others = np.flatnonzero(every.weights == 0)
    for start in range(0, len(others), BLOCK):
        some = others[start : start + BLOCK]
        P = coassociate(backend, np.ascontiguousarray(every.labels[:, some]), counted.labels)
        placed[some] = (P @ members).argmax(axis=1)
    return placed


def _linkage(backend: CpuBackend, signatures: Signatures, n_clusters: int, *, method: str) -> IntArray:
    check_pairs(signatures)
    P = coassociate(backend, signatures.labels, signatures.labels)
    np.fill_diagonal(P, 1.0)
    if method == "average-trimmed":
        return trimmed_labels(P, signatures.weights, n_clusters)
    return linkage_labels(P, signatures.weights, n_clusters, method)


# What needs the labels alone, without the regularised graph: groups of signatures.
FROM_LABELS: Mapping[str, Callable[[CpuBackend, Signatures, int], IntArray]] = {
    "average": partial(_linkage, method="average"),
    "average-trimmed": partial(_linkage, method="average-trimmed"),
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
    threshold: float | str = 0.4,
    sharpness: float | str = "auto",
    sample_weight: Any = None,
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
        "average", "average-trimmed", "single", "medoid", "cspa", "hbgf", "mcla", "mixture" or "agreement": see
        `ClusterForest`.
    threshold : float or "auto", default=0.4
        Shares of partitions below it count as 0. "auto" cuts nothing off, and instead gives pairs that are never
        together no link. Used by "kway" and the cuts named "ncut...".
    sharpness : float or "auto", default="auto"
        The graph's weights are exp(sharpness * share), at most 50; "auto" is a tenth of the number of partitions, at
        most 10. Used where `threshold` is.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows: a row of weight 3 counts like three equal rows. One of weight 0 has no say, and gets the
        cluster with which it shares most.

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
    weights = check_weights(sample_weight, labels.shape[1])
    return combine(CpuBackend(), labels, n_clusters, method, threshold, sharpness, weights).labels
