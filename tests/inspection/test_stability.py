"""Stability, against plain loops."""

import itertools

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from random_partitions import clusterings, repeated
from sklearn.metrics import adjusted_rand_score

from clusterforests import consensus_clustering
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.inspection import HalfCuts, consensus_cdf, half_cuts, pac, stability
from clusterforests.inspection.stability import _best_jaccard


def agreement(partitions, n_clusters, combine=consensus_clustering, **options):
    return stability(half_cuts(partitions, n_clusters, combine, **options))


@settings(max_examples=100)
@given(clusterings(), st.integers(0, 2**32 - 1))
def test_agreement_of_two_labellings(case, seed):
    _, labels, counts = case
    other = np.random.default_rng(seed).integers(0, 3, size=len(labels))
    expected = adjusted_rand_score(np.repeat(labels, counts), np.repeat(other, counts))
    assert adjusted_rand(labels, other, counts.astype(float)) == pytest.approx(expected)
    found = np.where(np.random.default_rng(seed).random(len(labels)) < 0.3, -1, other)
    best = _best_jaccard(labels, found, np.ones(len(labels)), labels.max() + 1)
    assert best == pytest.approx(reference.best_jaccard(labels, found), nan_ok=True)


def test_stability_tells_structure_from_noise():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    flip = rng.random((40, 60)) < 0.1
    solid = np.where(flip, rng.integers(0, 3, size=(40, 60)), truth)
    noise = rng.integers(0, 3, size=(40, 60))
    kept, lost = (agreement(p, 3, n_splits=6) for p in (solid, noise))
    assert kept.mean == 1
    assert kept.clusters == pytest.approx([1, 1, 1])
    assert kept.recovered.tolist() == [1, 1, 1]
    assert lost.mean < 0.3
    assert lost.clusters.max() < 0.8
    assert lost.low <= lost.mean <= lost.high
    assert len(lost.scores) == 6
    again = agreement(noise, 3, n_splits=6)
    assert (again.scores == lost.scores).all()
    assert (agreement(noise, 3, n_splits=6, seed=1).scores != lost.scores).any()


def test_stability_names_the_cluster_that_does_not_hold():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    partitions = np.tile(truth, (30, 1))
    partitions[:, 20:] = rng.integers(1, 3, size=(30, 40))  # clusters 1 and 2 are mixed
    found = agreement(partitions, 3, n_splits=5, labels=truth)
    assert found.clusters[0] == 1
    assert found.clusters[1:].max() < 0.8
    assert found.recovered[0] == 1
    assert found.recovered[1:].max() < 0.8


def test_stability_halves_share_no_partition():
    partitions = np.array([[0, 1, *bits] for bits in itertools.product([0, 1], repeat=3)])[:7]
    seen = []

    def spy(members, n_clusters):
        seen.append({tuple(member) for member in members.tolist()})
        return np.arange(5) % n_clusters

    assert agreement(partitions, 2, spy, n_splits=4).mean == 1
    assert [len(members) for members in seen] == [7] + [3] * 8
    assert all(not first & second for first, second in zip(seen[1::2], seen[2::2], strict=True))
    assert len({frozenset(members) for members in seen[1:]}) > 4  # the splits differ


def test_stability_with_rows_that_a_half_does_not_cluster():
    partitions = np.tile(np.repeat([0, 1], 6), (4, 1))
    partitions[1:, 0] = -1  # row 0 is clustered only by the first partition, row 11 only by the last
    partitions[:3, 11] = -1
    sizes = []

    def combine(members, n_clusters):
        sizes.append(members.shape[1])
        assert (members >= 0).any(axis=0).all()
        return consensus_clustering(members, n_clusters)

    found = agreement(partitions, 2, combine, n_splits=8, labels=np.repeat([0, 1], 6))
    assert found.mean == 1
    assert found.clusters == pytest.approx([1, 1])
    assert set(sizes) <= {10, 11, 12}
    assert min(sizes) < 12


def test_stability_of_a_sample_of_rows():
    rng = np.random.default_rng(0)
    truth = np.append(np.arange(400) % 2, 2)  # cluster 2 has one row, which the sample lacks
    partitions = np.where(rng.random((20, 401)) < 0.02, 1 - truth % 2, truth % 2)
    sizes = []

    def combine(members, n_clusters):
        sizes.append(members.shape[1])
        return consensus_clustering(members, n_clusters)

    found = agreement(partitions, 2, combine, n_splits=3, max_rows=100, labels=truth, seed=1)
    assert found.n_rows == 100
    assert set(sizes) == {100}
    assert found.clusters[:2] == pytest.approx([1, 1])
    assert np.isnan(found.clusters[2])
    assert np.isnan(found.recovered[2])
    assert agreement(partitions, 2, combine, n_splits=3).n_rows == 401


