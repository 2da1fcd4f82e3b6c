"""Least-cost assignments that keep units apart and bound the sizes of clusters, against every assignment there is."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from clusterforests.consensus.assignment import (
    Apart,
    NoAssignment,
    Sizes,
    can_be_apart,
    keep_apart,
    keep_sizes,
    largest_clique,
)

NONE = np.empty((0, 2), dtype=np.int64)


def random_apart(rng, n_units):
    pairs = rng.integers(n_units, size=(int(rng.integers(0, 8)), 2))
    classes = int(rng.integers(0, 3))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Apart(classes, np.sort(pairs, axis=1))


def all_assignments(n_units, k):
    return (np.array(groups, dtype=np.int32) for groups in itertools.product(range(k), repeat=n_units))


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_assignment_that_keeps_units_apart(seed):
    rng = np.random.default_rng(seed)
    n_units, k = 6, int(rng.integers(2, 4))
    cost, apart = rng.random((n_units, k)), random_apart(rng, n_units)
    allowed = [groups for groups in all_assignments(n_units, k) if not apart.broken(groups)]
    assert can_be_apart(apart, n_units, k) == bool(allowed)
    if not allowed:
        with pytest.raises(NoAssignment):
            keep_apart(cost, apart)
        return
    found = keep_apart(cost, apart)
    assert not apart.broken(found)
    best = min(cost[np.arange(n_units), groups].sum() for groups in allowed)
    assert cost[np.arange(n_units), found].sum() == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_assignment_of_bounded_sizes(seed):
    rng = np.random.default_rng(seed)
    n_units, k = 6, int(rng.integers(2, 4))
    cost, apart = rng.random((n_units, k)), random_apart(rng, n_units)
    weights = rng.integers(1, 3, size=n_units).astype(float)
    sizes = Sizes(float(rng.integers(0, 4)), float(rng.integers(4, 8)))
    allowed = [
        groups
        for groups in all_assignments(n_units, k)
        if not apart.broken(groups) and not sizes.broken(groups, weights, k)
    ]
    if not allowed:
        with pytest.raises(NoAssignment):
            keep_sizes(cost, weights, apart, sizes)
        return
    found = keep_sizes(cost, weights, apart, sizes)
    assert not apart.broken(found)
    assert not sizes.broken(found, weights, k)
    best = min(cost[np.arange(n_units), groups].sum() for groups in allowed)
    assert cost[np.arange(n_units), found].sum() == pytest.approx(best, abs=1e-3)


def test_equal_units_that_are_apart_get_the_same_clusters_every_time():
    apart = Apart(0, np.array([[0, 1]]))
    found = [keep_apart(np.zeros((2, 2)), apart).tolist() for _ in range(3)]
    assert sorted(found[0]) == [0, 1]
    assert found[0] == found[1] == found[2]


def test_cliques():
    assert largest_clique(Apart(0, NONE), 3) == [0]
    assert largest_clique(Apart(3, NONE), 4) == [0, 1, 2]
    assert largest_clique(Apart(0, np.array([[0, 1], [1, 2], [0, 2], [2, 3]])), 4) == [0, 1, 2]


def test_an_odd_cycle_needs_three_clusters():
    cycle = Apart(0, np.array([[i, (i + 1) % 5] for i in range(5)]))
    assert not can_be_apart(cycle, 5, 2)
    assert can_be_apart(cycle, 5, 3)


def test_what_is_not_found_in_time_is_refused(monkeypatch):
    found = SimpleNamespace(x=np.array([1.0, 0.0, 0.0, 1.0]), status=1)  # the best one so far
    monkeypatch.setattr("clusterforests.consensus.assignment.milp", lambda *_, **__: found)
    cycle = Apart(0, np.array([[i, (i + 1) % 5] for i in range(5)]))
    with pytest.raises(ValueError, match=r"^cannot_link: the best assignment .* was not found in 120 seconds"):
        can_be_apart(cycle, 5, 2)
    with pytest.raises(ValueError, match=r"^cannot_link: the best assignment"):
        keep_apart(np.zeros((2, 2)), Apart(0, np.array([[0, 1]])))
