"""How far features separate clusters, against all permutations."""

import itertools

import numpy as np
import pytest
import reference

from clusterforests.inspection import feature_separation


@pytest.mark.parametrize("sizes", [(2, 2, 3), (1, 2, 4), (3, 4), (1, 1, 4), (1, 6)])
def test_null_moments_are_those_of_all_permutations(sizes):
    rng = np.random.default_rng(0)
    x, labels = rng.standard_t(2, size=sum(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    shares, against = [], []
    for order in itertools.permutations(x):
        y = np.array(order)
        shares.append(reference.eta_squared(y, labels))
        against.append([reference.eta_squared(y, labels == c) for c in range(len(sizes))])
    found = feature_separation(x[:, None], labels)
    assert found.features.share[0] == pytest.approx(shares[0])
    assert found.features.expected[0] == pytest.approx(np.mean(shares))
    assert found.features.deviation[0] == pytest.approx(np.std(shares))
    assert found.clusters.share[:, 0] == pytest.approx(against[0])
    assert found.clusters.expected[:, 0] == pytest.approx(np.mean(against, axis=0))
    assert found.clusters.deviation[:, 0] == pytest.approx(np.std(against, axis=0))
    z = (shares[0] - np.mean(shares)) / np.std(shares)
    assert found.features.excess[0] == pytest.approx(z)


def test_separation_with_missing_cells():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 4)) * [1, 1e-150, 1e150, 1] + [0, 0, 0, 1e9], np.arange(60) % 3
    X[rng.random(X.shape) < 0.3] = np.nan
    found = feature_separation(X, labels)
    for j in range(4):
        known = ~np.isnan(X[:, j])
        alone = feature_separation(X[known, j : j + 1], labels[known])
        moved = X[:, j] - np.nanmin(X[:, j])
        scaled = np.ldexp(moved, -np.frexp(np.nanmax(moved))[1])
        assert found.features.share[j] == pytest.approx(reference.eta_squared(scaled, labels))
        assert found.features.deviation[j] == pytest.approx(alone.features.deviation[0])
        assert found.features.p_value[j] == pytest.approx(alone.features.p_value[0])
        means = [np.nanmean(X[labels == c, j]) - np.nanmean(X[:, j]) for c in range(3)]
        assert (found.direction[:, j] == np.sign(means)).all()


def test_separation_weights_are_repeated_rows():
    rng = np.random.default_rng(2)
    X, labels, counts = rng.normal(size=(20, 3)), np.arange(20) % 4, rng.integers(0, 4, size=20)
    X[rng.random(X.shape) < 0.2] = np.nan
    once = feature_separation(X, labels, counts)
    many = feature_separation(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    for side in ("features", "clusters"):
        for name in ("share", "expected", "deviation", "excess", "p_value"):
            assert getattr(getattr(once, side), name) == pytest.approx(getattr(getattr(many, side), name))
    assert (once.direction == many.direction).all()


def test_separation_p_values_are_those_of_shuffles():
    """The beta distribution with the two moments: right at the 5 % point even for a heavy-tailed feature."""
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [40, 25, 10])
    X = np.array([rng.permutation(x) for x in rng.standard_t(4, size=(4, 75)) for _ in range(1000)]).T
    p = feature_separation(X, labels).features.p_value
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.012)
    assert np.mean(p < 0.5) == pytest.approx(0.5, abs=0.03)


def test_features_that_separate_nothing():
    X = np.column_stack([np.full(6, 0.1), [0, 0, 0, 1, 1, 1], [1, 2, np.nan, 3, np.nan, np.nan], np.full(6, np.nan)])
    found = feature_separation(X, [0, 0, 0, 1, 1, 1]).features
    assert found.share == pytest.approx([0, 1, 0, 0])
    assert found.p_value[[0, 2, 3]].tolist() == [1, 1, 1]
    assert found.excess[[0, 2, 3]].tolist() == [0, 0, 0]
    one = feature_separation(X[:, :2], np.zeros(6, dtype=int))
    assert one.features.p_value.tolist() == [1, 1]
    assert one.clusters.p_value.shape == (1, 2)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="X contains infinity"):
        feature_separation([[1.0], [np.inf]], [0, 1])
