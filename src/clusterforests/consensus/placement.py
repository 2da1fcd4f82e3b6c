"""Place rows: assign each to a cluster by its labels in the partitions, rows of the table and new rows alike.

A row's *label vector* has its label in each partition. A *node* is a label vector that stands for all rows which have
it or are nearest to it, with their weight. A cut puts the nodes into *groups*, numbered as the cut found them. A
*cluster* is a group under its final number, 0 for the largest once all rows are placed: `group_to_cluster`. A row goes
where its links with the nodes lead it. That does not depend on the other rows of a batch.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyIntArray, FloatArray, IndexArray, Int64Array, IntArray
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import (
    PLACED_ROWS,
    Graph,
    Signatures,
    can_be_read_in_place,
    coassociate,
    find_columns,
    label_blocks,
    link_weights,
    weight_table,
)
from clusterforests.consensus.eigenvectors import ROUNDED_TO_ZERO
from clusterforests.consensus.nodes import Nodes
from clusterforests.consensus.normalized_cut import CutTree

TALLIED_ROWS = 65536  # searched at a time for the first row of each cluster
NO_ROW = np.iinfo(np.int64).max
LEAST_POWER = 1e-3  # of scale: with less, single precision can hardly tell links apart
MOST_COUNTED = 255  # partitions
SIXTEEN = 16  # nodes of a group are counted together

RowGroups = TypeVar("RowGroups")


class PlacementRule(Protocol):
    """A rule that gives rows their groups."""

    def groups(self, backend: Backend, nodes: Signatures, labels: IntArray) -> IntArray:
        """Find the groups of rows by their labels (T, r)."""


@dataclass(frozen=True)
class Links:
    """The settings of W between rows and nodes."""

    threshold: float | str
    scale: float

    @property
    def is_power(self) -> bool:
        """Whether a link is a power of the number of matches, less 1."""
        return isinstance(self.threshold, str) and self.scale > LEAST_POWER

    def kernel_sums(
        self, backend: Backend, nodes: Signatures, labels: IntArray, node_weights: FloatArray
    ) -> FloatArray:
        """Sum W times each of the node_weights (v, m) over the nodes: (v, r).

        Rows without a missing label are summed apart, so that no other row makes a difference to their rounding.
        """
        missing = labels.min(axis=0, initial=0) < 0
        if nodes.labels.min(initial=0) < 0 or (missing.any() and missing.all()):
            W = link_weights(backend, labels, nodes.labels, self.threshold, self.scale)
            return backend.multiply(W, node_weights)
        if missing.any():
            sums = np.empty((len(node_weights), labels.shape[1]))
            for some in (missing, ~missing):
                sums[:, some] = self.kernel_sums(backend, nodes, np.ascontiguousarray(labels[:, some]), node_weights)
            return sums
        table = weight_table(len(labels), self.threshold, self.scale)
        return backend.matches(nodes.labels, table).multiply(labels, node_weights)


@dataclass(frozen=True)
class Walk:
    """The rule that walks down a tree of cuts: at each cut a row goes by its vote, in place of an eigenvector's entry.

    For an eigenvector z of D^-1 W the vote sum_j W_ij z_j of a node i is its own entry times the eigenvalue and its
    degree, so that a node goes where it was cut to.
    """

    links: Links
    # (2 c, m): for each cut the vector, divided by its eigenvalue, and the weights of its part
    node_weights: FloatArray
    cutoffs: FloatArray  # (c,)
    children: IntArray  # (c, 2): the number of the next cut, or -1 - group

    def groups(self, backend: Backend, nodes: Signatures, labels: IntArray) -> IntArray:
        sums = self.links.kernel_sums(backend, nodes, labels, self.node_weights)
        entry, degree = sums[0::2], sums[1::2]
        z = np.divide(entry, np.sqrt(degree), out=np.zeros_like(entry), where=degree > 0)
        right = z >= self.cutoffs[:, None]
        rows = np.arange(labels.shape[1])
        at = np.zeros(len(rows), dtype=np.int32)
        for _ in range(len(self.cutoffs)):
            open_rows = rows[at >= 0]
            cut = at[open_rows]
            at[open_rows] = self.children[cut, right[cut, open_rows].astype(np.intp)]
        return -1 - at


@dataclass(frozen=True)
class Embedding:
    """The rule that takes the nearest centre of K-means among the leading eigenvectors."""

    links: Links
    # (1 + e, m): the weights, then the eigenvectors beside the first, divided by their eigenvalues
    node_weights: FloatArray
    length: float  # of the first eigenvector before it was scaled
    centers: FloatArray  # (groups, 1 + e)

    def groups(self, backend: Backend, nodes: Signatures, labels: IntArray) -> IntArray:
        sums = self.links.kernel_sums(backend, nodes, labels, self.node_weights)
        root = np.sqrt(sums[0])
        others = np.divide(sums[1:], root, out=np.zeros_like(sums[1:]), where=root > 0)
        rows = np.vstack([root / self.length, others])
        size = np.sqrt((rows**2).sum(axis=0))
        unit = np.divide(rows, size, out=np.zeros_like(rows), where=size > 0)
        apart = np.stack([((unit - center[:, None]) ** 2).sum(axis=0) for center in self.centers])
        nearest: IntArray = apart.argmin(axis=0).astype(np.int32)
        return nearest


@dataclass(frozen=True)
class Shares:
    """Tables that say which nodes are in each cluster of each partition: mean P with each group is summed from them."""

    first: Int64Array  # (T + 1,): where each partition's lines begin
    together: FloatArray  # (lines, groups): weight of each group's nodes in the cluster
    clustered: FloatArray  # (lines, groups): weight of each group's nodes that are in any cluster
    # The last lines of a partition's table are for a cluster without nodes, and for rows that are in no cluster.

    @classmethod
    def of(cls, nodes: Signatures, groups: IntArray, n_groups: int) -> "Shares":
        """Count the nodes of each group in each cluster of each partition."""
        parts = nodes.labels.max(axis=1).astype(np.int64) + 1
        first = np.concatenate([[0], np.cumsum(parts + 2)])
        together, clustered = np.zeros((2, int(first[-1]), n_groups))
        everyone = np.bincount(groups, nodes.weights, minlength=n_groups)
        for t, partition in enumerate(nodes.labels):
            seen = partition >= 0
            if seen.all():
                cells, weights, there = partition.astype(np.intp) * n_groups + groups, nodes.weights, everyone
            else:
                cells, weights = partition[seen].astype(np.intp) * n_groups + groups[seen], nodes.weights[seen]
                there = np.bincount(groups[seen], weights, minlength=n_groups)
            counts = np.bincount(cells, weights, minlength=int(parts[t]) * n_groups)
            together[first[t] : first[t] + parts[t]] = counts.reshape(-1, n_groups)
            clustered[first[t] : first[t + 1] - 1] = there
        return cls(first, together, clustered)

    def mean(self, backend: Backend, labels: IntArray) -> FloatArray:
        """Compute mean P (r, groups): a ratio of sums where labels are missing, 0 where no label is shared."""
        together = _core.sum_lines(labels, self.first, self.together, backend.threads)
        both = _core.sum_lines(labels, self.first, self.clustered, backend.threads)
        shares: FloatArray = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
        return shares

    def co_members(self, backend: Backend, labels: IntArray) -> FloatArray:
        """Sum over the partitions the share of each group in the row's cluster there: (r, groups)."""
        return _core.sum_lines(labels, self.first, self.by_co_member(), backend.threads)

    def by_co_member(self) -> FloatArray:
        """Compute the share of each group in each cluster of each partition."""
        mass = self.together.sum(axis=1, keepdims=True)
        table: FloatArray = np.divide(self.together, mass, out=np.zeros_like(self.together), where=mass > 0)
        return table


