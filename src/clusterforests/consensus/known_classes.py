"""Cut the graph from rows whose classes are known: classes spread along the links, then nodes are refined.

Each class is a group of its own. Groups beyond the classes come from the cut that knows nothing of them.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests.consensus.linkage import by_size
from clusterforests.consensus.methods import ConsensusGraph, Cut
from clusterforests.consensus.placement import MostLinked, Shares, find_columns
from clusterforests.consensus.refinement import refine

STAY = 0.9  # of what arrives at a node is passed on to its neighbours
STEPS = 50  # after which next to nothing is left to pass on
ROUNDS = 3  # of refinement: with more, the shape of a class outweighs the rows that are known


class KnownRows(NamedTuple):
    """Rows whose classes are known."""

    labels: IntArray  # (T, r)
    classes: IndexArray  # (r,): from 0, without a gap
    weights: FloatArray  # (r,)


def cut_from_classes(graph: ConsensusGraph, known: KnownRows, unguided: Cut) -> Cut:
    """Cut the graph into as many groups as another cut has, each class one of them."""
    nodes, n_groups = graph.signatures, graph.n_clusters
    own = find_columns(nodes.labels, known.labels)
    fixed = np.full(len(nodes), -1, dtype=np.int32)
    fixed[own[own >= 0]] = known.classes[own >= 0]
    seeds = np.vstack([_votes(graph, known), _others(graph, known, unguided.groups, fixed)])
    groups = _spread(graph, seeds).argmax(axis=0).astype(np.int32)
    groups[fixed >= 0] = fixed[fixed >= 0]
    if len(np.unique(groups)) < n_groups:
        return replace(unguided, reason="known classes could not be spread: some would have no rows of their own")
    if nodes.values is not None:
        groups = refine(graph.backend, nodes, groups, fixed=fixed, rounds=ROUNDS)
    named = by_size(groups, nodes.weights)
    links, weights = graph.links, nodes.weights
    reason = "spread along the links from the rows of known class"
    return Cut(named, lambda _: MostLinked.of(links, named, weights), method=unguided.method, reason=reason)


def _votes(graph: ConsensusGraph, known: KnownRows) -> FloatArray:
    """Sum the links of each node with the known rows of each class, (classes, m)."""
    members = np.equal(known.classes, np.arange(int(known.classes.max()) + 1)[:, None]) * known.weights
    rows = replace(
        graph.signatures, labels=known.labels, inverse=np.arange(len(known.classes)), weights=known.weights, values=None
    )
    votes = graph.links.votes(graph.backend, rows, graph.signatures.labels, np.ascontiguousarray(members))
    return np.asarray(votes / members.sum(axis=1, keepdims=True))


def _others(graph: ConsensusGraph, known: KnownRows, groups: IntArray, fixed: IntArray) -> FloatArray:
    """Take the groups of another cut that are no class: those that are left when each class has the nearest."""
    n_groups, n_classes = graph.n_clusters, int(known.classes.max()) + 1
    if n_classes == n_groups:
        return np.empty((0, len(groups)))
    shares = Shares.of(graph.signatures, groups, n_groups).mean(graph.backend, known.labels)
    pull = np.array([known.weights[of] @ shares[of] for of in (known.classes == c for c in range(n_classes))])
    _, taken = linear_sum_assignment(-pull)
    weights = graph.signatures.weights
    rest = np.setdiff1d(np.arange(n_groups), taken)
    members = np.equal(groups, rest[:, None]) * np.where(fixed < 0, weights, 0.0)
    votes = graph.affinities().affinity.multiply(np.ascontiguousarray(members))
    return np.asarray(votes / np.maximum(members.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


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
