"""The partition with the fewest disagreements, against all partitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_partitions import noisy, small_partitions, uncollapsed
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import coassociate, collapse
from paper.consensus import aggregate, agreement
from paper.consensus.agreement import _best_given, _linked, local_search, pair_votes

BACKEND = CpuBackend(2)

# Gionis, Mannila and Tsaparas (2005), figure 1: the third partition is the best, with 5 disagreements.
SIX = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]


def plain_disagreements(partitions, labels):
    return sum(
        (member[i] == member[j]) != (labels[i] == labels[j])
        for member in np.asarray(partitions)
        for i, j in itertools.combinations(range(len(labels)), 2)
        if member[i] >= 0 and member[j] >= 0
    )


def every_partition(n):
    """All partitions of n rows, each once: a label is at most one more than those before it."""
    grown = [[0]]
    for _ in range(n - 1):
        grown = [[*labels, c] for labels in grown for c in range(max(labels) + 2)]
    return grown


def least_disagreements(partitions, n_clusters=None):
    """By trying all partitions that keep equal rows together."""
    signatures = collapse(np.asarray(partitions, dtype=np.int32))
    candidates = (np.array(groups) for groups in every_partition(len(signatures)))
    return min(
        plain_disagreements(partitions, groups[signatures.inverse])
        for groups in candidates
        if n_clusters is None or groups.max() + 1 == n_clusters
    )


def test_every_partition():
    assert [len(every_partition(n)) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]


def test_six_objects():
    found = aggregate(SIX)
    assert found.disagreements == 5 == least_disagreements(SIX)
    assert found.labels.tolist() == [0, 1, 0, 1, 2, 2]
    assert aggregate(SIX, 3).labels.tolist() == found.labels.tolist()
    assert agreement(SIX, 3).tolist() == found.labels.tolist()


@given(partitions=small_partitions(0, rows=6))
@settings(max_examples=40)
def test_agreement_is_within_its_bound(partitions):
    found = aggregate(partitions)
    assert found.disagreements == plain_disagreements(partitions, found.labels)
    least = least_disagreements(partitions)
    assert least <= found.disagreements <= (2 - 2 / len(partitions)) * least


@given(partitions=small_partitions(-1, rows=6), k=st.integers(1, 4))
@settings(max_examples=40)
def test_no_single_row_improves_the_agreement(partitions, k):
    partitions[0] = np.abs(partitions[0])
    k = min(k, len(collapse(partitions)))
    for n_clusters in (None, k):
        found = aggregate(partitions, n_clusters)
        assert found.disagreements == plain_disagreements(partitions, found.labels)
        if n_clusters is not None:
            assert found.labels.max() + 1 == k
        new = found.labels.max() + (n_clusters is None) + 1
        for i, c in itertools.product(range(len(found.labels)), range(new)):
            moved = found.labels.copy()
            moved[i] = c
            if n_clusters is None or len(set(moved)) == k:
                same = (partitions == partitions[:, [i]]).all(axis=0)
                moved[same] = c
                if n_clusters is None or len(set(moved)) == k:
                    assert plain_disagreements(partitions, moved) >= found.disagreements


@pytest.mark.parametrize("n_clusters", [None, 2, 3])
def test_agreement_mostly_reaches_the_optimum(n_clusters):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(30):
        partitions = rng.integers(-1, 3, size=(5, 6))
        partitions[0] = rng.integers(0, 3, 6)
        found = aggregate(partitions, min(n_clusters, len(collapse(partitions))) if n_clusters else None)
        hits += found.disagreements == least_disagreements(partitions, n_clusters)
    assert hits >= 27


def test_votes():
    labels, _ = noisy(n=15, members=8, hidden=0.3)
    signatures = uncollapsed(labels)
    votes = pair_votes(BACKEND, signatures, coassociate(BACKEND, labels, labels))
    for i, j in itertools.permutations(range(15), 2):
        both = (labels[:, i] >= 0) & (labels[:, j] >= 0)
        same = labels[both, i] == labels[both, j]
        assert votes[i, j] == same.sum() - (~same).sum()


def test_local_search_opens_and_closes_groups():
    votes = np.where(np.arange(6)[:, None] // 2 == np.arange(6) // 2, 3.0, -3.0)
    np.fill_diagonal(votes, 0.0)
    for start in (np.zeros(6), np.arange(6)):
        found = local_search(votes, np.ones(6), start.astype(np.int32), free=True)
        assert adjusted_rand_score(found, np.arange(6) // 2) == 1
    kept = local_search(votes, np.ones(6), np.array([0, 0, 0, 0, 0, 1], dtype=np.int32), free=False)
    assert set(kept) == {0, 1}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("free", [True, False])
def test_local_search_ends_where_no_move_gains(seed, free):
    rng = np.random.default_rng(seed)
    votes = np.triu(rng.integers(-5, 6, size=(14, 14)), 1).astype(float)
    votes += votes.T
    weights = rng.integers(1, 6, 14).astype(float)
    found = local_search(votes, weights, rng.permutation(np.arange(14) % 4).astype(np.int32), free=free)
    sizes = np.bincount(found)
    for i in range(14):
        pull = np.array([weights[found == group] @ votes[i, found == group] for group in range(len(sizes))])
        assert pull[found[i]] == max(pull.max(), 0.0 if free else -np.inf) or (sizes[found[i]] == 1 and not free)


@pytest.mark.parametrize("seed", range(5))
def test_linkage_start_stops_half_way(seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((25, 25)), 1)
    P, weights = upper + upper.T + np.eye(25), rng.integers(1, 4, 25)
    rows = np.repeat(np.arange(25), weights)
    merged = linkage(squareform(1 - P[np.ix_(rows, rows)], checks=False), "average")
    expected = fcluster(merged, 0.5, criterion="distance")
    assert adjusted_rand_score(expected, _linked(P, weights.astype(float), None)[rows]) == 1


@pytest.mark.parametrize(
    ("partitions", "n_clusters"),
    [
        ([[0, 1, 2, 1, 0, 1, 1], [1, 2, 1, 1, 0, 1, 2], [0, 2, 0, 1, 0, 0, 0]], None),
        ([[1, 0, 2, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0, 2], [1, 2, 2, 0, 0, 0, 0]], 3),
    ],
)
def test_given_partitions_can_be_the_better_start(partitions, n_clusters):
    signatures = collapse(np.array(partitions, dtype=np.int32))
    P = coassociate(BACKEND, signatures.labels, signatures.labels)
    start = _linked(P, signatures.weights, n_clusters)
    linked = local_search(pair_votes(BACKEND, signatures, P), signatures.weights, start, free=n_clusters is None)
    found = aggregate(partitions, n_clusters).disagreements
    assert found == least_disagreements(partitions, n_clusters)
    assert found < plain_disagreements(partitions, linked[signatures.inverse])


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_best_given_partition(n_clusters):
    rng = np.random.default_rng(0)
    for _ in range(20):
        partitions = rng.integers(0, 3, size=(5, 8)).astype(np.int32)
        partitions[0] = np.arange(8) % 2
        partitions[4, 0] = -1
        fits = [p for p in partitions[:4] if n_clusters is None or len(set(p)) == n_clusters]
        signatures = collapse(partitions)
        votes = pair_votes(BACKEND, signatures, coassociate(BACKEND, signatures.labels, signatures.labels))
        found = _best_given(votes, signatures, n_clusters)[signatures.inverse]
        assert plain_disagreements(partitions, found) == min(plain_disagreements(partitions, p) for p in fits)
        assert any(adjusted_rand_score(found, p) == 1 for p in fits)
    assert _best_given(votes, signatures, 7) is None


def test_more_clusters_than_signatures():
    with pytest.raises(ValueError, match="n_clusters=4 is more than the 3 groups of rows"):
        aggregate([[0, 0, 1, 2]], 4)
    with pytest.raises(ValueError, match="n_clusters=0 is not allowed"):
        aggregate([[0, 0, 1, 2]], 0)