@dataclass(frozen=True)
class MostShared:
    """The rule that takes the group with the highest mean P."""

    shares: Shares

    def groups(self, backend: Backend, nodes: Signatures, labels: IntArray) -> IntArray:
        best: IntArray = self.shares.mean(backend, labels).argmax(axis=1).astype(np.int32)
        return best


@dataclass(frozen=True)
class MostLinked:
    """The rule that takes the group to whose nodes the links add up to most."""

    links: Links
    node_weights: FloatArray  # (groups, m): the weights of each group's nodes

    @classmethod
    def of(cls, links: Links, groups: IntArray, weights: FloatArray) -> "MostLinked":
        """Make the rule for nodes of these groups and weights."""
        return cls(links, weights * np.equal(groups, np.arange(int(groups.max()) + 1)[:, None]))

    def groups(self, backend: Backend, nodes: Signatures, labels: IntArray) -> IntArray:
        return self.counting(nodes).groups(backend, nodes, labels)

    def counting(self, nodes: Signatures) -> "CountedLinks":
        """Lay out the nodes for blocks of rows, if sums in single precision may be certain."""
        n_partitions, sixteens = len(nodes.labels), SIXTEEN * len(self.node_weights)
        missing = nodes.labels.min(initial=0) < 0
        if missing or not self.links.is_power or n_partitions > MOST_COUNTED or sixteens > len(nodes):
            return CountedLinks(self, None)
        table = weight_table(n_partitions, self.links.threshold, self.links.scale)
        groups, weights = self.node_weights.argmax(axis=0).astype(np.int32), self.node_weights.max(axis=0)
        return CountedLinks(self, _core.GroupVotes(nodes.labels, groups, weights, table))