def test_stability_counts_rows_by_weight():
    rng = np.random.default_rng(0)
    partitions = rng.integers(0, 3, size=(10, 12)).astype(np.int32)
    counts = rng.integers(1, 4, size=12)
    once = agreement(partitions, 3, n_splits=4, weights=counts, labels=np.arange(12) % 3)

    def first_copies(members, n_clusters):
        first = np.cumsum(counts) - counts
        return np.repeat(consensus_clustering(members[:, first], n_clusters), counts)

    many = repeated(partitions, np.arange(12) % 3, counts)
    twice = agreement(many[0], 3, first_copies, n_splits=4, labels=many[1])
    assert once.scores == pytest.approx(twice.scores)
    assert once.clusters == pytest.approx(twice.clusters)


# The consensus of half forests over pairs of rows.


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
        assert found.values @ found.mass == pytest.approx(pairs.mean())
        ambiguous = np.mean((pairs > 0.1) & (pairs < 0.9))
        assert pac(cuts_of(given_partitions, weights)) == pytest.approx(ambiguous)
        assert pac(cuts_of(given_partitions, weights), 0.5, 0.5) == 0
        assert found.n_rows == partitions.shape[1]


def test_distribution_bounds_are_strict():
    """P of 1 / 10 and 9 / 10 is not ambiguous, and a point counts the pairs that are exactly there."""
    partitions = np.zeros((10, 3), dtype=np.int32)
    partitions[0, 1] = 1  # rows 0 and 1 are together in 9 of 10
    partitions[1:, 2] = 1  # rows 0 and 2 in 1 of 10; rows 1 and 2 in none
    cuts = cuts_of(partitions)
    found = consensus_cdf(cuts, n_points=11)
    assert found.values == pytest.approx([0, 0.1, 0.9])
    assert pac(cuts) == 0
    assert pac(cuts, 0.05, 0.95) == pytest.approx(2 / 3)
    assert found.cdf[[0, 1, 8, 9]] == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1])


def first_partition(members, n_clusters):
    """Combine partitions into the first of them."""
    return members[0]


def test_distribution_of_a_sample_of_rows():
    rng = np.random.default_rng(0)
    partitions = np.array([np.arange(3000) % 3, *rng.integers(0, 3, size=(9, 3000))])
    full, sample = (consensus_cdf(half_cuts(partitions, 3, first_partition, max_rows=n)) for n in (3000, 1000))
    assert (full.n_rows, sample.n_rows) == (3000, 1000)
    assert sample.cdf == pytest.approx(full.cdf, abs=0.01)
    other = half_cuts(partitions, 3, first_partition, max_rows=1000, seed=1)
    assert (sample.cdf != consensus_cdf(other).cdf).any()


def test_rows_without_weight_are_not_sampled():
    partitions = np.repeat([[0, 1], [0, 0]], 50, axis=1)
    weights = np.repeat([0.0, 1.0], 50)
    cuts = half_cuts(partitions, 1, first_partition, max_rows=10, weights=weights)
    assert consensus_cdf(cuts).values.tolist() == [1]


def test_halves_that_disagree_are_ambiguous():
    """Two ways to divide four rows: each half has one of them alone, so that half of the pairs are ambiguous."""
    partitions = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    cuts = half_cuts(partitions, 2, first_partition)
    assert pac(cuts) == pytest.approx(4 / 6)
    assert stability(cuts).mean == pytest.approx(adjusted_rand(*partitions))


PARTITIONS = np.array([[0, 0, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: agreement(PARTITIONS[:1], 2), "at least 2"),
        (lambda: agreement(PARTITIONS, 2, "average"), "combine='average'"),
        (lambda: agreement(PARTITIONS, 5), "n_clusters=5"),
        (lambda: agreement(PARTITIONS, 2, n_splits=0), "n_splits=0"),
        (lambda: agreement(PARTITIONS, 2, max_rows=1), "max_rows=1"),
        (lambda: agreement(PARTITIONS, 2, seed=-1), "seed=-1"),
        (lambda: agreement(PARTITIONS, 2, lambda p, k: [0, 1]), "combine must return"),
        (lambda: stability(cuts_of(PARTITIONS), level=2), "level=2"),
        (lambda: consensus_cdf(cuts_of(PARTITIONS), n_points=1), "n_points=1"),
        (lambda: consensus_cdf(cuts_of([[0], [0]])), "Only 1 row"),
        (lambda: pac(cuts_of(PARTITIONS), 0.9, 0.1), "low=0.9 is more than high=0.1"),
        (lambda: pac(cuts_of(PARTITIONS), -1), "low=-1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
