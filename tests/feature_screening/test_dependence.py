"""Pairs of columns that depend on each other as clusters make them."""

import numpy as np

from clusterforests.feature_screening.dependence import _gaussian_cells, excess_dependence


def test_gaussian_copula_of_classes():
    cells = _gaussian_cells()
    np.testing.assert_allclose(cells.sum(axis=1), 1 / 6, atol=2e-4)
    np.testing.assert_allclose(cells[99], 1 / 36, atol=1e-6)
    x = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 200_000)
    edges = np.quantile(x[:, 0], np.arange(1, 6) / 6)
    counts = np.histogram2d(*np.digitize(x, edges).T, bins=6)[0] / len(x)
    np.testing.assert_allclose(cells[159], counts, atol=2e-3)


def test_dependence_beyond_a_gaussian_one():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(500, 40)) + rng.normal(size=(500, 1))  # strongly correlated
    excess = excess_dependence(noise)[np.triu_indices(40, 1)]
    assert -1 < excess.mean() < 0.3
    assert (excess > 6).sum() == 0
    X = rng.normal(size=(400, 4))
    X[:, :2] += 7 * np.array([[0, 0], [1, 0], [0, 1]])[rng.integers(0, 3, 400)]
    assert excess_dependence(X)[0, 1] > 6
    assert excess_dependence(np.column_stack([X[:, 0], 2 * X[:, 0]])).max() == 0