class CountedLinks(NamedTuple):
    """The rule `MostLinked` with its nodes laid out: float64 decides only where single precision is not certain."""

    rule: MostLinked
    counter: _core.GroupVotes | None

    def groups(self, backend: Backend, nodes: Signatures, labels: AnyIntArray) -> IntArray:
        if self.counter is None:
            found = np.full(labels.shape[1], -1, dtype=np.int32)
        else:
            found = self.counter.place(labels, backend.threads)
        close = np.flatnonzero(found < 0)
        for start in range(0, len(close), PLACED_ROWS):
            some = close[start : start + PLACED_ROWS]
            own = np.ascontiguousarray(labels[:, some], dtype=np.int32)
            found[some] = self.rule.links.kernel_sums(backend, nodes, own, self.rule.node_weights).argmax(axis=0)
        return found


@dataclass(frozen=True)
class NearestNode:
    """The rule that takes the group of the node with the highest P, the first on ties: single linkage."""

    node_groups: IntArray

    def groups(self, backend: Backend, nodes: Signatures, labels: IntArray) -> IntArray:
        groups: IntArray = self.node_groups[coassociate(backend, labels, nodes.labels).argmax(axis=1)]
        return groups


@dataclass(frozen=True)
class Cut:
    """Groups of the nodes, and how other rows find theirs."""

    groups: IntArray
    # Makes the rule, for a cut that is kept. None: rows go to the group with which they share most partitions.
    rule: Callable[[], PlacementRule] | None = None
    tree: CutTree | None = None
    method: str = ""  # the one that made it, where that is another than was asked for
    reason: str | None = None  # why this one, if it was chosen
    failed: tuple[str, ...] = ()  # the cuts that could not be made, and why


