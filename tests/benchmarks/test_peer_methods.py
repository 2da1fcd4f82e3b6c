"""Peers that the benchmarks implement themselves, against brute force."""

import itertools

import numpy as np
import pytest

from benchmarks.labelled_sets import z_scores
from benchmarks.peer_methods import (
    between_sums,
    bounded_weights,
    cluster_weights,
    fit_with_bound,
    locally_weighted,
    sparse_kmeans,
)


def groups_in_one_feature():
    rng = np.random.default_rng(5)
    groups = np.repeat([0, 1], 5)
    X = rng.normal(size=(10, 4))
    X[:, 2] += 6 * groups
    return z_scores(X), groups


def test_between_sums_are_total_minus_within():
    Z, _ = groups_in_one_feature()
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0], dtype=np.int32)
    within = sum(((Z[labels == c] - Z[labels == c].mean(axis=0)) ** 2).sum(axis=0) for c in range(3))
    np.testing.assert_allclose(between_sums(Z, labels, 3), (Z**2).sum(axis=0) - within)


@pytest.mark.parametrize("bound", [1.1, 1.4, 1.9])
def test_bounded_weights_are_the_best_of_a_fine_grid(bound):
    between = np.array([5.0, 3.0, 1.0])
    w = bounded_weights(between, bound)
    assert np.linalg.norm(w) == pytest.approx(1)
    assert w.sum() <= bound + 1e-6
    a, b = np.meshgrid(np.linspace(0, np.pi / 2, 400), np.linspace(0, np.pi / 2, 400))
    sphere = np.stack([np.cos(a), np.sin(a) * np.cos(b), np.sin(a) * np.sin(b)])
    allowed = sphere[:, sphere.sum(axis=0) <= bound]
    assert w @ between >= (between @ allowed).max() - 1e-3


def test_equal_sums_do_not_divide_by_zero():
    w = bounded_weights(np.array([2.0, 2.0, 1.0]), 1.2)
    assert np.isfinite(w).all()
    np.testing.assert_allclose(w[:2], np.sqrt(0.5))


def test_sparse_kmeans_finds_the_best_of_all_partitions():
    Z, groups = groups_in_one_feature()
    bound = 1.3
    found = fit_with_bound(Z, 2, bound, np.tile([0, 1], 5).astype(np.int32), 0)
    best = 0.0
    for code in itertools.product([0, 1], repeat=9):
        labels = np.array([0, *code], dtype=np.int32)
        if labels.any():
            between = between_sums(Z, labels, 2)
            best = max(best, float(bounded_weights(between, bound) @ between))
    started_well = fit_with_bound(Z, 2, bound, groups.astype(np.int32), 0)
    assert started_well.objective == pytest.approx(best)
    assert found.objective <= best + 1e-9


def test_sparse_kmeans_weighs_the_telling_features():
    rng = np.random.default_rng(0)
    groups = np.arange(90) % 3
    X = rng.normal(size=(90, 40))
    X[:, :5] += rng.normal(size=(3, 5))[groups] * 3
    found = sparse_kmeans(z_scores(X), 3, 0)
    assert found.weights[:5].min() > 2 * found.weights[5:].max()
    assert len(set(zip(groups, found.labels, strict=True))) == 3


def test_locally_weighted_shares_by_hand():
    labels = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])
    sure, split = np.exp(-1 / (0.4 * 3)), np.exp(-2 / (0.4 * 3))  # torn in two by one member, by both others
    weights = cluster_weights(labels)
    np.testing.assert_allclose(weights, [[sure, sure], [sure, sure], [split, split]])
    found = locally_weighted(labels, 2)
    assert found[0] == found[1] != found[2] == found[3]
