"""The labels-only entry: partitions from anywhere, weights, and what every method promises."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from noisy_partitions import noisy
from sklearn.metrics import adjusted_rand_score

from clusterforests import consensus_clustering
from clusterforests.consensus import consensus_clustering as entry
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.methods import METHODS, NEEDS_VALUES

OF_LABELS = [method for method in METHODS if method not in NEEDS_VALUES]


@pytest.mark.parametrize("method", OF_LABELS)
def test_the_truth_is_found(method):
    labels, truth = noisy()
    assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) > 0.95
    # Half of the labels are missing.
    labels, truth = noisy(noise=0.02, members=60, hidden=0.5)
    assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) > 0.95
    # Many partitions, and links as sharp as may be.
    labels, truth = noisy(members=2000, noise=0.1)
    assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) == 1
    assert adjusted_rand_score(truth, consensus_clustering(labels[:100], 3, method=method, affinity_scale=50)) == 1
    assert len(set(consensus_clustering(np.tile(np.arange(6) // 2, (8000, 1)), 3, method=method))) == 3


@pytest.mark.parametrize("seed", range(5))
def test_the_paper_s_cut_is_the_plain_one(seed):
    labels, _ = noisy(seed=seed, k=4, members=40)
    P = reference.coassociation(labels, labels)
    expected = reference.recursive_cut(reference.regularised(P, 0.4, 4.0), 4)
    found = consensus_clustering(labels, 4, method="ncut", affinity_threshold=0.4)
    assert adjusted_rand_score(expected, found) == 1


def test_label_names_do_not_matter():
    labels, _ = noisy()
    renamed = labels * 1000 + np.arange(len(labels))[:, None]
    assert (consensus_clustering(labels, 3) == consensus_clustering(renamed, 3)).all()
    assert (consensus_clustering(labels.tolist(), 3) == consensus_clustering(labels, 3)).all()


@given(st.integers(0, 10**6))
def test_many_partitions_at_once_are_numbered_like_one(seed):
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    labels = rng.integers(0, n, size=(size, n))
    found = entry.check_partitions(labels)
    assert found.dtype == np.int32
    for member, numbered in zip(labels, found, strict=True):
        seen = list(dict.fromkeys(member.tolist()))
        assert numbered.tolist() == [seen.index(label) for label in member.tolist()]
    assert np.array_equal([entry._renumbered(member) for member in labels], found)


@pytest.mark.parametrize("method", ["kway", "ncut"])
def test_many_nodes_are_iterated(method):
    labels, truth = noisy(n=700, members=60, noise=0.4)
    assert len(collapse(labels)) > 600
    assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) > 0.9


@pytest.mark.parametrize("method", OF_LABELS)
def test_one_cluster_and_all_clusters(method):
    labels, _ = noisy(n=12, noise=0.9)
    assert set(consensus_clustering(labels, 1, method=method)) == {0}
    groups = len(collapse(labels))
    assert len(set(consensus_clustering(labels, groups, method=method))) == groups
    with pytest.raises(ValueError, match="n_clusters=12 is more than the"):
        consensus_clustering(np.vstack([labels[:, :6], labels[:, :6]]).repeat(2, axis=1), 12, method=method)


def test_equal_weights_can_be_cut():
    """Rows that are never told apart where both are clustered have weight 1."""
    gaps = [[5, 5, 100, 100, -7, 7], [0, 0, 1, 1, 1, 1], [3, 3, 3, 9, 9, -1]]
    assert len(set(consensus_clustering(gaps, 4, method="ncut", affinity_threshold=0.4))) == 4


def test_degenerate_graph_has_one_answer():
    """Four equal groups: the second eigenvalue is threefold."""
    partitions = np.vstack([np.repeat(np.arange(4), 10)[None, :], np.zeros((9, 40), dtype=int)])
    first, second = (consensus_clustering(partitions, 4, method="ncut") for _ in range(2))
    assert (first == second).all()
    assert adjusted_rand_score(partitions[0], first) == 1


@pytest.mark.parametrize("method", ["ncut", "kway", "medoid"])
def test_affinity_scale_0_takes_the_shares_themselves(method):
    labels, truth = noisy(noise=0.3, seed=1)
    for scale in (0, 1e-300):
        found = consensus_clustering(labels, 3, method=method, affinity_scale=scale)
        assert adjusted_rand_score(truth, found) > 0.9
    asked = {"method": method, "affinity_scale": 0, "affinity_threshold": 0.4}
    equal = r"affinity_scale=0 with affinity_threshold=0\.4"
    if method != "medoid":
        with pytest.raises(ValueError, match=equal):
            consensus_clustering(labels, 3, **asked)
    else:  # one of its three cuts needs no such links
        with pytest.warns(UserWarning, match=f"method='medoid'.*kway failed: {equal}.*; ncut"):
            consensus_clustering(labels, 3, **asked)


@pytest.mark.parametrize(
    ("partitions", "error", "message"),
    [
        ([[0, 1], [0]], ValueError, "same number of rows"),
        ([0, 1, 0], ValueError, r"shape \(n_partitions, n_samples\)"),
        (np.empty((0, 3), int), ValueError, r"\(0, 3\)"),
        ([[0.0, 1.5, 2.0]], TypeError, "float64"),
        ([["a", "b", "b"]], TypeError, "integer labels"),
        ([[0, 1, -1], [0, 1, -1]], ValueError, "row 2"),
    ],
)
def test_bad_partitions(partitions, error, message):
    with pytest.raises(error, match=message):
        consensus_clustering(partitions, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("method", "ward"),
        ("method", "refined"),
        ("affinity_threshold", 1.1),
        ("affinity_scale", "sharp"),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} is not allowed"):
        consensus_clustering(noisy()[0], **{"n_clusters": 3, name: value})


def weighted_partitions(seed):
    labels, _ = noisy(n=50, members=12, seed=seed)
    labels[:, 40:] = labels[:, 30:40]  # some rows share their signature
    rng = np.random.default_rng(seed)
    labels[rng.random(labels.shape) < 0.1] = -1
    labels[0] = np.abs(labels[0])
    return labels, rng.integers(0, 4, 50)


@pytest.mark.parametrize("method", OF_LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repeated_rows(method, seed):
    labels, weights = weighted_partitions(seed)
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(50), weights))
    found = consensus_clustering(labels, 3, method=method, sample_weight=weights)
    assert (consensus_clustering(labels[:, rows], 3, method=method) == found[rows]).all()
    assert (consensus_clustering(labels, 3, method=method, sample_weight=np.full(50, 2.5)) >= 0).all()
    thrice = consensus_clustering(labels, 3, method=method, sample_weight=3)
    assert (thrice == consensus_clustering(np.tile(labels, 3), 3, method=method)[:50]).all()


@pytest.mark.parametrize("heavy", range(3))
def test_weights_count(heavy):
    """Cluster 0 is the heaviest, and the heaviest part is split next."""
    truth = np.repeat([0, 1, 2], [6, 4, 4])
    labels = np.array([truth, truth, truth, np.arange(14) % 2], dtype=np.int32)
    weights = np.where(truth == heavy, 50.0, 1.0)
    found = consensus_clustering(labels, 3, method="average", sample_weight=weights)
    assert set(found[truth == heavy]) == {0}
    split = consensus_clustering(labels, 3, method="ncut", affinity_threshold=0.4, sample_weight=weights)
    assert len(set(split[truth == heavy])) == 2


def test_rows_without_weight():
    labels, weights = weighted_partitions(7)
    weights = weights.astype(float)
    signatures = collapse(labels)
    own = np.bincount(signatures.inverse, weights)[signatures.inverse]
    assert (own == 0).any()
    assert ((weights == 0) & (own > 0)).any()
    found = consensus_clustering(labels, 3, method="average", sample_weight=weights)
    P = reference.coassociation(labels, labels)
    for row in np.flatnonzero(weights == 0):
        if own[row] > 0:
            twins = (signatures.inverse == signatures.inverse[row]) & (weights > 0)
            assert set(found[twins]) == {found[row]}
        else:
            shares = [np.average(P[row, found == c], weights=weights[found == c]) for c in range(3)]
            assert found[row] == np.argmax(shares)


@pytest.mark.parametrize("weights", [[1, 2], [-1] * 60, [0] * 60, [np.nan] * 60, ["a"] * 60])
def test_bad_weights(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        consensus_clustering(noisy()[0], 3, sample_weight=weights)