@dataclass(frozen=True)
class Placement:
    """Where rows go: the rule, and the nodes that keep their group whatever the rule says."""

    nodes: Signatures
    groups: IntArray  # of the nodes
    rule: PlacementRule
    fixed_nodes: IntArray  # their numbers
    group_to_cluster: IntArray
    shares: Shares

    @classmethod
    def of(cls, cut: Cut, signatures: Signatures, *, exact: bool = False) -> "Placement":
        """Place by a cut. If it is exact the nodes stay where they were cut to."""
        n_groups = int(cut.groups.max()) + 1
        shares = Shares.of(signatures, cut.groups, n_groups)
        rule = MostShared(shares) if cut.rule is None else cut.rule()
        fixed = np.arange(len(signatures) if exact else 0, dtype=np.int32)
        return cls(signatures, cut.groups, rule, fixed, np.arange(n_groups, dtype=np.int32), shares)

    def clusters(self, backend: Backend, labels: AnyIntArray) -> IntArray:
        """Find the cluster of every row of labels (T, r)."""
        rule = self.rule.counting(self.nodes) if isinstance(self.rule, MostLinked) else self.rule
        if isinstance(rule, CountedLinks) and not len(self.fixed_nodes) and can_be_read_in_place(labels):
            return self.group_to_cluster[rule.groups(backend, self.nodes, labels)]
        placed = np.empty(labels.shape[1], dtype=np.int32)
        for where, block in label_blocks(labels):
            node = self._fixed_node(block)
            known = node >= 0
            found = np.empty(len(node), dtype=np.int32)
            found[known] = self.groups[node[known]]
            if not known.all():
                rest = block if not known.any() else np.ascontiguousarray(block[:, ~known])
                found[~known] = rule.groups(backend, self.nodes, rest)
            placed[where] = self.group_to_cluster[found]
        return placed

    def mean_shares(self, backend: Backend, labels: AnyIntArray) -> FloatArray:
        """Compute the mean P between every row of labels (T, r) and each cluster: (r, clusters)."""
        shares = np.empty((labels.shape[1], len(self.group_to_cluster)))
        for where, block in label_blocks(labels):
            shares[where, self.group_to_cluster] = self.shares.mean(backend, block)
        return shares

    def co_members(self, backend: Backend, labels: AnyIntArray) -> FloatArray:
        """Sum over the partitions the share of each cluster in where every row of labels (T, r) is: (r, clusters)."""
        sums = np.empty((labels.shape[1], len(self.group_to_cluster)))
        for where, block in label_blocks(labels):
            sums[where, self.group_to_cluster] = self.shares.co_members(backend, block)
        return sums

    def _fixed_node(self, labels: IntArray) -> IndexArray:
        """Find the fixed node with exactly these labels, -1 where there is none."""
        if not len(self.fixed_nodes):
            return np.full(labels.shape[1], -1, dtype=np.intp)
        found = find_columns(np.ascontiguousarray(self.nodes.labels[:, self.fixed_nodes]), labels)
        return np.where(found >= 0, self.fixed_nodes[found], -1)


class Tally(NamedTuple):
    """The weight of each cluster's rows, and the number of the first of them, NO_ROW if there is none."""

    weights: FloatArray
    first: Int64Array

    @classmethod
    def of(cls, found: IntArray, n_clusters: int, weights: FloatArray | None = None, start: int = 0) -> "Tally":
        """Count some rows, of which `start` is the number of the first."""
        first, counts = np.full(n_clusters, NO_ROW), np.bincount(found, minlength=n_clusters)
        missing = counts > 0
        for begin in range(0, len(found), TALLIED_ROWS):
            if not missing.any():
                break
            clusters, place = np.unique(found[begin : begin + TALLIED_ROWS], return_index=True)
            new = missing[clusters]
            first[clusters[new]] = start + begin + place[new]
            missing[clusters] = False
        mass = counts if weights is None else np.bincount(found, weights, minlength=n_clusters)
        return cls(mass.astype(np.float64), first)

    def __add__(self, other: object) -> "Tally":
        assert isinstance(other, Tally)
        return Tally(self.weights + other.weights, np.minimum(self.first, other.first))


def place(
    placement: Placement, backend: Backend, labels: AnyIntArray, weights: FloatArray | None = None
) -> tuple[Placement, IntArray]:
    """Place all rows by the rule and number the clusters by size. The nodes of a group that no row goes to keep it."""

    def find(placement: Placement) -> tuple[IntArray, Tally]:
        found = placement.clusters(backend, labels)
        return found, Tally.of(found, len(placement.group_to_cluster), weights)

    placement, found = place_everywhere(placement, find)
    return placement, placement.group_to_cluster[found]


