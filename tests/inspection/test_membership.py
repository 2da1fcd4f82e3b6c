"""What partitions say of rows and clusters, against plain loops."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from random_partitions import clusterings, repeated

from clusterforests.inspection import consensus_silhouette, memberships
from clusterforests.inspection.memberships import counted, mean_of, own_membership, shares_with, sums_by_cluster


def cluster_shares(partitions, labels, weights=None):
    return shares_with(counted(partitions, labels, weights), partitions, labels, weights)


@settings(max_examples=150)
@given(clusterings())
def test_shares_are_means_over_pairs(case):
    partitions, labels, counts = case
    assert cluster_shares(partitions, labels) == pytest.approx(reference.cluster_shares(partitions, labels))
    many = repeated(*case)
    first = np.cumsum(counts) - counts
    assert cluster_shares(partitions, labels, counts) == pytest.approx(reference.cluster_shares(*many)[first])


@settings(max_examples=150)
@given(clusterings())
def test_memberships_are_means_over_companions(case):
    partitions, labels, counts = case
    soft = memberships(partitions, labels)
    assert soft == pytest.approx(reference.memberships(partitions, labels))
    assert soft.sum(axis=1) == pytest.approx(1)
    many, first = repeated(*case), np.cumsum(counts) - counts
    assert memberships(partitions, labels, counts) == pytest.approx(reference.memberships(*many)[first])


def test_means_by_cluster_count_weights():
    own, labels, counts = np.array([0.2, 0.4, 1.0]), np.array([0, 0, 1]), np.array([1.0, 3.0, 0.0])
    assert mean_of(sums_by_cluster(own, labels, counts, 2)) == pytest.approx([0.35, np.nan], nan_ok=True)


def test_memberships_by_hand():
    """Rows 0 and 1 are one cluster, 2 to 4 another. Row 2 is mistaken in one tree, where row 4 is alone."""
    partitions = [[0, 0, 1, 1, 1], [0, 0, 0, 1, 2]]
    assert memberships(partitions, [0, 0, 1, 1, 1]) == pytest.approx(
        np.array([[0.75, 0.25], [0.75, 0.25], [0.5, 0.5], [0, 1], [0, 1]])
    )


def test_an_ambiguous_row_has_its_highest_membership_elsewhere():
    partitions = np.repeat([[0, 0, 0, 1, 1]], 4, axis=0)
    partitions[0, 2] = 1
    labels = np.array([0, 0, 1, 1, 1])
    soft = memberships(partitions, labels)
    assert soft[2] == pytest.approx([0.75, 0.25])
    assert consensus_silhouette(soft, labels)[2] == pytest.approx(-2 / 3)


def test_perfect_clusters_have_membership_1_however_fine_the_trees_are():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [30, 15, 5])
    for parts in (1, 2, 10):
        partitions = labels * parts + rng.integers(0, parts, size=(20, 50))
        soft = memberships(partitions, labels)
        assert (own_membership(soft, labels) == 1).all()
        assert (consensus_silhouette(soft, labels) == 1).all()


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


@settings(max_examples=100)
@given(clusterings())
def test_silhouette_against_loops(case):
    partitions, labels, _ = case
    soft = memberships(partitions, labels)
    found = consensus_silhouette(soft, labels)
    for i, label in enumerate(labels):
        own, others = soft[i, label], np.delete(soft[i], label)
        expected = (own - others.max()) / max(own, others.max()) if len(others) else 0
        assert found[i] == pytest.approx(expected)


PARTITIONS, LABELS = np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: memberships(PARTITIONS, [0, 0, 1]), "labels must be 4 integers"),
        (lambda: memberships(PARTITIONS, [0.0, 0, 1, 1]), "labels must be 4 integers"),
        (lambda: memberships(PARTITIONS, [0, 0, 2, 2]), "without a gap"),
        (lambda: memberships(PARTITIONS, [0, 0, -1, 1]), "without a gap"),
        (lambda: memberships(PARTITIONS, LABELS, [1, 1]), "weights has 2 entries"),
        (lambda: memberships([[0, -1], [1, -1]], [0, 0]), "not clustered in any partition"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
