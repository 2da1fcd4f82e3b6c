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
from clusterforests.inspection import stability
from clusterforests.inspection.stability import _best_jaccard


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
    kept, lost = (stability(p, 3, consensus_clustering, n_splits=6) for p in (solid, noise))
    assert kept.mean == 1
    assert kept.clusters == pytest.approx([1, 1, 1])
    assert kept.recovered.tolist() == [1, 1, 1]
    assert lost.mean < 0.3
    assert lost.clusters.max() < 0.8
    assert lost.low <= lost.mean <= lost.high
    assert len(lost.scores) == 6
    again = stability(noise, 3, consensus_clustering, n_splits=6)
    assert (again.scores == lost.scores).all()
    assert (stability(noise, 3, consensus_clustering, n_splits=6, seed=1).scores != lost.scores).any()


def test_stability_names_the_cluster_that_does_not_hold():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    partitions = np.tile(truth, (30, 1))
    partitions[:, 20:] = rng.integers(1, 3, size=(30, 40))  # clusters 1 and 2 are mixed
    found = stability(partitions, 3, consensus_clustering, n_splits=5, labels=truth)
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

    assert stability(partitions, 2, spy, n_splits=4).mean == 1
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

    found = stability(partitions, 2, combine, n_splits=8, labels=np.repeat([0, 1], 6))
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

    found = stability(partitions, 2, combine, n_splits=3, max_rows=100, labels=truth, seed=1)
    assert found.n_rows == 100
    assert set(sizes) == {100}
    assert found.clusters[:2] == pytest.approx([1, 1])
    assert np.isnan(found.clusters[2])
    assert np.isnan(found.recovered[2])
    assert stability(partitions, 2, combine, n_splits=3).n_rows == 401


def test_stability_counts_rows_by_weight():
    rng = np.random.default_rng(0)
    partitions = rng.integers(0, 3, size=(10, 12)).astype(np.int32)
    counts = rng.integers(1, 4, size=12)
    once = stability(partitions, 3, consensus_clustering, n_splits=4, weights=counts, labels=np.arange(12) % 3)

    def first_copies(members, n_clusters):
        first = np.cumsum(counts) - counts
        return np.repeat(consensus_clustering(members[:, first], n_clusters), counts)

    many = repeated(partitions, np.arange(12) % 3, counts)
    twice = stability(many[0], 3, first_copies, n_splits=4, labels=many[1])
    assert once.scores == pytest.approx(twice.scores)
    assert once.clusters == pytest.approx(twice.clusters)


PARTITIONS = np.array([[0, 0, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stability(PARTITIONS[:1], 2, consensus_clustering), "at least 2"),
        (lambda: stability(PARTITIONS, 2, "average"), "combine='average'"),
        (lambda: stability(PARTITIONS, 5, consensus_clustering), "n_clusters=5"),
        (lambda: stability(PARTITIONS, 2, consensus_clustering, n_splits=0), "n_splits=0"),
        (lambda: stability(PARTITIONS, 2, consensus_clustering, level=2), "level=2"),
        (lambda: stability(PARTITIONS, 2, lambda p, k: [0, 1]), "combine must return"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