def place_everywhere(
    placement: Placement, find: Callable[[Placement], tuple[RowGroups, Tally]]
) -> tuple[Placement, RowGroups]:
    """Do the same with rows that lie anywhere: `find` gives their groups and a tally.

    Returns the placement, which has the new numbers of the groups, and the groups of the rows.
    """
    found, tally = find(placement)
    # The loop ends, because each time more nodes keep their group.
    while len(empty := np.flatnonzero(tally.first == NO_ROW)):
        lost = np.flatnonzero(np.isin(placement.groups, empty)).astype(np.int32)
        placement = replace(placement, fixed_nodes=np.union1d(placement.fixed_nodes, lost))
        found, tally = find(placement)
    # The largest is cluster 0. Ties go by the nodes, not by the rows.
    group_to_cluster = np.empty_like(placement.group_to_cluster)
    group_to_cluster[np.argsort(-tally.weights, kind="stable")] = np.arange(len(group_to_cluster))
    return replace(placement, group_to_cluster=group_to_cluster), found


def place_rows(
    backend: Backend, nodes: Nodes, cut: Cut, partitions: AnyIntArray, weights: FloatArray | None
) -> tuple[Placement, IntArray]:
    """Place every row: by its own labels, or by those of its signature if all signatures are known."""
    placement = Placement.of(cut, nodes.signatures, exact=nodes.exact)
    every = nodes.every
    if every is None:
        return place(placement, backend, partitions, weights)
    if not nodes.exact:
        placement, found = place(placement, backend, every.labels, every.weights)
        return placement, found[every.inverse]
    with_weight = every.weights > 0
    labels = np.empty(len(every), dtype=np.int32)
    labels[with_weight] = placement.groups
    if not with_weight.all():
        labels[~with_weight] = placement.clusters(backend, every.labels[:, ~with_weight])
    return placement, labels[every.inverse]


def renumber_by_size(placement: Placement, labels: IntArray, mass: FloatArray) -> tuple[Placement, IntArray]:
    """Number the clusters of placed rows by size, largest first."""
    n_clusters = len(placement.group_to_cluster)
    order = np.argsort(-np.bincount(labels, mass, minlength=n_clusters), kind="stable")
    new_number = np.empty(n_clusters, dtype=np.int32)
    new_number[order] = np.arange(n_clusters)
    return replace(placement, group_to_cluster=new_number[placement.group_to_cluster]), new_number[labels]


def walk(weights: FloatArray, links: Links, tree: CutTree) -> Walk:
    """Turn the cuts of a tree of weighted nodes into weights of the nodes."""
    cuts = [i for i, node in enumerate(tree.nodes) if node.left >= 0]
    number = {node: position for position, node in enumerate(cuts)}
    node_weights = np.zeros((2 * len(cuts), len(weights)))
    cutoffs, children = np.empty(len(cuts)), np.empty((len(cuts), 2), dtype=np.int32)
    for position, i in enumerate(cuts):
        node = tree.nodes[i]
        w = weights[node.members]
        value = np.linalg.norm(np.sqrt(w) * node.vector)  # The vector is the vote of a vector of length 1.
        node_weights[2 * position, node.members] = w / np.sqrt(node.degrees) * node.vector / value
        node_weights[2 * position + 1, node.members] = w
        cutoffs[position] = node.cutoff
        for side, child in enumerate((node.left, node.right)):
            children[position, side] = number[child] if child in number else -1 - tree.nodes[child].label
    return Walk(links, node_weights, cutoffs, children)


def embed(graph: Graph, links: Links, rows: FloatArray, groups: IntArray) -> Embedding:
    """Turn K-means on the rows of `spectral_embedding` into weights of the nodes."""
    vectors = np.ascontiguousarray((rows[:, 1:] * (graph.first / rows[:, 0])[:, None]).T)
    node_weights = np.vstack([graph.weights, graph.scale * vectors])
    if len(vectors):
        values = (vectors * graph.apply_deflated(vectors)).sum(axis=1) / (vectors**2).sum(axis=1)
        known = np.abs(values) > ROUNDED_TO_ZERO
        node_weights[1:] *= np.divide(1.0, values, out=np.zeros_like(values), where=known)[:, None]
    length = float(np.linalg.norm(np.sqrt(graph.weights * graph.degrees)))
    mass = np.bincount(groups, graph.weights)
    centers = [np.bincount(groups, graph.weights * column) / mass for column in rows.T]
    return Embedding(links, node_weights, length, np.column_stack(centers))
