"""The cut that agrees best with the others, and linkage that does not follow outliers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clusterforests import consensus
from clusterforests.combining.linkage import linkage_labels, trimmed_labels
from clusterforests.combining.medoid import agreement, medoid


def blocks(sizes, inside=0.9, between=0.1):
    group = np.repeat(np.arange(len(sizes)), sizes)
    P = np.where(group[:, None] == group[None, :], inside, between)
    np.fill_diagonal(P, 1.0)
    return P, group


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_agreement_is_the_adjusted_rand_index_of_many_copies(pairs):
    """Over pairs of draws with replacement it is the index of rows repeated without end."""
    a, b = np.array(pairs).T
    copies = 1000
    expected = adjusted_rand_score(np.repeat(a, copies), np.repeat(b, copies))
    assert agreement(a, b, np.ones(len(a))) == pytest.approx(expected, abs=5e-3)


def test_weights_are_repeats():
    rng = np.random.default_rng(0)
    a, b, w = rng.integers(0, 3, 30), rng.integers(0, 4, 30), rng.integers(1, 5, 30)
    repeated = agreement(np.repeat(a, w), np.repeat(b, w), np.ones(w.sum()))
    assert agreement(a, b, w.astype(float)) == pytest.approx(repeated)
    assert agreement(a, b, w / 7) == pytest.approx(repeated)


def test_the_odd_one_out_loses():
    good, near, odd = (np.array(g) for g in ([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1]))
    name, agreements = medoid({"odd": odd, "near": near, "good": good}, np.ones(6))
    assert name in ("near", "good")
    assert agreements["odd"] == min(agreements.values())
    assert medoid({"first": good, "second": good, "third": good}, np.ones(6))[0] == "first"


def test_trimmed_linkage_leaves_outliers_to_the_clusters():
    P, group = blocks([30, 25, 1, 1], between=0.3)
    P[55:, :55] = P[:55, 55:] = 0.05  # two outliers, nearer to the second group
    P[55:, 30:55] = P[30:55, 55:] = 0.2
    weights = np.ones(57)
    plain = linkage_labels(P, weights, 2, "average")
    assert sorted(np.bincount(plain)) in ([1, 56], [2, 55])
    trimmed = trimmed_labels(P, weights, 2)
    assert adjusted_rand_score(np.minimum(group, 1), trimmed) == 1


def test_trimmed_linkage_keeps_small_clusters_of_some_size():
    P, group = blocks([30, 20, 4])
    assert adjusted_rand_score(group, trimmed_labels(P, np.ones(54), 3)) == 1


@pytest.mark.parametrize("n_clusters", [1, 2, 5, 6])
def test_trimmed_linkage_always_makes_n_clusters(n_clusters):
    rng = np.random.default_rng(n_clusters)
    P = rng.random((6, 6))
    P = (P + P.T) / 2
    weights = np.array([1.0, 1.0, 50.0, 1.0, 1.0, 1.0])
    assert len(set(trimmed_labels(P, weights, n_clusters))) == n_clusters


def test_trimmed_linkage_counts_rows():
    """A signature of many rows is large, however few signatures there are."""
    rng = np.random.default_rng(3)
    P, _ = blocks([4, 3, 1])
    weights = rng.integers(1, 6, 8).astype(float)
    repeat = np.repeat(np.arange(8), weights.astype(int))
    whole = P[np.ix_(repeat, repeat)]
    expected = trimmed_labels(np.where(repeat[:, None] == repeat[None, :], 1.0, whole), np.ones(len(repeat)), 3)
    assert (trimmed_labels(P, weights, 3)[repeat] == expected).all()


def test_medoid_through_the_labels_only_entry():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    partitions = [np.where(rng.random(60) < 0.15, rng.integers(0, 3, 60), truth) for _ in range(15)]
    assert adjusted_rand_score(truth, consensus(partitions, 3, method="medoid", threshold="auto")) == 1
