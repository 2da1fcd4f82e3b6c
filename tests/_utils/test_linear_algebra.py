"""Principal axes."""

import numpy as np
import pytest

from clusterforests._utils.linear_algebra import principal_axes, reproducible, whitened

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(50, 8), (20, 60)])
def test_axes_are_those_of_the_covariance(shape):
    V = RNG.normal(size=shape) * np.linspace(3, 1, shape[1])
    weights = RNG.integers(1, 4, shape[0]).astype(float)
    axes = principal_axes(V, weights, 3)
    covariance = np.cov(np.repeat(V, weights.astype(int), axis=0).T, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    np.testing.assert_allclose(axes.variances, values[::-1][:3], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(axes.coefficients * vectors[:, ::-1][:, :3], axis=0)), 1, atol=1e-6)


def test_whitened_axes_have_variance_one():
    V = RNG.normal(size=(200, 5)) @ RNG.normal(size=(5, 5))
    white = (V - V.mean(axis=0)) @ whitened(principal_axes(V, None, 5))
    np.testing.assert_allclose(white.T @ white / 200, np.eye(5), atol=1e-5)


def test_a_table_without_variance_has_an_axis():
    assert principal_axes(np.ones((10, 3)), None, 2).coefficients.shape == (3, 1)


def test_last_digits_are_rounded_away():
    X = RNG.normal(size=(5, 4))
    assert (reproducible(X) == reproducible(X * (1 + 1e-15))).all()
    np.testing.assert_allclose(reproducible(X), X, atol=1e-6)
    assert (reproducible(np.zeros((2, 2))) == 0).all()
