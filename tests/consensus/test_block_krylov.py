"""The block Krylov iteration against a dense solver."""

import numpy as np
import pytest

from clusterforests.consensus.eigenvectors import leading_vectors, orthonormal
from clusterforests.consensus.settings import GraphLimits


def symmetric(values, seed=0):
    """A matrix with these eigenvalues, its eigenvectors as rows, and the matrix without the first of them."""
    n = len(values)
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0].T
    A = (vectors.T * values) @ vectors
    return vectors, A - values[0] * np.outer(vectors[0], vectors[0])


def good(tolerance, least=0):
    return lambda ritz: len(ritz.values) > least and ritz.residuals.max() < tolerance


@pytest.mark.parametrize("look_every", [1, 3])
@pytest.mark.parametrize("most", [10, 64])
@pytest.mark.parametrize(("width", "count"), [(1, 1), (2, 2), (3, 1), (2, 5)])
def test_leading_vectors(width, count, most, look_every):
    """With a basis that holds everything, and with one that starts again and again."""
    values = np.concatenate([[1.0, 0.9, 0.8, 0.7, 0.6, 0.5], np.linspace(-0.3, 0.4, 114)])
    vectors, rest = symmetric(values)
    sizes, products = [], []

    def operator(block):
        assert block @ block.T == pytest.approx(np.eye(len(block)), abs=1e-10)
        assert np.abs(block @ vectors[0]).max() < 1e-10
        sizes.append(len(block))
        products.append(block)
        return block @ rest

    start = np.random.default_rng(1).normal(size=(width, 120))
    limits = GraphLimits(max_basis=most)
    ritz, converged = leading_vectors(operator, vectors[0], start, count, good(1e-10, count), limits, look_every)
    assert converged
    assert sizes[0] == width
    assert ritz.values[:count] == pytest.approx(values[1 : count + 1])
    assert (np.diff(ritz.values) <= 0).all()
    assert ritz.vectors.shape == ritz.images.shape == (count, 120)
    assert len(ritz.residuals) == count
    assert np.abs(ritz.vectors @ vectors[1 : count + 1].T) == pytest.approx(np.eye(count), abs=1e-6)
    assert ritz.images == pytest.approx(ritz.vectors @ rest, abs=1e-9)
    assert ritz.residuals == pytest.approx(
        np.linalg.norm(ritz.images - ritz.values[:count, None] * ritz.vectors, axis=1), abs=1e-15
    )
    assert len(ritz.values) <= max(most, 4 * max(width, count))


def test_starting_again_loses_nothing():
    """The value of the leading vector only grows."""
    vectors, rest = symmetric(np.linspace(1, 0, 200))
    seen = []
    limits = GraphLimits(max_basis=8, max_products=40)
    start = np.random.default_rng(0).normal(size=(2, 200))
    leading_vectors(
        lambda block: block @ rest, vectors[0], start, 1, lambda ritz: seen.append(ritz.values[0]) or False, limits
    )
    assert len(seen) == 40
    assert (np.diff(seen) > -1e-12).all()
    assert seen[-1] > seen[2]


def test_everything_is_exact_when_nothing_is_left():
    values = np.array([1.0, 0.5, 0.4, 0.3, 0.2])
    vectors, rest = symmetric(values)
    start = np.random.default_rng(0).normal(size=(2, 5))
    ritz, converged = leading_vectors(lambda block: block @ rest, vectors[0], start, 9, lambda _: False)
    assert converged
    assert ritz.exhausted
    assert ritz.values == pytest.approx(values[1:])
    assert len(ritz.vectors) == 4  # all there are beside the known one


def test_an_invariant_span_that_is_too_small_is_added_to():
    values = np.array([1.0, 0.9, 0.6, 0.5, 0.4, 0.1])
    vectors, rest = symmetric(values)
    start = vectors[3:4]
    ritz, converged = leading_vectors(lambda block: block @ rest, vectors[0], start, 3, lambda _: False)
    assert converged
    assert ritz.values[:3] == pytest.approx(values[1:4])
    one, converged = leading_vectors(lambda block: block @ rest, vectors[0], start, 1, lambda _: False)
    assert converged
    assert one.values == pytest.approx([0.5])  # invariant, and all that was asked for


@pytest.mark.parametrize("look_every", [1, 3])
def test_a_limit_to_the_products(look_every):
    vectors, rest = symmetric(np.linspace(1, 0.9, 50))
    calls = []
    start = np.random.default_rng(0).normal(size=(1, 50))
    limits = GraphLimits(max_products=4)
    ritz, converged = leading_vectors(
        lambda b: calls.append(1) or b @ rest, vectors[0], start, 1, lambda _: False, limits, look_every
    )
    assert not converged
    assert not ritz.exhausted
    assert len(calls) == 4
    assert len(ritz.values) == 4  # the last product is looked at


def test_orthonormal():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(20, 6)))[0].T
    known, rest = basis[0], basis[1:]
    new = rng.normal(size=(2, 20))
    block = np.vstack([new[0], rest[2] + known, new[1], new[0] + new[1], 1e-5 * new[0] + rest[0]])
    found = orthonormal(block, known, rest)
    assert found.shape == (2, 20)
    assert found.flags.c_contiguous
    together = np.vstack([basis, found])
    assert together @ together.T == pytest.approx(np.eye(8), abs=1e-12)
    left = new - (new @ together.T) @ together
    assert np.abs(left).max() < 1e-10
    assert orthonormal(rest[:2], known, rest).shape == (0, 20)
    one = orthonormal(new[:1], known, rest)
    assert np.linalg.norm(one) == pytest.approx(1)
    assert np.abs(one @ basis.T).max() < 1e-12
    assert orthonormal(rest[:1] + known, known, rest).shape == (0, 20)
