"""The nearest correlation matrix: published examples, and no other is nearer."""

import numpy as np
import pytest

from paper.datasets.simulate import nearest_correlation


@pytest.mark.parametrize(
    ("matrix", "nearest"),
    [  # the two examples in Higham's paper
        ([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]),
        (
            [[2, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 2]],
            [
                [1, -0.8084, 0.1916, 0.1068],
                [-0.8084, 1, -0.6562, 0.1916],
                [0.1916, -0.6562, 1, -0.8084],
                [0.1068, 0.1916, -0.8084, 1],
            ],
        ),
    ],
)
def test_nearest_correlation_published(matrix, nearest):
    assert np.abs(nearest_correlation(np.array(matrix, dtype=float)) - nearest).max() < 6e-5


def test_nearest_correlation_is_the_nearest():
    """No step towards another correlation matrix brings it closer (the set is convex)."""
    rng = np.random.default_rng(0)
    drawn = np.triu(rng.uniform(-1, 1, size=(12, 12)), 1)
    drawn += drawn.T + np.eye(12)
    nearest = nearest_correlation(drawn, tol=1e-10)
    assert np.linalg.eigvalsh(nearest)[0] > -1e-8
    for _ in range(200):
        other = np.corrcoef(rng.normal(size=(12, rng.integers(2, 30))))
        assert np.sum((drawn - nearest) * (other - nearest)) < 1e-6


def test_nearest_correlation_leaves_one_alone_and_gives_up():
    correlation = np.array([[1, 0.3], [0.3, 1]])
    assert np.allclose(nearest_correlation(correlation), correlation, rtol=0, atol=1e-14)
    with pytest.raises(RuntimeError, match="max_iter=2"):
        nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]), max_iter=2)
