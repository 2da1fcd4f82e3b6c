"""Keep in the final labels what the user asked for: rows together, rows apart, known classes, sizes of clusters."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyIntArray, BoolArray, FloatArray, IndexArray, Int64Array, IntArray
from clusterforests.backends import Backend
from clusterforests.consensus.assignment import (
    Apart,
    NoAssignment,
    OutOfTimeError,
    Sizes,
    can_be_apart,
    keep_apart,
    keep_sizes,
    largest_clique,
)
from clusterforests.consensus.guidance import Guidance
from clusterforests.consensus.known_classes import KnownRows, cut_from_classes
from clusterforests.consensus.methods import ConsensusGraph, Cut
from clusterforests.consensus.placement import Placement
from clusterforests.consensus.refinement import LEAST_SHARE

NAMED = 8  # units of a contradiction
MOVED = 1e-2  # the least cost of a move


class Placed(NamedTuple):
    """Rows in their clusters: their labels in the partitions, weights, the clusters, and the rule that placed them."""

    partitions: AnyIntArray
    weights: FloatArray | None
    placement: Placement
    labels: IntArray


def apart_of(guidance: Guidance) -> Apart:
    """Say which units are kept apart."""
    return Apart(len(guidance.classes), guidance.apart)


def check_guidance(guidance: Guidance, n_clusters: int) -> None:
    """Refuse what so many clusters cannot keep, and name the rows."""
    if len(guidance.classes) > n_clusters:
        raise ValueError(
            f"known_labels names {len(guidance.classes)} classes ({_listed(map(repr, guidance.classes))}), more than "
            f"n_clusters={n_clusters}. Raise n_clusters, or join classes."
        )
    clique = largest_clique(apart_of(guidance), guidance.n_units)
    if len(clique) > n_clusters:
        raise ValueError(
            f"cannot_link needs {len(clique)} clusters, more than n_clusters={n_clusters}: "
            f"{_listed(map(guidance.name, clique))} are all to be apart from each other. Raise n_clusters, or leave "
            "out pairs."
        )
    if len(clique) > 1 and not _can_be_kept(guidance, n_clusters):
        units = np.unique(guidance.apart)
        raise ValueError(
            f"cannot_link cannot be kept with n_clusters={n_clusters}: no assignment of {len(units)} groups of rows, "
            f"among them {_listed(map(guidance.name, units.tolist()))}, keeps all pairs apart. Raise n_clusters, or "
            "leave out pairs."
        )


def least_clusters(guidance: Guidance | None, most: int) -> int:
    """Find the lowest number of clusters that can keep what is known, one above `most` if none up to it can."""
    if guidance is None:
        return 1
    lowest = max(1, len(guidance.classes), len(largest_clique(apart_of(guidance), guidance.n_units)))
    return next((k for k in range(lowest, most + 1) if _can_be_kept(guidance, k)), most + 1)


def _can_be_kept(guidance: Guidance, n_clusters: int) -> bool:
    return can_be_apart(apart_of(guidance), guidance.n_units, n_clusters)


def _listed(names: "map[str]") -> str:
    every = list(names)
    return ", ".join(every[:NAMED]) + (", ..." if len(every) > NAMED else "")


def cut_with(
    graph: ConsensusGraph,
    kept: Cut,
    guidance: Guidance | None,
    partitions: AnyIntArray,
    weights: FloatArray | None,
) -> Cut:
    """Let known classes, if there are any, lead the cut."""
    if guidance is None or not len(rows := guidance.known) or graph.n_clusters == 1:
        return kept
    own = np.ones(len(rows)) if weights is None else np.where(weights[rows] > 0, weights[rows], 1.0)
    labels = np.ascontiguousarray(partitions[:, rows], dtype=np.int32)
    return cut_from_classes(graph, KnownRows(labels, guidance.unit[rows], own), kept)


def keep(backend: Backend, placed: Placed, guidance: Guidance | None, sizes: Sizes) -> tuple[Placement, IntArray]:
    """Move rows to the nearest clusters that keep what is known and the sizes, and name the clusters by size again."""
    labels, n_clusters = placed.labels.copy(), len(placed.placement.names)
    mass = np.ones(len(labels)) if placed.weights is None else placed.weights
    if guidance is not None:
        rows = guidance.rows
        unit = guidance.unit[rows]
        labels[rows] = keep_apart(_unit_costs(backend, placed, rows, unit), apart_of(guidance))[unit]
    lost = len(np.unique(labels)) < n_clusters
    if lost or sizes.broken(labels, mass, n_clusters):
        labels = _resize(backend, placed, guidance, sizes, labels)
    return name_by_size(placed.placement, labels, mass)


def name_by_size(placement: Placement, labels: IntArray, mass: FloatArray) -> tuple[Placement, IntArray]:
    """Name the clusters of placed rows by size, largest first."""
    n_clusters = len(placement.names)
    order = np.argsort(-np.bincount(labels, mass, minlength=n_clusters), kind="stable")
    names = np.empty(n_clusters, dtype=np.int32)
    names[order] = np.arange(n_clusters)
    return replace(placement, names=names[placement.names]), names[labels]


def _costs(backend: Backend, placed: Placed, rows: IndexArray) -> FloatArray:
    """Compute what it costs to have rows in each cluster: how rarely they are together with its rows."""
    shares = placed.placement.mean_shares(backend, placed.partitions[:, rows])
    weights = np.ones(len(rows)) if placed.weights is None else placed.weights[rows]
    weights = np.where(weights > 0, weights, 1.0)  # one without a say still has a nearest cluster
    return np.asarray(-weights[:, None] * np.log(shares + LEAST_SHARE))


def _unit_costs(backend: Backend, placed: Placed, rows: IndexArray, unit: Int64Array) -> FloatArray:
    costs = _costs(backend, placed, rows)
    return np.column_stack([np.bincount(unit, column) for column in costs.T])


def _resize(backend: Backend, placed: Placed, guidance: Guidance | None, sizes: Sizes, labels: IntArray) -> IntArray:
    """Assign rows anew at the least cost, those that belong together as one; no cluster is left without a row."""
    unit, apart = every_unit(guidance, len(labels))
    costs = _unit_costs(backend, placed, np.arange(len(labels)), unit)
    mass = np.bincount(unit, placed.weights).astype(np.float64)
    at = np.empty(len(mass), dtype=np.int32)
    at[unit] = labels
    costs = np.maximum(costs - costs[np.arange(len(at)), at][:, None], MOVED)
    costs[np.arange(len(at)), at] = 0.0  # a unit moves only for the sake of the others
    asked = _asked(costs.shape[1], sizes, guidance)
    lightest = float(mass[mass > 0].min())
    sizes = Sizes(np.maximum(sizes.least, lightest), sizes.most)
    for wide in (False, True):
        movable = _movable(costs, mass, at, sizes, guidance, wide=wide)
        fixed = np.bincount(at[~movable], mass[~movable], minlength=costs.shape[1]).astype(np.float64)
        within = Sizes(sizes.least - fixed, sizes.most - fixed)
        try:
            at[movable] = keep_sizes(costs[movable], mass[movable], apart, within)
        except OutOfTimeError as error:
            raise OutOfTimeError(asked) from error
        except NoAssignment as error:
            if wide:
                raise ValueError(
                    f"{asked} contradict each other: no assignment keeps them. Change or leave out one of them."
                ) from error
        else:
            break
    return at[unit]


def every_unit(guidance: Guidance | None, n_rows: int) -> tuple[Int64Array, Apart]:
    """Number the units of all rows: those that are guided first, then every other row by itself."""
    if guidance is None:
        return np.arange(n_rows), Apart(0, np.empty((0, 2), dtype=np.int64))
    unit, free = guidance.unit.copy(), guidance.unit < 0
    unit[free] = guidance.n_units + np.arange(int(free.sum()))
    return unit, apart_of(guidance)


def _movable(
    costs: FloatArray, mass: FloatArray, at: IntArray, sizes: Sizes, guidance: Guidance | None, *, wide: bool
) -> BoolArray:
    """Choose the units that may move: guided ones, and of each cluster those that cost least in each other.

    If all weigh the same, no cluster loses more of them than are missing or too many in all, so no others need move.
    """
    movable = np.full(len(at), wide)
    if guidance is not None:
        movable[: guidance.n_units] = True
    found = np.bincount(at, mass, minlength=costs.shape[1])
    wrong = np.maximum(sizes.least - found, 0).sum() + np.maximum(found - sizes.most, 0).sum()
    count = 1 + int(np.ceil(wrong / np.median(mass[mass > 0])))
    for a in range(costs.shape[1]):
        own = np.flatnonzero(at == a)
        for b in range(costs.shape[1]) if len(own) else ():
            movable[own[np.argsort(costs[own, b], kind="stable")[:count]]] = True
    return movable


def _asked(n_clusters: int, sizes: Sizes, guidance: Guidance | None) -> str:
    """Name what the user asked for."""
    names = [f"n_clusters={n_clusters}"]
    if np.max(sizes.least) > 0:
        names.append(f"min_cluster_size (at least {np.max(sizes.least):g})")
    if np.min(sizes.most) < np.inf:
        names.append(f"max_cluster_size (at most {np.min(sizes.most):g})")
    names += [] if guidance is None else guidance.given
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
