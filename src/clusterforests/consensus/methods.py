"""Every consensus method: its name, which graph it needs, how it groups the nodes and how other rows are placed.

To add a method, write one function and list it in METHODS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from clusterforests._utils.arrays import IntArray
from clusterforests._utils.validation import Rule, choice
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import Graph, Signatures
from clusterforests.consensus.aggregation import agree
from clusterforests.consensus.eigenvectors import spectral_embedding
from clusterforests.consensus.gaps import cut_at_gaps
from clusterforests.consensus.hypergraph import cspa, hbgf, mcla
from clusterforests.consensus.linkage import by_size, linkage_labels, trimmed_labels
from clusterforests.consensus.mixture import mixture
from clusterforests.consensus.normalized_cut import CutTree, kmeans_groups, recursive_cut
from clusterforests.consensus.placement import (
    Links,
    MostLinked,
    MostShared,
    NearestNode,
    PlacementRule,
    Shares,
    embed,
    walk,
)
from clusterforests.consensus.refinement import refine


@dataclass(frozen=True)
class Cut:
    """Groups of the nodes and the rule by which other rows find theirs."""

    groups: IntArray
    rule: Callable[[Shares], PlacementRule]  # made only for a cut that is kept
    tree: CutTree | None = None


def most_shared(groups: IntArray, shares: Shares) -> PlacementRule:
    """Place rows in the group with which they share most partitions."""
    return MostShared(shares)


def nearest_node(groups: IntArray, shares: Shares) -> PlacementRule:
    """Place rows in the group of the node with which they share most partitions."""
    return NearestNode(groups)


@dataclass(frozen=True)
class FromLabels:
    """A method that needs no graph: it groups nodes by their labels."""

    group: Callable[[Backend, Signatures, int], IntArray]
    place: Callable[[IntArray, Shares], PlacementRule] = most_shared


@dataclass(frozen=True)
class FromShares:
    """A method that needs the graph of the shares P, as a matrix."""

    group: Callable[[Graph, int], IntArray]
    place: Callable[[IntArray, Shares], PlacementRule] = most_shared


@dataclass(frozen=True)
class FromAffinity:
    """A method that needs the regularised graph W, and can do without a matrix where there are many nodes.

    The cut brings its own rule for other rows, because that comes from the same eigenvectors.
    """

    cut: Callable[[Graph, Links, int], Cut]


@dataclass(frozen=True)
class Refined:
    """A method that needs the values of the rows beside the graph; where they are not known, another that does not."""

    cut: Callable[[Graph, Links, Signatures, int], Cut]
    otherwise: str


@dataclass(frozen=True)
class MedoidOf:
    """Several methods, of which the one is kept that agrees best with the others."""

    methods: tuple[str, ...]


@dataclass(frozen=True)
class AtGapsOr:
    """The cut at gaps where it is clean, otherwise another method."""

    gaps: str
    otherwise: str


def _linkage(shares: Graph, n_clusters: int, *, method: str) -> IntArray:
    return linkage_labels(shares.W, shares.weights, n_clusters, method)


def _trimmed_linkage(shares: Graph, n_clusters: int) -> IntArray:
    return trimmed_labels(shares.W, shares.weights, n_clusters)


def _recursive(graph: Graph, links: Links, n_clusters: int, *, rule: str) -> Cut:
    """Cut again and again; rows walk down the tree of cuts."""
    tree = recursive_cut(graph, n_clusters, rule)
    return Cut(tree.labels(), lambda _: walk(graph.weights, links, tree), tree)


def _kway(graph: Graph, links: Links, n_clusters: int) -> Cut:
    """Cut into all parts at once, by K-means on the leading eigenvectors; rows go to the nearest centre."""
    rows = spectral_embedding(graph, n_clusters)
    groups = kmeans_groups(graph.backend, rows, graph.weights, n_clusters)
    return Cut(groups, lambda _: embed(graph, links, rows, groups))


def _refined(graph: Graph, links: Links, signatures: Signatures, n_clusters: int) -> Cut:
    """Cut into all parts at once, dense parts of the table no sooner than others, and refine the cut."""
    rows = spectral_embedding(graph.even(), n_clusters)
    cut = kmeans_groups(graph.backend, rows, graph.weights, n_clusters)
    groups = by_size(refine(graph.backend, signatures, cut), graph.weights)
    return Cut(groups, lambda _: MostLinked.of(links, groups, graph.weights))


ConsensusMethod: TypeAlias = FromLabels | FromShares | FromAffinity | Refined | MedoidOf | AtGapsOr

METHODS: Mapping[str, ConsensusMethod] = {
    "ncut": FromAffinity(partial(_recursive, rule="ncut")),
    "ncut-lowest": FromAffinity(partial(_recursive, rule="ncut-lowest")),
    "ncut-best": FromAffinity(partial(_recursive, rule="ncut-best")),
    "ncut-shifted": FromAffinity(partial(_recursive, rule="ncut-shifted")),
    "kway": FromAffinity(_kway),
    "refined": Refined(_refined, "kway"),
    "average": FromShares(partial(_linkage, method="average")),
    "average-trimmed": FromShares(_trimmed_linkage),
    "single": FromShares(partial(_linkage, method="single"), nearest_node),
    # Three families of cuts with different failings: linkage follows unequal sizes and strays to outliers, recursive
    # cuts favour even sizes, K-way cuts lie between. Where one goes wrong the other two mostly agree.
    "medoid": MedoidOf(("average-trimmed", "kway", "ncut")),
    "gaps": FromLabels(cut_at_gaps, nearest_node),
    "gaps-or-kway": AtGapsOr("gaps", "kway"),
    "gaps-or-refined": AtGapsOr("gaps", "refined"),
    "cspa": FromShares(cspa),
    "hbgf": FromLabels(hbgf),
    "mcla": FromLabels(mcla),
    "mixture": FromLabels(mixture),
    "agreement": FromLabels(agree),
}


def without_values(name: str) -> str:
    """Name the method that stands in for one that needs the values of the rows."""
    method = METHODS[name]
    if isinstance(method, AtGapsOr):
        return next(n for n, m in METHODS.items() if m == AtGapsOr(method.gaps, without_values(method.otherwise)))
    return method.otherwise if isinstance(method, Refined) else name


def needs_values(name: str) -> bool:
    """Say whether a method needs the values of the rows."""
    return without_values(name) != name


# The rules for the parameters that name a method.
METHOD_RULES: Mapping[str, Rule] = {
    "consensus": choice("auto", *METHODS),  # of ClusterForest
    "method": choice(*(name for name in METHODS if not needs_values(name))),  # of `consensus`
}


def works_without_matrix(method: str) -> bool:
    """Say whether the method can cut a graph that is too large for a matrix."""
    return isinstance(METHODS.get(method), FromAffinity | Refined)
