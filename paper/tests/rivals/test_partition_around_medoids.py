"""Partitioning around medoids against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from paper.rivals.medoids import partition_around_medoids


def test_medoids_refuse_distances_that_are_not_finite():
    with pytest.raises(ValueError, match="finite"):
        partition_around_medoids(np.array([[0.0, np.nan], [np.nan, 0.0]]), 1)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), k=st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_medoids_cannot_be_swapped_for_better(seed, n, k):
    k = min(k, n)
    rows = np.random.default_rng(seed).integers(0, 6, size=(n, 2)).astype(float)
    distances = cdist(rows, rows)
    found = partition_around_medoids(distances, k)

    def cost(medoids):
        return distances[list(medoids)].min(axis=0).sum()

    assert found.cost == pytest.approx(cost(found.medoids))
    np.testing.assert_array_equal(found.labels[found.medoids], np.arange(k))
    np.testing.assert_allclose(distances[found.medoids[found.labels], np.arange(n)].sum(), found.cost)
    others = set(range(n)) - set(found.medoids.tolist())
    for out, new in itertools.product(range(k), others):
        swapped = found.medoids.copy()
        swapped[out] = new
        assert cost(swapped) >= found.cost - 1e-9


def test_medoids_of_separate_groups_are_optimal():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(12, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 4, axis=0)
    distances = cdist(rows, rows)
    best = min(distances[list(m)].min(axis=0).sum() for m in itertools.combinations(range(12), 3))
    assert partition_around_medoids(distances, 3).cost == pytest.approx(best)
