"""One clustering from many: the consensus of anyone's partitions."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._base.cached import cached
from clusterforests._base.parameters import FOREST_RULES, check_parameters, check_partitions, check_rows, check_weights
from clusterforests._base.typing import AnyIntArray, FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend
from clusterforests.combining.affinity import Signatures, affinity, check_pairs, coassociate, collapse, sharpness_for
from clusterforests.combining.aggregation import agree
from clusterforests.combining.grouping import kmeans_groups
from clusterforests.combining.hypergraph import cspa, hbgf, mcla
from clusterforests.combining.landmarks import choose_landmarks
from clusterforests.combining.linkage import by_size, linkage_labels, trimmed_labels
from clusterforests.combining.medoid import MEDOID_OF, medoid
from clusterforests.combining.mixture import mixture
from clusterforests.combining.normalized_cut import CutTree, Graph, cut
from clusterforests.combining.placement import (
    Links,
    MostShared,
    NearestNode,
    Placement,
    PlacementRule,
    Shares,
    blocks,
    embed,
    settle,
    walk,
)
from clusterforests.tables.distinct_rows import DistinctRows
from clusterforests.tables.row_sampling import draw_rows

EXACT = 5000  # signatures up to which every one of them is a node of the graph
EXACT_SPECTRAL = 20000  # the same where no matrix is needed
LANDMARKS = 2000  # otherwise
POOL = 16384  # rows from which landmarks are chosen
COLLAPSED = 65536  # rows up to which equal signatures of all rows are merged


class CutSettings(NamedTuple):
    """How the graph is cut: see `consensus`."""

    n_clusters: int
    method: str
    threshold: float | str
    sharpness: float | str
    landmarks: int | str | None


@dataclass(frozen=True)
class Combined:
    labels: IntArray  # a Dask array of them where the rows are Dask's
    cut_tree: CutTree | None  # None where the method has no tree of cuts
    method: str
    agreement: Mapping[str, float] | None  # of each cut that was tried with the others
    placement: Placement  # where new rows go
    n_landmarks: int | None  # None if the cut is exact


def combine(
    backend: Backend,
    partitions: AnyIntArray,
    n_clusters: int,
    method: str,
    threshold: float | str,
    sharpness: float | str,
    weights: FloatArray | None = None,
    *,
    landmarks: int | str | None = "auto",
    seed: int = 0,
) -> Combined:
    """Algorithm 3, lines 6 to 8, on labels of shape (T, n); below zero means "not clustered".

    What is cut is the graph of the different rows of labels, or of some that stand for them: landmarks. Rows that were
    not cut are placed: those of weight 0, which take no part, and those for which landmarks stand.
    """
    settings = CutSettings(n_clusters, method, threshold, sharpness, landmarks)
    if landmarks is not None and partitions.shape[1] > COLLAPSED:
        pool = sample_pool(partitions, weights, landmarks, seed)
        sample = collapse(_int32(partitions[:, pool.rows]), pool.weights)
        return combine_sample(backend, sample, settings, lambda p: settle(p, backend, partitions, weights), seed)
    check_landmarks(landmarks, n_clusters)
    every = collapse(_int32(partitions), weights)
    counted = _counted(every)
    most = _most_nodes(landmarks, method)
    if most is not None and len(counted) > most:
        count = LANDMARKS if landmarks == "auto" else most
        cut = _Cut(backend, choose_landmarks(backend, counted, count, seed), settings)
        placement, labels = settle(cut.placement(), backend, every.labels, every.weights)
        return cut.combined(placement, labels[every.inverse], len(cut.nodes))
    cut = _Cut(backend, counted, settings)
    placement = cut.placement(exact=True)
    labels = np.empty(len(every), dtype=np.int32)
    with_weight = every.weights > 0
    labels[with_weight] = placement.groups
    if len(counted) < len(every):
        labels[~with_weight] = placement.clusters(backend, every.labels[:, ~with_weight])
    return cut.combined(placement, labels[every.inverse], None)


def combine_by(
    backend: Backend, partitions: AnyIntArray, settings: CutSettings, weights: FloatArray | None, seed: int
) -> Combined:
    *cut, landmarks = settings
    return combine(backend, partitions, *cut, weights, landmarks=landmarks, seed=seed)  # type: ignore


def combine_sample(
    backend: Backend,
    sample: Signatures,
    settings: CutSettings,
    settle_rows: Callable[[Placement], tuple[Placement, Any]],
    seed: int,
) -> Combined:
    """The same for too many rows to compare all: landmarks are chosen from a sample of them.

    `settle_rows` places all rows, wherever they are, and says what they are called.
    """
    check_landmarks(settings.landmarks, settings.n_clusters)
    count = LANDMARKS if settings.landmarks in ("auto", None) else int(settings.landmarks)
    nodes = sample
    if len(sample) > count:
        nodes = choose_landmarks(backend, sample, count, seed, sampled=True)
    cut = _Cut(backend, nodes, settings, f" in a sample of {len(sample.inverse)} rows")
    placement, labels = settle_rows(cut.placement())
    return cut.combined(placement, labels, len(nodes))


def check_landmarks(landmarks: int | str | None, n_clusters: int) -> None:
    if isinstance(landmarks, (int, np.integer)) and landmarks < n_clusters:
        raise ValueError(
            f"landmarks={landmarks} is less than n_clusters={n_clusters}. Raise it, or leave it at 'auto'."
        )


def sample_pool(
    partitions: AnyIntArray, weights: FloatArray | None, landmarks: int | str | None, seed: int
) -> DistinctRows:
    """Different rows of labels, for partitions of unknown origin."""
    keys = np.concatenate([_core.column_keys(block) for _, block in blocks(partitions)])
    return draw_rows(keys, weights, max(POOL, landmarks if isinstance(landmarks, (int, np.integer)) else 0), seed)


def _most_nodes(landmarks: int | str | None, method: str) -> int | None:
    """The number of signatures up to which the cut is exact."""
    if landmarks != "auto":
        return None if landmarks is None else int(landmarks)
    return EXACT_SPECTRAL if cuts_without_matrix(method) else EXACT


def cuts_without_matrix(method: str) -> bool:
    return method == "kway" or method.startswith("ncut")


def _int32(labels: AnyIntArray) -> IntArray:
    return labels.astype(np.int32, copy=False)


class _Cut:
    """The graph of some nodes, cut by one method or by several of which one is kept; each is computed once."""

    def __init__(self, backend: Backend, nodes: Signatures, settings: CutSettings, where: str = "") -> None:
        self.backend = backend
        self.nodes = nodes
        self.n_clusters = settings.n_clusters
        self.links = Links(settings.threshold, sharpness_for(settings.sharpness, len(nodes.labels)))
        self._groups: dict[str, IntArray] = {}
        self._trees: dict[str, CutTree] = {}
        if len(nodes) < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {len(nodes)} groups of rows that the partitions tell "
                f"apart{where}. Lower n_clusters, or raise base_clusters or n_estimators."
            )
        self.method, self.agreement = settings.method, None
        if settings.method == "medoid":
            self.method, self.agreement = medoid(self.possible(MEDOID_OF), nodes.weights)

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

    def placement(self, *, exact: bool = False) -> Placement:
        """Where rows go that are not nodes. If the cut is exact the nodes stay where they were cut to."""
        groups = self.groups(self.method)
        n_groups = int(groups.max()) + 1
        shares = Shares.of(self.nodes, groups, n_groups)
        rule: PlacementRule
        if (tree := self._trees.get(self.method)) is not None:
            rule = walk(self.nodes.weights, self.links, tree)
        elif self.method == "kway":
            rule = embed(self.graph, self.links, self.embedding, groups)
        elif self.method == "single":
            rule = NearestNode(groups)
        else:
            rule = MostShared(shares)
        settled = np.arange(len(groups) if exact else 0, dtype=np.int32)
        return Placement(self.nodes, groups, rule, settled, np.arange(n_groups, dtype=np.int32), shares)

    def combined(self, placement: Placement, labels: Any, n_landmarks: int | None) -> Combined:
        return Combined(labels, self._trees.get(self.method), self.method, self.agreement, placement, n_landmarks)

    def _cut(self, method: str) -> IntArray:
        weights = self.nodes.weights
        if method in FROM_LABELS:
            return by_size(FROM_LABELS[method](self.backend, self.nodes, self.n_clusters), weights)
        if method == "kway":
            return kmeans_groups(self.backend, self.embedding, weights, self.n_clusters)
        tree = self._trees[method] = cut(self.graph, self.n_clusters, method)
        return tree.labels()

    @cached
    def embedding(self) -> FloatArray:
        return self.graph.embedding(self.n_clusters)

    @cached
    def graph(self) -> Graph:
        W = affinity(self.backend, self.nodes, self.links.threshold, self.links.sharpness)
        return Graph(self.backend, W, self.nodes.weights)


def _counted(every: Signatures) -> Signatures:
    """The signatures of rows that have a weight."""
    counted = np.flatnonzero(every.weights > 0)
    if len(counted) == len(every):
        return every
    return Signatures(np.ascontiguousarray(every.labels[:, counted]), np.arange(len(counted)), every.weights[counted])


def _linkage(backend: Backend, signatures: Signatures, n_clusters: int, *, method: str) -> IntArray:
    check_pairs(signatures)
    P = coassociate(backend, signatures.labels, signatures.labels)
    np.fill_diagonal(P, 1.0)
    if method == "average-trimmed":
        return trimmed_labels(P, signatures.weights, n_clusters)
    return linkage_labels(P, signatures.weights, n_clusters, method)


# What needs the labels alone, without the regularised graph: groups of signatures.
FROM_LABELS: Mapping[str, Callable[[Backend, Signatures, int], IntArray]] = {
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
    landmarks: int | str | None = "auto",
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
        Weights of the rows: a row of weight 3 counts like three equal rows. One of weight 0 has no say, and goes where
        its links with the others lead.
    landmarks : int, None or "auto", default="auto"
        Most different rows of labels whose graph is cut as it is: see `ClusterForest`.

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
    given = {"n_clusters": n_clusters, "method": method, "threshold": threshold, "sharpness": sharpness}
    check_parameters({**given, "landmarks": landmarks}, FOREST_RULES)
    check_parameters({"n_clusters": n_clusters})
    labels = check_partitions(partitions)
    check_rows(labels.shape[1], n_clusters)
    weights = check_weights(sample_weight, labels.shape[1])
    return combine(CpuBackend(), labels, n_clusters, method, threshold, sharpness, weights, landmarks=landmarks).labels
