"""The ways to cut the graph of the nodes into clusters (Algorithm 3, line 8).

To add a method, write a function that takes a `ConsensusGraph` and returns a `Cut`, and list it in METHODS.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.statistics import adjusted_rand
from clusterforests._utils.validation import Rule, choice
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import (
    LIMITS,
    Graph,
    GraphLimits,
    Signatures,
    affinity,
    affinity_scale_for,
    check_pairs,
    coassociate,
)
from clusterforests.consensus.eigenvectors import spectral_embedding
from clusterforests.consensus.linkage import by_size, linkage_labels, trimmed_labels
from clusterforests.consensus.nodes import CutSettings
from clusterforests.consensus.normalized_cut import (
    MOST_CONDUCTANCE,
    conductance,
    cut_at_gaps,
    gap_graph,
    kmeans_groups,
    recursive_cut,
)
from clusterforests.consensus.placement import (
    Cut,
    Links,
    MostLinked,
    NearestNode,
    embed,
    walk,
)
from clusterforests.consensus.refinement import refine


class ConsensusGraph:
    """The graph of how often rows are together (Algorithm 3, lines 4 to 7).

    Nothing is computed before a method asks. `affinities` is W, looked up by the number of matching labels without
    P, and kept for the next method; `shares` is P, for linkage, and made anew each time.
    """

    def __init__(
        self, backend: Backend, signatures: Signatures, settings: CutSettings, limits: GraphLimits = LIMITS
    ) -> None:
        self.backend = backend
        self.signatures = signatures
        self.n_clusters = settings.n_clusters
        scale = affinity_scale_for(settings.affinity_scale, len(signatures.labels))
        self.links = Links(settings.affinity_threshold, scale)
        self.limits = limits
        self._graph: Graph | None = None

    def cut(self, method: str) -> Cut:
        """Cut into n_clusters groups."""
        cut = METHODS[method](self)
        return cut if cut.method else replace(cut, method=method)

    def affinities(self) -> Graph:
        """Make the graph of W, the regularised shares of trees."""
        if self._graph is None:
            W = affinity(self.backend, self.signatures, self.links.threshold, self.links.scale, self.limits)
            self._graph = Graph(self.backend, W, self.signatures.weights, self.limits)
        return self._graph

    def shares(self) -> FloatArray:
        """Compute P, the shares of trees in which nodes are together."""
        check_pairs(self.signatures)
        P = coassociate(self.backend, self.signatures.labels, self.signatures.labels)
        np.fill_diagonal(P, 1.0)
        return P


def _ncut(graph: ConsensusGraph) -> Cut:
    """Cut again and again; rows walk down the tree of cuts."""
    tree = recursive_cut(graph.affinities(), graph.n_clusters)
    return Cut(tree.labels(), lambda: walk(graph.signatures.weights, graph.links, tree), tree)


def _kway(graph: ConsensusGraph) -> Cut:
    """Cut into all parts at once, by K-means on the leading eigenvectors; rows go to the nearest centre."""
    rows = spectral_embedding(graph.affinities(), graph.n_clusters)
    groups = kmeans_groups(graph.backend, rows, graph.signatures.weights, graph.n_clusters)
    return Cut(groups, lambda: embed(graph.affinities(), graph.links, rows, groups))


def _refined(graph: ConsensusGraph) -> Cut:
    """Cut into all parts at once, dense parts of the table no sooner than others, and refine the cut."""
    nodes = graph.signatures
    if nodes.values is None:
        return replace(graph.cut("kway"), reason="not refined: the rows' values are not at hand")
    rows = spectral_embedding(graph.affinities().degree_corrected(), graph.n_clusters)
    cut = kmeans_groups(graph.backend, rows, nodes.weights, graph.n_clusters)
    groups = by_size(refine(graph.backend, nodes, cut), nodes.weights)
    reason = "all clusters are cut at once, then refined by the values of the rows"
    return Cut(groups, lambda: MostLinked.of(graph.links, groups, nodes.weights), reason=reason)


def _average(graph: ConsensusGraph) -> Cut:
    """Join by average linkage; rows go where they share most trees."""
    return Cut(linkage_labels(graph.shares(), graph.signatures.weights, graph.n_clusters))


def _trimmed_average(graph: ConsensusGraph) -> Cut:
    """Join by average linkage, without clusters of outliers."""
    return Cut(trimmed_labels(graph.shares(), graph.signatures.weights, graph.n_clusters))


def _gaps(graph: ConsensusGraph) -> Cut:
    """Cut where there are gaps; rows go with the node with which they share most trees."""
    groups = cut_at_gaps(graph.backend, graph.signatures, graph.n_clusters)
    named = by_size(groups, graph.signatures.weights)
    return Cut(named, lambda: NearestNode(named))


def _gaps_or_refined(graph: ConsensusGraph) -> Cut:
    """Cut at gaps where they are clean, otherwise into refined parts."""
    try:
        cut = graph.cut("gaps")
    except ValueError as error:  # the finest partitions may tell too few rows apart
        why = f"gaps could not be looked for: {_in_short(error)}"
    else:
        found = conductance(graph.backend, graph.signatures, cut.groups)
        if found <= MOST_CONDUCTANCE:
            return replace(cut, reason=f"gaps lie between the clusters: {found:.1%} of the links cross them")
        why = "no gaps lie between the clusters"
    instead = graph.cut("refined")
    return replace(instead, reason="; ".join(filter(None, (why, instead.reason))))


def _medoid(graph: ConsensusGraph) -> Cut:
    """Make several cuts, and keep the one that agrees best with the others."""
    cuts, failed = {}, []
    for name in MEDOID_OF:
        try:
            cuts[name] = graph.cut(name)
        except ValueError as error:  # Some methods cannot make n_clusters groups; the first always can.
            failed.append(f"{name} failed: {_in_short(error)}")
    kept, agreement = choose_medoid({name: cut.groups for name, cut in cuts.items()}, graph.signatures.weights)
    agreed = ", ".join(f"{name} {value:.2f}" for name, value in agreement.items())
    why = "the only cut that could be made" if len(cuts) == 1 else f"agrees best with the other cuts: {agreed}"
    return replace(cuts[kept], reason="; ".join([why, *failed]), failed=tuple(failed))


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


def _in_short(error: ValueError) -> str:
    return str(error).partition(". ")[0].rstrip(".")


# Each method is here because somebody would choose it today; the literature's others are in `paper/consensus/`. The
# figures are adjusted Rand indices, in percent, of benchmarks/quality and benchmarks/shapes.
#
# - "refined" and "gaps-or-refined" are what the default takes. Real tables: 29.2, with "kway" in their place 25.7, with
#   "medoid" 26.6, with "ncut" 26.0. Curved shapes: 86.6, 87.2, 69.2, 64.3: there the gaps decide.
# - "kway" is "refined" without the values of the rows: for partitions from elsewhere.
# - "ncut" is the paper's. "gaps" is the first half of "gaps-or-refined", for whoever knows that there are gaps.
# - "average" and "average-trimmed" leave unequal clusters unequal, where spectral cuts make them more even.
# - "medoid" looks at three families with different failings: linkage strays to outliers, recursive cuts favour even
#   sizes, K-way cuts lie between. Where one goes wrong the other two mostly agree.
METHODS: dict[str, Callable[[ConsensusGraph], Cut]] = {
    "refined": _refined,
    "gaps-or-refined": _gaps_or_refined,
    "kway": _kway,
    "ncut": _ncut,
    "gaps": _gaps,
    "average": _average,
    "average-trimmed": _trimmed_average,
    "medoid": _medoid,
}
MEDOID_OF = ("average-trimmed", "kway", "ncut")
NEEDS_VALUES = ("refined", "gaps-or-refined")  # of the rows; without them, "kway" takes the place of "refined"

# The rules for the parameters that name a method.
METHOD_RULES: Mapping[str, Rule] = {
    "consensus": choice("auto", *METHODS),  # of ClusterForest
    "method": choice(*(name for name in METHODS if name not in NEEDS_VALUES)),  # of `consensus_clustering`
}


# One graph cut into several numbers of clusters: eigenvectors are found once for all.

STARTS = 10
DENSE = GraphLimits(dense_solver=1024)  # faster where many eigenvectors are wanted


def cut_numbers(
    backend: Backend, signatures: Signatures, settings: CutSettings, numbers: Sequence[int]
) -> list[IntArray | None]:
    """Cut the graph into each number of groups; None where it cannot be.

    Cuts are not refined. "kway" takes all its eigenvectors from one embedding and fewer starts of K-means, so that the
    result may differ from a cut into one number alone where many cuts are as good.
    """
    able = [k for k in numbers if k < len(signatures)]
    if settings.method not in ("kway", *NEEDS_VALUES) or not able:
        return [_cut_alone(backend, signatures, settings, k) if k in able else None for k in numbers]
    graph = ConsensusGraph(backend, signatures, settings, DENSE)
    embedded = {"kway": spectral_embedding(graph.affinities(), max(able))}
    if settings.method == "gaps-or-refined":
        embedded["gaps"] = spectral_embedding(gap_graph(backend, signatures, DENSE), max(able))
    return [_groups(backend, signatures, embedded, k) if k in able else None for k in numbers]


def _groups(
    backend: Backend, signatures: Signatures, embedded: dict[str, FloatArray], n_clusters: int
) -> IntArray | None:
    with contextlib.suppress(ValueError):  # the graph may tell too few rows apart
        if "gaps" in embedded:
            groups = _kmeans(backend, signatures, embedded["gaps"], n_clusters)
            if conductance(backend, signatures, groups) <= MOST_CONDUCTANCE:
                return groups
        return _kmeans(backend, signatures, embedded["kway"], n_clusters)
    return None


def _kmeans(backend: Backend, signatures: Signatures, rows: FloatArray, n_clusters: int) -> IntArray:
    """Cluster the leading columns: the first, and the last but for the first, which ascend."""
    leading = np.column_stack([rows[:, :1], rows[:, rows.shape[1] - (n_clusters - 1) :]])
    unit = leading / np.linalg.norm(leading, axis=1, keepdims=True)
    return kmeans_groups(backend, unit, signatures.weights, n_clusters, STARTS)


def _cut_alone(backend: Backend, signatures: Signatures, settings: CutSettings, n_clusters: int) -> IntArray | None:
    with contextlib.suppress(ValueError):
        graph = ConsensusGraph(backend, signatures, settings._replace(n_clusters=n_clusters))
        return graph.cut(settings.method).groups
    return None
