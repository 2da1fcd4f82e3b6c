"""How far features separate clusters, against plain loops."""

import numpy as np
import pytest
import reference

from clusterforests.inspection import feature_separation


def test_shares_with_missing_cells():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 4)) * [1, 1e-150, 1e150, 1] + [0, 0, 0, 1e9], np.arange(60) % 3
    X[rng.random(X.shape) < 0.3] = np.nan
    found = feature_separation(X, labels)
    for j in range(4):
        moved = X[:, j] - np.nanmin(X[:, j])
        scaled = np.ldexp(moved, -np.frexp(np.nanmax(moved))[1])
        assert found.features[j] == pytest.approx(reference.eta_squared(scaled, labels))
        for c in range(3):
            assert found.clusters[c, j] == pytest.approx(reference.eta_squared(scaled, labels == c))
        means = [np.nanmean(X[labels == c, j]) - np.nanmean(X[:, j]) for c in range(3)]
        assert (found.direction[:, j] == np.sign(means)).all()


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(2)
    X, labels, counts = rng.normal(size=(20, 3)), np.arange(20) % 4, rng.integers(0, 4, size=20)
    X[rng.random(X.shape) < 0.2] = np.nan
    once = feature_separation(X, labels, counts)
    many = feature_separation(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    assert once.features == pytest.approx(many.features)
    assert once.clusters == pytest.approx(many.clusters)
    assert (once.direction == many.direction).all()


def test_features_that_separate_nothing():
    X = np.column_stack([np.full(6, 0.1), [0, 0, 0, 1, 1, 1], [1, 2, np.nan, 3, np.nan, np.nan], np.full(6, np.nan)])
    assert feature_separation(X, [0, 0, 0, 1, 1, 1]).features == pytest.approx([0, 1, 0, 0])
    one = feature_separation(X[:, :2], np.zeros(6, dtype=int))
    assert one.features.tolist() == [0, 0]
    assert one.clusters.tolist() == [[0, 0]]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="X contains infinity"):
        feature_separation([[1.0], [np.inf]], [0, 1])
