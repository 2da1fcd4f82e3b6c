"""Linkage with weights against SciPy's, and linkage that does not follow outliers."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from clusterforests.consensus.linkage import linkage_labels, mean_distance, trimmed_labels

JOINS = {"average": mean_distance, "single": lambda a, b, *_: np.minimum(a, b)}


def blocks(sizes, inside=0.9, between=0.1):
    group = np.repeat(np.arange(len(sizes)), sizes)
    P = np.where(group[:, None] == group[None, :], inside, between)
    np.fill_diagonal(P, 1.0)
    return P, group


@pytest.mark.parametrize("method", JOINS)
@pytest.mark.parametrize("seed", range(6))
def test_linkage_with_weights_is_linkage_of_repeated_rows(method, seed):
    rng = np.random.default_rng(seed)
    n = 25
    upper = np.triu(rng.random((n, n)), 1)
    P = upper + upper.T + np.eye(n)
    weights = rng.integers(1, 4, n)
    rows = np.repeat(np.arange(n), weights)
    repeated = squareform(1 - P[np.ix_(rows, rows)], checks=False)
    expected = fcluster(linkage(repeated, method), 5, criterion="maxclust")
    found = linkage_labels(P, weights.astype(float), 5, JOINS[method])
    assert adjusted_rand_score(expected, found[rows]) == 1
    assert (np.diff(np.bincount(found, weights=weights)) <= 0).all()


def test_trimmed_linkage_leaves_outliers_to_the_clusters():
    P, group = blocks([30, 25, 1, 1], between=0.3)
    P[55:, :55] = P[:55, 55:] = 0.05  # two outliers, nearer to the second group
    P[55:, 30:55] = P[30:55, 55:] = 0.2
    weights = np.ones(57)
    plain = linkage_labels(P, weights, 2)
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
