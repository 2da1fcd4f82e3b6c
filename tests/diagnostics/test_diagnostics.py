"""What partitions say of rows, clusters and the whole, against plain loops."""

import itertools

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clusterforests import consensus
from clusterforests._base.adjusted_rand import adjusted_rand
from clusterforests.diagnostics import (
    HalfCuts,
    cdf_area,
    cluster_consensus,
    cluster_shares,
    consensus_cdf,
    consensus_silhouette,
    delta_area,
    half_cuts,
    half_cuts_for_each,
    item_consensus,
    memberships,
    pac,
    stability,
)
from clusterforests.diagnostics.agreement import _best_jaccard


@st.composite
def clusterings(draw):
    """Partitions with rows left out, labels without a gap and how often each row counts."""
    n, trees, k = draw(st.integers(2, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    partitions = rng.integers(draw(st.integers(-1, 0)), 3, size=(trees, n)).astype(np.int32)
    partitions[0, (partitions < 0).all(axis=0)] = 0
    labels = np.unique(rng.integers(0, k, size=n), return_inverse=True)[1]
    return partitions, labels, rng.integers(1, 4, size=n)


def repeated(partitions, labels, counts):
    return np.repeat(partitions, counts, axis=1), np.repeat(labels, counts)


@settings(max_examples=150, deadline=None)
@given(clusterings())
def test_shares_are_means_over_pairs(case):
    partitions, labels, counts = case
    assert cluster_shares(partitions, labels) == pytest.approx(reference.cluster_shares(partitions, labels))
    many = repeated(*case)
    first = np.cumsum(counts) - counts
    assert cluster_shares(partitions, labels, counts) == pytest.approx(reference.cluster_shares(*many)[first])


@settings(max_examples=150, deadline=None)
@given(clusterings())
def test_memberships_are_means_over_companions(case):
    partitions, labels, counts = case
    soft = memberships(partitions, labels)
    assert soft == pytest.approx(reference.memberships(partitions, labels))
    assert soft.sum(axis=1) == pytest.approx(1)
    many, first = repeated(*case), np.cumsum(counts) - counts
    assert memberships(partitions, labels, counts) == pytest.approx(reference.memberships(*many)[first])


@settings(max_examples=50, deadline=None)
@given(clusterings())
def test_consensus_is_the_membership_in_the_own_cluster(case):
    partitions, labels, counts = case
    own = item_consensus(partitions, labels, counts)
    assert (own == memberships(partitions, labels, counts)[np.arange(len(labels)), labels]).all()
    means = [np.average(own[labels == c], weights=counts[labels == c]) for c in range(labels.max() + 1)]
    assert cluster_consensus(partitions, labels, counts) == pytest.approx(means)


def test_memberships_by_hand():
    """Rows 0 and 1 are one cluster, 2 to 4 another. Row 2 is mistaken in one tree, where row 4 is alone."""
    partitions = [[0, 0, 1, 1, 1], [0, 0, 0, 1, 2]]
    assert memberships(partitions, [0, 0, 1, 1, 1]) == pytest.approx(
        np.array([[0.75, 0.25], [0.75, 0.25], [0.5, 0.5], [0, 1], [0, 1]])
    )


def test_a_doubtful_row_has_its_highest_membership_elsewhere():
    partitions = np.repeat([[0, 0, 0, 1, 1]], 4, axis=0)
    partitions[0, 2] = 1
    labels = np.array([0, 0, 1, 1, 1])
    assert memberships(partitions, labels)[2] == pytest.approx([0.75, 0.25])
    assert consensus_silhouette(partitions, labels)[2] == pytest.approx(-2 / 3)


def test_perfect_clusters_have_membership_1_however_fine_the_trees_are():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [30, 15, 5])
    for parts in (1, 2, 10):
        partitions = labels * parts + rng.integers(0, parts, size=(20, 50))
        assert (item_consensus(partitions, labels) == 1).all()
        assert (cluster_consensus(partitions, labels) == 1).all()
        assert (consensus_silhouette(partitions, labels) == 1).all()


def test_memberships_are_the_sizes_of_the_clusters_where_trees_say_nothing():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [150, 100, 50])
    soft = memberships(rng.integers(0, 10, size=(400, 300)), labels)
    assert soft == pytest.approx(np.tile([1 / 2, 1 / 3, 1 / 6], (300, 1)), abs=0.03)


def test_a_row_that_is_all_of_its_cluster_is_its_own_companion():
    assert memberships([[0, 1, 1], [0, 0, 1]], [0, 1, 1])[0] == pytest.approx([0.75, 0.25])


def test_zero_weight_rows_count_for_nobody():
    rng = np.random.default_rng(0)
    partitions, labels = rng.integers(0, 3, size=(7, 20)).astype(np.int32), np.arange(20) % 3
    weights = np.where(np.arange(20) < 15, 1.0, 0.0)
    kept = cluster_shares(partitions[:, :15], labels[:15])
    assert cluster_shares(partitions, labels, weights)[:15] == pytest.approx(kept)


def test_small_weights_leave_the_row_itself_out():
    partitions, labels = np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([0, 0, 1, 1])
    half = cluster_shares(partitions, labels, np.full(4, 0.3))
    assert half == pytest.approx(cluster_shares(partitions, labels))


@settings(max_examples=100, deadline=None)
@given(clusterings())
def test_silhouette_against_loops(case):
    partitions, labels, _ = case
    soft = memberships(partitions, labels)
    found = consensus_silhouette(partitions, labels)
    for i, label in enumerate(labels):
        own, others = soft[i, label], np.delete(soft[i], label)
        expected = (own - others.max()) / max(own, others.max()) if len(others) else 0
        assert found[i] == pytest.approx(expected)


