"""Cut the graph of the nodes, by one method or by several of which the medoid is kept (Algorithm 3, line 8)."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyIntArray, FloatArray, IntArray
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import Graph, Signatures, affinity, affinity_scale_for, check_pairs, coassociate
from clusterforests.consensus.eigenvectors import spectral_embedding
from clusterforests.consensus.gaps import CLEAN, gap_graph, leak
from clusterforests.consensus.linkage import by_size
from clusterforests.consensus.methods import (
    METHODS,
    AtGapsOr,
    Cut,
    FromAffinity,
    FromLabels,
    FromShares,
    MedoidOf,
    Refined,
    without_values,
)
from clusterforests.consensus.nodes import Nodes, choose_nodes
from clusterforests.consensus.normalized_cut import CutTree, kmeans_groups
from clusterforests.consensus.placement import Links, Placement, Shares, settle
from clusterforests.consensus.settings import LIMITS, CutSettings, GraphLimits


@dataclass(frozen=True)
class KeptCut:
    """The cut that is kept, and how it was chosen."""

    cut: Cut
    method: str
    reason: str | None = None  # why this one, if it was chosen
    failed: tuple[str, ...] = ()  # the cuts that could not be made, and why

    @property
    def tree(self) -> CutTree | None:
        """The tree of cuts, None if the method has none."""
        return self.cut.tree


def cut_graph(graph: "ConsensusGraph", settings: CutSettings) -> KeptCut:
    """Cut the graph into n_clusters groups."""
    method = METHODS[settings.method]
    if isinstance(method, AtGapsOr):
        return _cut_at_gaps_or(graph, method)
    if not isinstance(method, MedoidOf):
        return graph.keep(settings.method)
    cuts, failed = {}, []
    for name in method.methods:
        try:
            cuts[name] = graph.cut(name)
        except ValueError as error:  # Some methods cannot make n_clusters groups; the first always can.
            failed.append(f"{name} failed: {_in_short(error)}")
    kept, agreement = choose_medoid({name: cut.groups for name, cut in cuts.items()}, graph.signatures.weights)
    agreed = ", ".join(f"{name} {value:.2f}" for name, value in agreement.items())
    why = "the only cut that could be made" if len(cuts) == 1 else f"agrees best with the other cuts: {agreed}"
    return KeptCut(cuts[kept], kept, "; ".join([why, *failed]), tuple(failed))


def _cut_at_gaps_or(graph: "ConsensusGraph", method: AtGapsOr) -> KeptCut:
    """Cut at gaps, and see whether there are any."""
    try:
        cut = graph.cut(method.gaps)
    except ValueError as error:  # the finest partitions may tell too few rows apart
        return _otherwise(graph, method, f"gaps could not be looked for: {_in_short(error)}")
    found = leak(graph.backend, graph.signatures, cut.groups)
    if found <= CLEAN:
        return KeptCut(cut, method.gaps, f"gaps lie between the clusters: {found:.1%} of the links cross them")
    return _otherwise(graph, method, "no gaps lie between the clusters")


def _otherwise(graph: "ConsensusGraph", method: AtGapsOr, why: str) -> KeptCut:
    kept = graph.keep(method.otherwise)
    return replace(kept, reason="; ".join(filter(None, (why, kept.reason))))


def _in_short(error: ValueError) -> str:
    return str(error).partition(". ")[0].rstrip(".")


def place_by(cut: Cut, signatures: Signatures, *, exact: bool = False) -> Placement:
    """Make the rule for rows that are not nodes. If the cut is exact the nodes stay where they were cut to."""
    n_groups = int(cut.groups.max()) + 1
    shares = Shares.of(signatures, cut.groups, n_groups)
    settled = np.arange(len(signatures) if exact else 0, dtype=np.int32)
    return Placement(signatures, cut.groups, cut.rule(shares), settled, np.arange(n_groups, dtype=np.int32), shares)


def choose_medoid(groupings: Mapping[str, IntArray], weights: FloatArray) -> tuple[str, dict[str, float]]:
    """Choose the grouping with the highest mean agreement with the others, the first on ties.

    Returns its name and the mean agreement of each. Weights need not be counts, so that pairs are draws.
    """
    names = list(groupings)
    pairs = np.array(
        [[adjusted_rand(groupings[a], groupings[b], weights, replacement=True) for b in names] for a in names]
    )
    mean = (pairs.sum(axis=1) - 1) / max(1, len(names) - 1)
    return names[int(mean.argmax())], dict(zip(names, mean.tolist(), strict=True))


class ConsensusGraph:
    """The graph of how often rows are together, regularised (Algorithm 3, lines 4 to 7).

    W is made for the first method that needs it, and kept for the next.
    """

    def __init__(
        self, backend: Backend, signatures: Signatures, settings: CutSettings, limits: GraphLimits = LIMITS
    ) -> None:
        self.backend = backend
        self.signatures = signatures
        self.n_clusters = settings.n_clusters
        self.links = Links(
            settings.affinity_threshold, affinity_scale_for(settings.affinity_scale, len(signatures.labels))
        )
        self.limits = limits
        self._graph: Graph | None = None

    def keep(self, name: str) -> KeptCut:
        """Cut by one method, or by the one that stands in for it."""
        method = METHODS[name]
        if not isinstance(method, Refined):
            return KeptCut(self.cut(name), name)
        if self.signatures.values is None:
            return KeptCut(
                self.cut(method.otherwise), method.otherwise, "not refined: the rows' values are not at hand"
            )
        return KeptCut(self.cut(name), name, "all clusters are cut at once, then refined by the values of the rows")

    def cut(self, name: str) -> Cut:
        """Cut by one method; groups are named by size, largest first."""
        method = METHODS[name]
        if isinstance(method, FromAffinity):
            return method.cut(self.affinity_graph(), self.links, self.n_clusters)
        if isinstance(method, Refined):
            return method.cut(self.affinity_graph(), self.links, self.signatures, self.n_clusters)
        assert isinstance(method, FromLabels | FromShares)
        if isinstance(method, FromLabels):
            groups = method.group(self.backend, self.signatures, self.n_clusters)
        else:
            groups = method.group(self._share_graph(), self.n_clusters)
        named = by_size(groups, self.signatures.weights)
        place = method.place
        return Cut(named, lambda shares: place(named, shares))

    def affinity_graph(self) -> Graph:
        """Make the graph of W, once."""
        if self._graph is None:
            W = affinity(self.backend, self.signatures, self.links.threshold, self.links.scale, self.limits)
            self._graph = Graph(self.backend, W, self.signatures.weights, self.limits)
        return self._graph

    def _share_graph(self) -> Graph:
        check_pairs(self.signatures)
        P = coassociate(self.backend, self.signatures.labels, self.signatures.labels)
        np.fill_diagonal(P, 1.0)
        return Graph(self.backend, P, self.signatures.weights, self.limits)


# Cut one graph into several numbers of clusters: eigenvectors are found once for all.

STARTS = 10
DENSE = GraphLimits(dense_solver=1024)  # faster where many eigenvectors are wanted


def cut_numbers(
    backend: Backend, signatures: Signatures, settings: CutSettings, numbers: Sequence[int]
) -> list[IntArray | None]:
    """Cut the graph into each number of groups; None where it cannot be.

    "kway" and "gaps-or-kway" take their eigenvectors from one embedding and fewer starts of K-means, so that the result
    may differ from a cut into one number alone where many cuts are as good. Cuts are not refined.
    """
    settings = settings._replace(method=without_values(settings.method))
    able = [k for k in numbers if k < len(signatures)]
    if settings.method not in ("kway", "gaps-or-kway") or not able:
        return [
            _cut_alone(backend, signatures, settings._replace(n_clusters=k)) if k in able else None for k in numbers
        ]
    graph = ConsensusGraph(backend, signatures, settings, DENSE)
    embedded = {"kway": spectral_embedding(graph.affinity_graph(), max(able))}
    if settings.method != "kway":
        embedded["gaps"] = spectral_embedding(gap_graph(backend, signatures, DENSE), max(able))
    return [_groups(backend, signatures, embedded, k) if k in able else None for k in numbers]


def _groups(
    backend: Backend, signatures: Signatures, embedded: dict[str, FloatArray], n_clusters: int
) -> IntArray | None:
    with contextlib.suppress(ValueError):  # the graph may tell too few rows apart
        if "gaps" in embedded:
            groups = _kmeans(backend, signatures, embedded["gaps"], n_clusters)
            if leak(backend, signatures, groups) <= CLEAN:
                return groups
        return _kmeans(backend, signatures, embedded["kway"], n_clusters)
    return None


def _kmeans(backend: Backend, signatures: Signatures, rows: FloatArray, n_clusters: int) -> IntArray:
    """Cluster the leading columns: the first, and the last but for the first, which ascend."""
    leading = np.column_stack([rows[:, :1], rows[:, rows.shape[1] - (n_clusters - 1) :]])
    unit = leading / np.linalg.norm(leading, axis=1, keepdims=True)
    return kmeans_groups(backend, unit, signatures.weights, n_clusters, STARTS)


def _cut_alone(backend: Backend, signatures: Signatures, settings: CutSettings) -> IntArray | None:
    with contextlib.suppress(ValueError):
        return cut_graph(ConsensusGraph(backend, signatures, settings), settings).cut.groups
    return None


# One clustering from many partitions: choose nodes, cut their graph, place the rows (Algorithm 3, lines 4 to 8).


class Combined(NamedTuple):
    """The consensus: labels of the rows, the rule by which new rows are placed, and how the graph was cut."""

    labels: IntArray  # an array of Dask if the rows are in one
    placement: Placement
    kept: KeptCut
    n_landmarks: int | None  # None if the cut is exact


def combine(
    backend: Backend,
    partitions: AnyIntArray,
    n_clusters: int,
    method: str,
    affinity_threshold: float | str,
    affinity_scale: float | str,
    weights: FloatArray | None = None,
    *,
    n_landmarks: int | str | None = "auto",
    seed: int = 0,
    limits: GraphLimits = LIMITS,
) -> Combined:
    """Combine labels of shape (T, n), where a label below zero means "not clustered".

    The graph is that of the different rows of labels, or of landmarks that stand for them. Rows that are no nodes are
    placed: those of weight 0, which take no part, and those for which landmarks stand.
    """
    settings = CutSettings(n_clusters, method, affinity_threshold, affinity_scale, n_landmarks)
    nodes = choose_nodes(backend, partitions, weights, settings, seed, limits)
    kept = cut_graph(ConsensusGraph(backend, nodes.signatures, settings, limits), settings)
    placement, labels = place_rows(backend, nodes, kept, partitions, weights)
    return Combined(labels, placement, kept, nodes.n_landmarks)


def place_rows(
    backend: Backend, nodes: Nodes, kept: KeptCut, partitions: AnyIntArray, weights: FloatArray | None
) -> tuple[Placement, IntArray]:
    """Place every row: by its own labels, or by those of its signature if all signatures are known."""
    placement = place_by(kept.cut, nodes.signatures, exact=nodes.exact)
    every = nodes.every
    if every is None:
        return settle(placement, backend, partitions, weights)
    if not nodes.exact:
        placement, found = settle(placement, backend, every.labels, every.weights)
        return placement, found[every.inverse]
    with_weight = every.weights > 0
    labels = np.empty(len(every), dtype=np.int32)
    labels[with_weight] = placement.groups
    if not with_weight.all():
        labels[~with_weight] = placement.clusters(backend, every.labels[:, ~with_weight])
    return placement, labels[every.inverse]
