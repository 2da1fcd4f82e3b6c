"""Cut the graph of the nodes, by one method or by several of which the medoid is kept (Algorithm 3, line 8)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from clusterforests._base.adjusted_rand import adjusted_rand
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import Signatures, affinity, check_pairs, coassociate, sharpness_for
from clusterforests.combining.gaps import CLEAN, leak
from clusterforests.combining.graph import Graph
from clusterforests.combining.linkage import by_size
from clusterforests.combining.normalized_cut import CutTree
from clusterforests.combining.placement import Links, Placement, Shares
from clusterforests.combining.registry import (
    METHODS,
    AtGapsOr,
    Cut,
    FromAffinity,
    FromLabels,
    FromShares,
    MedoidOf,
    Refined,
)
from clusterforests.combining.settings import LIMITS, CutSettings, GraphLimits


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
        self.links = Links(settings.threshold, sharpness_for(settings.sharpness, len(signatures.labels)))
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
            W = affinity(self.backend, self.signatures, self.links.threshold, self.links.sharpness, self.limits)
            self._graph = Graph(self.backend, W, self.signatures.weights, self.limits)
        return self._graph

    def _share_graph(self) -> Graph:
        check_pairs(self.signatures)
        P = coassociate(self.backend, self.signatures.labels, self.signatures.labels)
        np.fill_diagonal(P, 1.0)
        return Graph(self.backend, P, self.signatures.weights, self.limits)