def cuts_of(partitions, weights=None):
    """Take partitions for the clusterings of halves."""
    members = np.asarray(partitions)
    n = members.shape[1]
    return HalfCuts(members, members[0], 3, np.arange(n), np.ones(n) if weights is None else weights.astype(float))


@settings(max_examples=150, deadline=None)
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
    """Two ways to divide four rows: each half has one of them alone, so that half of the pairs are doubtful."""
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
        return [consensus(members, number) for number in numbers]

    several = half_cuts_for_each(partitions, [2, 3, 4], combine_many, n_splits=3)
    assert len(calls) == 7
    for number, cuts in zip([2, 3, 4], several, strict=True):
        alone = half_cuts(partitions, number, consensus, n_splits=3)
        assert (alone.labels == cuts.labels).all()
        assert (alone.whole == cuts.whole).all()
        assert cuts.n_clusters == number


def test_delta_area():
    assert delta_area([0.4, 0.5, 0.5]) == pytest.approx([0.4, 0.25, 0])
    assert delta_area([0.0, 0.0, 0.2]).tolist() == [0, 0, np.inf]
    cuts = [cuts_of([[0, 0, 1, 1]]), cuts_of([[0, 1, 2, 3]])]
    assert delta_area(cuts) == pytest.approx([2 / 3, 1 / 2])


@settings(max_examples=100, deadline=None)
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
    kept, lost = (stability(p, 3, consensus, n_splits=6) for p in (solid, noise))
    assert kept.mean == 1
    assert kept.clusters == pytest.approx([1, 1, 1])
    assert lost.mean < 0.3
    assert lost.clusters.max() < 0.8
    assert lost.low <= lost.mean <= lost.high
    assert len(lost.scores) == 6
    again = stability(noise, 3, consensus, n_splits=6)
    assert (again.scores == lost.scores).all()
    assert (stability(noise, 3, consensus, n_splits=6, seed=1).scores != lost.scores).any()


def test_stability_names_the_cluster_that_does_not_hold():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    partitions = np.tile(truth, (30, 1))
    partitions[:, 20:] = rng.integers(1, 3, size=(30, 40))  # clusters 1 and 2 are mixed
    found = stability(partitions, 3, consensus, n_splits=5, labels=truth)
    assert found.clusters[0] == 1
    assert found.clusters[1:].max() < 0.8


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
        return consensus(members, n_clusters)

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
        return consensus(members, n_clusters)

    found = stability(partitions, 2, combine, n_splits=3, max_rows=100, labels=truth, seed=1)
    assert found.n_rows == 100
    assert set(sizes) == {100}
    assert found.clusters[:2] == pytest.approx([1, 1])
    assert np.isnan(found.clusters[2])
    assert stability(partitions, 2, combine, n_splits=3).n_rows == 401


def test_stability_counts_rows_by_weight():
    rng = np.random.default_rng(0)
    partitions = rng.integers(0, 3, size=(10, 12)).astype(np.int32)
    counts = rng.integers(1, 4, size=12)
    once = stability(partitions, 3, consensus, n_splits=4, weights=counts, labels=np.arange(12) % 3)

    def first_copies(members, n_clusters):
        first = np.cumsum(counts) - counts
        return np.repeat(consensus(members[:, first], n_clusters), counts)

    many = repeated(partitions, np.arange(12) % 3, counts)
    twice = stability(many[0], 3, first_copies, n_splits=4, labels=many[1])
    assert once.scores == pytest.approx(twice.scores)
    assert once.clusters == pytest.approx(twice.clusters)


PARTITIONS, LABELS = np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cluster_shares(PARTITIONS, [0, 0, 1]), "labels must be 4 integers"),
        (lambda: cluster_shares(PARTITIONS, [0.0, 0, 1, 1]), "labels must be 4 integers"),
        (lambda: cluster_shares(PARTITIONS, [0, 0, 2, 2]), "without a gap"),
        (lambda: cluster_shares(PARTITIONS, [0, 0, -1, 1]), "without a gap"),
        (lambda: cluster_shares(PARTITIONS, LABELS, [1, 1]), "weights has 2 entries"),
        (lambda: cluster_shares([[0, -1], [1, -1]], [0, 0]), "not clustered in any partition"),
        (lambda: memberships(PARTITIONS, [0, 0, 1]), "labels must be 4 integers"),
        (lambda: consensus_cdf(PARTITIONS, 2, consensus, n_points=1), "n_points=1"),
        (lambda: consensus_cdf(PARTITIONS, 2, consensus, max_rows=1), "max_rows=1"),
        (lambda: consensus_cdf(PARTITIONS, 2, consensus, seed=-1), "seed=-1"),
        (lambda: consensus_cdf(PARTITIONS), "combine=None"),
        (lambda: consensus_cdf([[0], [0]], 1, consensus), "Only 1 row"),
        (lambda: pac(cuts_of(PARTITIONS), 0.9, 0.1), "low=0.9 is more than high=0.1"),
        (lambda: pac(cuts_of(PARTITIONS), -1), "low=-1"),
        (lambda: delta_area([]), "must not be empty"),
        (lambda: stability(PARTITIONS[:1], 2, consensus), "at least 2"),
        (lambda: stability(PARTITIONS, 2, "average"), "combine='average'"),
        (lambda: stability(PARTITIONS, 5, consensus), "n_clusters=5"),
        (lambda: stability(PARTITIONS, 2, consensus, n_splits=0), "n_splits=0"),
        (lambda: stability(PARTITIONS, 2, consensus, level=2), "level=2"),
        (lambda: stability(PARTITIONS, 2, lambda p, k: [0, 1]), "combine must return"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
