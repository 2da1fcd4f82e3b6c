"""Assign units to clusters at the least cost, with some kept apart and the sizes of clusters bounded."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clusterforests._utils.arrays import FloatArray, IndexArray, Int64Array, IntArray
from clusterforests._utils.random import Purpose, stream, uniform

TIES = 1e-5  # costs differ at random by so much, so that the cheapest assignment is the same for any solver
SECONDS = 120.0
ROUNDING = 1e-9  # of a sum of weights
NO_TIME = 1  # status of the solver


class Apart(NamedTuple):
    """Units that are kept apart: the first `classes` from each other, and those of every pair."""

    classes: int
    pairs: Int64Array  # (p, 2)

    def broken(self, groups: IntArray) -> bool:
        """Tell whether two units that are kept apart are in one cluster."""
        own = groups[: self.classes]
        return bool((groups[self.pairs[:, 0]] == groups[self.pairs[:, 1]]).any()) or len(np.unique(own)) < len(own)

    def related(self, n_units: int) -> IntArray:
        """Number the parts of the units between which nothing is kept apart."""
        chain = np.column_stack([np.arange(self.classes - 1), np.arange(1, self.classes)]) if self.classes else None
        pairs = self.pairs if chain is None else np.vstack([self.pairs, chain])
        graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_units, n_units))
        parts: IntArray = connected_components(graph, directed=False)[1]
        return parts


class Sizes(NamedTuple):
    """The least and the most that the units of each cluster, or of all of them alike, may weigh."""

    least: float | FloatArray = 0.0
    most: float | FloatArray = np.inf

    def broken(self, groups: IntArray, weights: FloatArray, n_clusters: int) -> bool:
        """Tell whether a cluster is too small or too large."""
        found = np.bincount(groups, weights, minlength=n_clusters)
        slack = ROUNDING * weights.sum()
        return bool((found < self.least - slack).any() or (found > self.most + slack).any())


class NoAssignment(Exception):
    """No assignment keeps what is asked for."""


class OutOfTimeError(ValueError):
    """The best assignment was not found in time. The best one so far would depend on the speed of the machine."""

    def __init__(self, asked: str = "cannot_link") -> None:
        super().__init__(
            f"{asked}: the best assignment of rows to clusters that keeps this was not found in {SECONDS:g} seconds. "
            "Leave out pairs, widen the sizes, or ask for another n_clusters."
        )


def keep_apart(cost: FloatArray, apart: Apart) -> IntArray:
    """Give units the clusters of least total cost (units, clusters) with those apart that must be.

    Only where the cheapest cluster of each unit breaks a wish is there something to solve.
    """
    groups: IntArray = cost.argmin(axis=1).astype(np.int32)
    if not apart.broken(groups):
        return groups
    part = apart.related(len(cost))
    for number in np.unique(part):
        units = np.flatnonzero(part == number)
        inside = _within(apart, units)
        if inside.broken(groups[units]):
            groups[units] = _solve(cost[units], inside)
    return groups


def keep_sizes(cost: FloatArray, weights: FloatArray, apart: Apart, sizes: Sizes) -> IntArray:
    """Do the same for units of these weights with the sizes of the clusters bounded too."""
    groups: IntArray = cost.argmin(axis=1).astype(np.int32)
    if not apart.broken(groups) and not sizes.broken(groups, weights, cost.shape[1]):
        return groups
    return _solve(cost, apart, weights, sizes)


def _within(apart: Apart, units: IndexArray) -> Apart:
    """Take the wishes among some units, which ascend, so that classes stay first."""
    inside = np.isin(apart.pairs, units).all(axis=1)
    return Apart(int((units < apart.classes).sum()), np.searchsorted(units, apart.pairs[inside]))


def _solve(cost: FloatArray, apart: Apart, weights: FloatArray | None = None, sizes: Sizes | None = None) -> IntArray:
    """Solve the integer programme: x[u, k] is 1 if unit u is in cluster k."""
    n_units, k = cost.shape
    places = np.arange(n_units * k).reshape(n_units, k)
    scale = max(float(np.ptp(cost)), np.finfo(np.float64).tiny)
    ties = uniform(stream(0, Purpose.ASSIGNMENT_TIES, np.arange(n_units * k)))
    rows = [LinearConstraint(_sums(places, places.size), 1, 1)]
    if apart.classes:
        rows.append(LinearConstraint(_sums(places[: apart.classes].T, places.size), -np.inf, 1))
    if len(apart.pairs):
        pairs = np.stack([places[apart.pairs[:, 0]], places[apart.pairs[:, 1]]], axis=-1).reshape(-1, 2)
        rows.append(LinearConstraint(_sums(pairs, places.size), -np.inf, 1))
    if weights is not None and sizes is not None:
        mass = _sums(places.T, places.size, np.tile(weights, k))
        slack = ROUNDING * weights.sum()
        rows.append(LinearConstraint(mass, sizes.least - slack, sizes.most + slack))
    found = milp(
        (cost / scale).ravel() + TIES * ties,
        integrality=np.ones(places.size),
        bounds=Bounds(0, 1),
        constraints=rows,
        options={"mip_rel_gap": 0.0, "time_limit": SECONDS},
    )
    if found.status == NO_TIME:
        raise OutOfTimeError
    if found.x is None:
        raise NoAssignment
    groups: IntArray = found.x.reshape(n_units, k).argmax(axis=1).astype(np.int32)
    return groups


def _sums(places: IndexArray, size: int, values: FloatArray | None = None) -> csr_array:
    """Make a matrix whose lines sum up the variables at some places."""
    lines, width = places.shape
    given = np.ones(places.size) if values is None else values
    return csr_array((given, places.ravel(), np.arange(0, places.size + 1, width)), shape=(lines, size))


def largest_clique(apart: Apart, n_units: int) -> list[int]:
    """Find units that are all apart from each other: as many as adding one after the other finds."""
    near = _neighbours(apart, n_units)
    best: list[int] = []
    for start in range(n_units):
        clique, left = [start], set(near[start])
        while left:
            most = max(sorted(left), key=lambda unit: len(near[unit] & left))
            clique.append(most)
            left &= near[most]
        best = max(best, clique, key=len)
    return sorted(best)


def can_be_apart(apart: Apart, n_units: int, n_clusters: int) -> bool:
    """Tell whether so many clusters can keep units apart; only where one after the other fails is it solved."""
    near = _neighbours(apart, n_units)
    taken: list[set[int]] = [set() for _ in range(n_units)]  # clusters of the neighbours
    left = set(range(n_units))
    while left:
        unit = max(sorted(left), key=lambda u: (len(taken[u]), len(near[u])))
        left.remove(unit)
        free = set(range(n_clusters)) - taken[unit]
        if not free:
            break
        for other in near[unit]:
            taken[other].add(min(free))
    else:
        return True
    try:
        keep_apart(np.zeros((n_units, n_clusters)), apart)
    except NoAssignment:
        return False
    return True


def _neighbours(apart: Apart, n_units: int) -> list[set[int]]:
    """List the units from which each is apart."""
    near: list[set[int]] = [set() for _ in range(n_units)]
    for a, b in apart.pairs.tolist():
        near[a].add(b)
        near[b].add(a)
    for unit in range(apart.classes):
        near[unit] |= set(range(apart.classes)) - {unit}
    return near
