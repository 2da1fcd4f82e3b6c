"""Enforce constraints: let known classes lead the cut, and move rows until the labels keep what was asked for."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from clusterforests._utils.arrays import AnyIntArray, BoolArray, FloatArray, IndexArray, Int64Array, IntArray
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import find_columns
from clusterforests.consensus.assignment import NoAssignment, OutOfTimeError, Sizes, keep_apart, keep_sizes
from clusterforests.consensus.constraints import Constraints, RowConstraints, every_unit
from clusterforests.consensus.linkage import by_size
from clusterforests.consensus.methods import ConsensusGraph
from clusterforests.consensus.placement import Cut, MostLinked, Placement, Shares, renumber_by_size
from clusterforests.consensus.refinement import LEAST_SHARE, refine

# Known classes lead the cut: they spread along the links, then nodes are refined.

STAY = 0.9  # of what arrives at a node is passed on to its neighbours
STEPS = 50  # after which next to nothing is left to pass on
ROUNDS = 3  # of refinement: with more, the shape of a class outweighs the rows that are known


class KnownRows(NamedTuple):
    """Rows whose classes are known."""

    labels: IntArray  # (T, r)
    classes: IndexArray  # (r,): from 0, without a gap
    weights: FloatArray  # (r,)


def cut_with_known_classes(
    graph: ConsensusGraph, cut: Cut, constraints: Constraints, partitions: AnyIntArray, weights: FloatArray | None
) -> Cut:
    """Let known classes, if there are any, lead the cut: each is a group, others come from the cut that was made."""
    of_rows = constraints.of_rows
    if of_rows is None or not len(rows := of_rows.known) or graph.n_clusters == 1:
        return cut
    own = np.ones(len(rows)) if weights is None else np.where(weights[rows] > 0, weights[rows], 1.0)
    labels = np.ascontiguousarray(partitions[:, rows], dtype=np.int32)
    return cut_from_classes(graph, KnownRows(labels, of_rows.unit[rows], own), cut)


def cut_from_classes(graph: ConsensusGraph, known: KnownRows, unguided: Cut) -> Cut:
    """Cut the graph into as many groups as another cut has, each class one of them."""
    nodes = graph.signatures
    # Nodes that have the labels of known rows stay in their classes.
    own = find_columns(nodes.labels, known.labels)
    fixed = np.full(len(nodes), -1, dtype=np.int32)
    fixed[own[own >= 0]] = known.classes[own >= 0]
    # Seeds of the classes, and of groups that are no class, walk along the links; a node is of the group whose seeds
    # arrive most.
    seeds = np.vstack([_links_to_classes(graph, known), _other_groups(graph, known, unguided.groups, fixed)])
    groups = _spread(graph, seeds).argmax(axis=0).astype(np.int32)
    groups[fixed >= 0] = fixed[fixed >= 0]
    if len(np.unique(groups)) < graph.n_clusters:
        return replace(unguided, reason="known classes could not be spread: some would have no rows of their own")
    if nodes.values is not None:
        groups = refine(graph.backend, nodes, groups, fixed=fixed, rounds=ROUNDS)
    named = by_size(groups, nodes.weights)
    reason = "spread along the links from the rows of known class"
    return Cut(named, lambda: MostLinked.of(graph.links, named, nodes.weights), method=unguided.method, reason=reason)


def _links_to_classes(graph: ConsensusGraph, known: KnownRows) -> FloatArray:
    """Sum the links of each node with the known rows of each class, (classes, m)."""
    node_weights = np.equal(known.classes, np.arange(int(known.classes.max()) + 1)[:, None]) * known.weights
    rows = replace(
        graph.signatures, labels=known.labels, inverse=np.arange(len(known.classes)), weights=known.weights, values=None
    )
    sums = graph.links.kernel_sums(graph.backend, rows, graph.signatures.labels, np.ascontiguousarray(node_weights))
    return np.asarray(sums / node_weights.sum(axis=1, keepdims=True))


def _other_groups(graph: ConsensusGraph, known: KnownRows, groups: IntArray, fixed: IntArray) -> FloatArray:
    """Take the groups of another cut that are no class: those that are left when each class has the nearest."""
    n_groups, n_classes = graph.n_clusters, int(known.classes.max()) + 1
    if n_classes == n_groups:
        return np.empty((0, len(groups)))
    shares = Shares.of(graph.signatures, groups, n_groups).mean(graph.backend, known.labels)
    pull = np.array([known.weights[of] @ shares[of] for of in (known.classes == c for c in range(n_classes))])
    _, taken = linear_sum_assignment(-pull)
    rest = np.setdiff1d(np.arange(n_groups), taken)
    node_weights = np.equal(groups, rest[:, None]) * np.where(fixed < 0, graph.signatures.weights, 0.0)
    sums = graph.affinities().affinity.multiply(np.ascontiguousarray(node_weights))
    return np.asarray(sums / np.maximum(node_weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


def _spread(graph: ConsensusGraph, seeds: FloatArray) -> FloatArray:
    """Let seeds (groups, m) walk at random along the links; each group has the same in all."""
    walked = graph.affinities()
    weights, degrees = walked.weights, walked.degrees
    at = arrived = seeds / degrees
    for _ in range(STEPS):
        at = STAY * walked.affinity.multiply(np.ascontiguousarray(at * weights)) / degrees
        arrived = arrived + at
    total = (arrived @ weights)[:, None]  # 0 for a group without seeds, as where all rows are of known classes
    return np.asarray(np.divide(arrived, total, out=np.zeros_like(arrived), where=total > 0))


# The final labels keep everything: rows move at the least cost.

MOVED = 1e-2  # the least cost of a move


class RowsInClusters(NamedTuple):
    """Rows in their clusters: their labels in the partitions, weights, the clusters, and the rule that placed them."""

    partitions: AnyIntArray
    weights: FloatArray | None
    placement: Placement
    labels: IntArray

    def unit_costs(self, backend: Backend, rows: IndexArray, unit: Int64Array) -> FloatArray:
        """Compute what it costs to have units of rows in each cluster: how rarely they are together with its rows."""
        shares = self.placement.mean_shares(backend, self.partitions[:, rows])
        weights = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        weights = np.where(weights > 0, weights, 1.0)  # one without a say still has a nearest cluster
        costs = -weights[:, None] * np.log(shares + LEAST_SHARE)
        return np.column_stack([np.bincount(unit, column) for column in costs.T])


def enforce(backend: Backend, placed: RowsInClusters, constraints: Constraints) -> tuple[Placement, IntArray]:
    """Move rows to the nearest clusters that keep what is known and the sizes, and name the clusters by size again."""
    labels, n_clusters = placed.labels.copy(), len(placed.placement.group_to_cluster)
    mass = np.ones(len(labels)) if placed.weights is None else placed.weights
    # First the rows of which something is known, each unit as one.
    of_rows = constraints.of_rows
    if of_rows is not None:
        rows = of_rows.rows
        unit = of_rows.unit[rows]
        labels[rows] = keep_apart(placed.unit_costs(backend, rows, unit), of_rows.kept_apart)[unit]
    # Then all rows, where sizes are broken or a cluster is left without a row.
    lost = len(np.unique(labels)) < n_clusters
    if lost or constraints.sizes.broken(labels, mass, n_clusters):
        labels = _resize(backend, placed, constraints, labels)
    return renumber_by_size(placed.placement, labels, mass)


def _resize(backend: Backend, placed: RowsInClusters, constraints: Constraints, labels: IntArray) -> IntArray:
    """Assign rows anew at the least cost, those that belong together as one; no cluster is left without a row."""
    of_rows, sizes = constraints.of_rows, constraints.sizes
    unit, apart = every_unit(of_rows, len(labels))
    costs = placed.unit_costs(backend, np.arange(len(labels)), unit)
    mass = np.bincount(unit, placed.weights).astype(np.float64)
    at = np.empty(len(mass), dtype=np.int32)
    at[unit] = labels
    costs = np.maximum(costs - costs[np.arange(len(at)), at][:, None], MOVED)
    costs[np.arange(len(at)), at] = 0.0  # a unit moves only for the sake of the others
    sizes = Sizes(np.maximum(sizes.least, float(mass[mass > 0].min())), sizes.most)
    # Few units are tried first: those that cost least to move. If they are not enough, all may move.
    for wide in (False, True):
        movable = np.ones(len(at), dtype=bool) if wide else _movable(costs, mass, at, sizes, of_rows)
        fixed = np.bincount(at[~movable], mass[~movable], minlength=costs.shape[1]).astype(np.float64)
        within = Sizes(sizes.least - fixed, sizes.most - fixed)
        try:
            # Units that are kept apart come first and may all move, so that their numbers are the same.
            at[movable] = keep_sizes(costs[movable], mass[movable], apart, within)
        except OutOfTimeError as error:
            raise OutOfTimeError(_asked_for(constraints, costs.shape[1])) from error
        except NoAssignment as error:
            if wide:
                raise ValueError(
                    f"{_asked_for(constraints, costs.shape[1])} contradict each other: no assignment keeps them. "
                    "Change or leave out one of them."
                ) from error
        else:
            break
    return at[unit]


def _movable(
    costs: FloatArray, mass: FloatArray, at: IntArray, sizes: Sizes, of_rows: RowConstraints | None
) -> BoolArray:
    """Choose the units that may move: those of which something is known, and of each cluster the cheapest to move.

    If all weigh the same, no cluster loses more of them than are missing or too many in all, so no others need move.
    """
    movable = np.zeros(len(at), dtype=bool)
    if of_rows is not None:
        movable[: of_rows.n_units] = True
    found = np.bincount(at, mass, minlength=costs.shape[1])
    wrong = np.maximum(sizes.least - found, 0).sum() + np.maximum(found - sizes.most, 0).sum()
    count = 1 + int(np.ceil(wrong / np.median(mass[mass > 0])))
    for a in range(costs.shape[1]):
        own = np.flatnonzero(at == a)
        for b in range(costs.shape[1]) if len(own) else ():
            movable[own[np.argsort(costs[own, b], kind="stable")[:count]]] = True
    return movable


def _asked_for(constraints: Constraints, n_clusters: int) -> str:
    """Name what the user asked for."""
    names = [f"n_clusters={n_clusters}"]
    if np.max(constraints.sizes.least) > 0:
        names.append(f"min_cluster_size (at least {np.max(constraints.sizes.least):g})")
    if np.min(constraints.sizes.most) < np.inf:
        names.append(f"max_cluster_size (at most {np.min(constraints.sizes.most):g})")
    names += [] if constraints.of_rows is None else constraints.of_rows.given
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
