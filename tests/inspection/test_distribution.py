"""The consensus of half forests over pairs of rows, against plain loops."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from random_partitions import clusterings, repeated

from clusterforests import consensus_clustering
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.inspection import (
    HalfCuts,
    cdf_area,
    consensus_cdf,
    delta_area,
    half_cuts,
    half_cuts_for_each,
    pac,
    stability,
)


def cuts_of(partitions, weights=None):
    """Take partitions for the clusterings of halves."""
    members = np.asarray(partitions)
    n = members.shape[1]
    return HalfCuts(members, members[0], 3, np.arange(n), np.ones(n) if weights is None else weights.astype(float))


@settings(max_examples=150)
@given(clusterings())
def test_distribution_over_pairs(case):
    partitions, labels, counts = case
    for given_partitions, weights, pairs in (
        (partitions, None, reference.pair_shares(partitions)),
        (partitions, counts, reference.pair_shares(repeated(partitions, labels, counts)[0])),
    ):
        if not len(pairs):
            with pytest.raises(ValueError, match="No two rows"):
                consensus_cdf(cuts_of(given_partitions, weights))
            continue
        found = consensus_cdf(cuts_of(given_partitions, weights), n_points=11)
        points = np.array([i / 10 for i in range(11)])
        assert (found.points == points).all()
        assert found.cdf == pytest.approx([np.mean(pairs <= x) for x in points])
        assert cdf_area(found) == pytest.approx(1 - pairs.mean())
        assert pac(found) == pytest.approx(np.mean((pairs > 0.1) & (pairs < 0.9)))
        assert pac(found, 0.5, 0.5) == 0
        assert found.n_rows == partitions.shape[1]


def test_distribution_bounds_are_strict():
    """P of 1 / 10 and 9 / 10 is not ambiguous, and a point counts the pairs that are exactly there."""
    partitions = np.zeros((10, 3), dtype=np.int32)
    partitions[0, 1] = 1  # rows 0 and 1 are together in 9 of 10
    partitions[1:, 2] = 1  # rows 0 and 2 in 1 of 10; rows 1 and 2 in none
    found = consensus_cdf(cuts_of(partitions), n_points=11)
    assert found.values == pytest.approx([0, 0.1, 0.9])
    assert pac(found) == 0
    assert pac(found, 0.05, 0.95) == pytest.approx(2 / 3)
    assert found.cdf[[0, 1, 8, 9]] == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1])


def first_partition(members, n_clusters):
    """Combine partitions into the first of them."""
    return members[0]


def test_distribution_of_a_sample_of_rows():
    rng = np.random.default_rng(0)
    partitions = np.array([np.arange(3000) % 3, *rng.integers(0, 3, size=(9, 3000))])
    full, sample = (consensus_cdf(partitions, 3, first_partition, max_rows=n) for n in (3000, 1000))
    assert (full.n_rows, sample.n_rows) == (3000, 1000)
    assert sample.cdf == pytest.approx(full.cdf, abs=0.01)
    assert (sample.cdf == consensus_cdf(partitions, 3, first_partition, max_rows=1000).cdf).all()
    assert (sample.cdf != consensus_cdf(partitions, 3, first_partition, max_rows=1000, seed=1).cdf).any()


def test_rows_without_weight_are_not_sampled():
    partitions = np.repeat([[0, 1], [0, 0]], 50, axis=1)
    weights = np.repeat([0.0, 1.0], 50)
    assert consensus_cdf(partitions, 1, first_partition, max_rows=10, weights=weights).values.tolist() == [1]


def test_halves_that_disagree_are_ambiguous():
    """Two ways to divide four rows: each half has one of them alone, so that half of the pairs are ambiguous."""
    partitions = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    cuts = half_cuts(partitions, 2, first_partition)
    assert pac(cuts) == pytest.approx(4 / 6)
    assert cdf_area(cuts) == pytest.approx(4 / 6)
    assert stability(cuts).mean == pytest.approx(adjusted_rand(*partitions))


def test_halves_are_cut_for_several_numbers_at_once():
    rng = np.random.default_rng(0)
    partitions = rng.integers(0, 5, size=(12, 40)).astype(np.int32)
    calls = []

    def combine_many(members, numbers):
        calls.append(numbers)
        return [consensus_clustering(members, number) for number in numbers]

    several = half_cuts_for_each(partitions, [2, 3, 4], combine_many, n_splits=3)
    assert len(calls) == 7
    for number, cuts in zip([2, 3, 4], several, strict=True):
        alone = half_cuts(partitions, number, consensus_clustering, n_splits=3)
        assert (alone.labels == cuts.labels).all()
        assert (alone.whole == cuts.whole).all()
        assert cuts.n_clusters == number


def test_delta_area():
    assert delta_area([0.4, 0.5, 0.5]) == pytest.approx([0.4, 0.25, 0])
    assert delta_area([0.0, 0.0, 0.2]).tolist() == [0, 0, np.inf]
    cuts = [cuts_of([[0, 0, 1, 1]]), cuts_of([[0, 1, 2, 3]])]
    assert delta_area(cuts) == pytest.approx([2 / 3, 1 / 2])


PARTITIONS = np.array([[0, 0, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: consensus_cdf(PARTITIONS, 2, consensus_clustering, n_points=1), "n_points=1"),
        (lambda: consensus_cdf(PARTITIONS, 2, consensus_clustering, max_rows=1), "max_rows=1"),
        (lambda: consensus_cdf(PARTITIONS, 2, consensus_clustering, seed=-1), "seed=-1"),
        (lambda: consensus_cdf(PARTITIONS), "combine=None"),
        (lambda: consensus_cdf([[0], [0]], 1, consensus_clustering), "Only 1 row"),
        (lambda: pac(cuts_of(PARTITIONS), 0.9, 0.1), "low=0.9 is more than high=0.1"),
        (lambda: pac(cuts_of(PARTITIONS), -1), "low=-1"),
        (lambda: delta_area([]), "must not be empty"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
