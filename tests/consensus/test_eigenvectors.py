"""Eigenvectors of small graphs, by every solver, against plain linear algebra."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from small_graphs import BACKEND, KINDS, from_matrix, graph_of, normalised

from clusterforests.consensus import eigenvectors
from clusterforests.consensus.affinity import Graph, GraphLimits, affinity, collapse, regularise
from clusterforests.consensus.eigenvectors import (
    Ritz,
    _dense_solution,
    _unit,
    first_guess,
    leading_group,
    leading_vectors,
    orthonormal,
    second_vector,
    span_is_known,
    spectral_embedding,
    start_vector,
    vector_is_known,
)

NO_TIME = GraphLimits(dense_solver=10, max_products=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("signs_only", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_second_vector(kind, seed, signs_only):
    """Per row, first entry that counts below zero, length as the operator's product gives it."""
    graph, W, weights = graph_of(seed=seed, limits=KINDS[kind])
    matrix, _, vectors = normalised(W, weights)
    expected = matrix @ vectors[1] / np.sqrt(weights)
    expected *= -np.sign(expected[0])
    z = second_vector(graph, signs_only=signs_only)
    assert z[0] < 0
    if signs_only:
        assert ((z >= 0) == (expected >= 0)).all()
    assert z == pytest.approx(expected, abs=1e-2 if signs_only else 1e-8)


def test_where_all_weights_are_equal_the_vector_itself_decides():
    z = second_vector(from_matrix(np.ones((6, 6))))
    start = start_vector(6)
    expected = start - start.mean()
    expected *= -np.sign(expected[0]) / np.linalg.norm(expected)
    assert z == pytest.approx(expected)


def test_the_start_vector_is_fixed_and_centred():
    """Degenerate graphs are cut by it, so that it must be the same in every version."""
    assert start_vector(3) == pytest.approx([0.3833108082136426, -0.06847200295149003, -0.47356622840740226])
    start = start_vector(2000)
    assert -0.5 <= start.min() < -0.49
    assert 0.49 < start.max() < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_equal_eigenvalues_have_one_answer(kind):
    """Three groups alike: the second eigenvalue is twofold, and the fixed start vector's projection is taken."""
    labels = np.tile(np.repeat(np.arange(3), 4), (4, 1)).astype(np.int32)
    labels = np.vstack([labels, np.arange(12, dtype=np.int32)[None, :]])  # no two rows alike
    signatures = collapse(labels)
    W = affinity(BACKEND, signatures, 0.4, 5.0, KINDS[kind])
    graph = Graph(BACKEND, W, signatures.weights, KINDS[kind])
    W = regularise(reference.coassociation(signatures.labels, signatures.labels), 0.4, 5.0)
    matrix, values, vectors = normalised(W, signatures.weights)
    assert values[1] == pytest.approx(values[2])
    assert values[2] > values[3] + 0.1
    along = vectors[1:3] @ start_vector(12)
    expected = matrix @ (along @ vectors[1:3]) / np.linalg.norm(along)
    z = second_vector(graph)
    assert z[0] < -0.01
    assert z == pytest.approx(-expected * np.sign(expected[0]), abs=1e-7)


def test_the_sign_is_that_of_the_first_entry_that_counts():
    """Node 0 lies between two groups: its own entry is rounding and decides nothing."""
    W = np.full((7, 7), 0.01)
    W[1:4, 1:4] = W[4:, 4:] = 1.0
    W[0, :] = W[:, 0] = 0.5
    z = second_vector(from_matrix(W))
    assert abs(z[0]) < 1e-8
    assert (z[1:4] < 0).all()
    assert (z[4:] > 0).all()


def test_what_counts_is_relative_to_the_largest_entry(monkeypatch):
    graph = from_matrix(np.ones((3, 3)))
    for share, sign in ((1e-7, 1), (1e-9, -1)):
        vote = 0.02 * np.array([-share, 1.0, -0.5])
        monkeypatch.setattr(eigenvectors, "_leading_pair", lambda *_, vote=vote: (np.ones(3), vote))
        assert second_vector(graph).tolist() == (sign * vote).tolist()


@pytest.mark.parametrize("limits", [*KINDS.values(), GraphLimits(dense_solver=10), NO_TIME])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_embedding(limits, count):
    """By LAPACK, by the iteration with an operator or a matrix, and by LAPACK where that takes too long."""
    graph, W, weights = graph_of(n=80, k=4, limits=limits)
    assert len(W) > 16
    matrix, values, vectors = normalised(W, weights)
    assert values[count - 1] - values[count] > 0.001
    expected = vectors[:count].T / np.linalg.norm(vectors[:count].T, axis=1, keepdims=True)
    rows = spectral_embedding(graph, count)
    assert rows.shape == (len(W), count)
    assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-6)
    found = rows * (graph.first / rows[:, 0])[:, None]  # before the rows were scaled
    ascending = [values[0], *values[1:count][::-1]]
    assert np.diag(found.T @ matrix @ found) == pytest.approx(ascending, abs=1e-6)


def test_several_vectors_are_dense_up_to_a_size(monkeypatch):
    """Few nodes, or few for the vectors asked for, are not worth an iteration."""
    nodes = len(graph_of(n=80, k=4)[0])
    asked = []
    monkeypatch.setattr(
        eigenvectors, "leading_vectors", lambda *given: asked.append(given[3]) or leading_vectors(*given)
    )
    for dense, count in ((nodes, 3), (nodes - 1, nodes // 4 + 1)):
        spectral_embedding(graph_of(n=80, k=4, limits=GraphLimits(dense_solver=dense))[0], count)
        assert asked == []
    spectral_embedding(graph_of(n=80, k=4, limits=GraphLimits(dense_solver=nodes - 1))[0], 3)
    assert asked == [2]


def test_lapack_gives_the_largest_values_first_with_their_images():
    graph, W, weights = graph_of(n=80, k=4)
    matrix, values, vectors = normalised(W, weights)
    ritz = _dense_solution(graph, 3)
    assert ritz.exhausted
    assert ritz.values == pytest.approx(values[1:4])
    assert_allclose(np.abs(ritz.vectors @ vectors[1:4].T), np.eye(3), atol=1e-8)
    assert_allclose(ritz.images, ritz.vectors @ matrix, atol=1e-10)


def test_a_guess_has_no_more_vectors_than_the_graph_has_nodes():
    assert first_guess(from_matrix(np.eye(3) + 0.5), 8).shape == (3, 3)


def test_a_slow_iteration_with_a_matrix_is_left_to_lapack():
    expected = second_vector(graph_of(seed=3)[0])
    assert second_vector(graph_of(seed=3, limits=NO_TIME)[0]) == pytest.approx(expected, abs=1e-8)


def test_graphs_of_few_nodes():
    for n in (2, 3, 4, 9):
        W = np.exp(-(np.abs(np.subtract.outer(np.arange(n), np.arange(n)) + 0.0) ** 1.5) / 2)
        matrix, _, vectors = normalised(W, np.ones(n))
        expected = matrix @ vectors[1]
        z = second_vector(from_matrix(W))
        assert z == pytest.approx(-expected * np.sign(expected[0]), abs=1e-9)


def ritz(values, residuals, vector=(0.5, -0.5), exhausted=False):
    vectors = np.asarray(vector) + 10.0 * np.arange(len(residuals))[:, None]
    return Ritz(np.array(values), vectors, vectors, np.array(residuals), exhausted)


def test_leading_group():
    assert leading_group(ritz([1.0, 1 - 1e-11, 0.5, 0.2], [1e-3, 2e-3, 5e-3])) == (2, pytest.approx(4e-3))
    assert leading_group(ritz([1.0, 1 - 1e-11, 1 - 2e-11, 0.2], [2e-3, 1e-3])) == (2, pytest.approx(1e8))
    assert leading_group(ritz([1.0, 0.5], [1e-15, 1.0])) == (1, 0.0)
    assert leading_group(ritz([1.0, 1.0], [1e-5, 1e-3])) == (2, np.inf)


@pytest.mark.parametrize(
    ("values", "residuals", "vector", "exact", "signs"),
    [
        ([0.9, 0.5], [1e-11, 0.1], (1.0, 1.0), True, True),  # error 2.5e-11
        ([0.9, 0.5], [1e-10, 0.05], (1.0, 1.0), False, True),  # error 2.5e-10, but no sign can change
        ([0.9, 0.5], [0.04, 0.09], (0.5, -0.21), False, True),  # error 0.1: less than half of the smallest entry
        ([0.9, 0.5], [0.04, 0.09], (0.5, -0.19), False, False),
        ([0.9, 0.5], [0.04, 0.11], (0.5, -0.5), False, False),  # the next value is not known to a quarter of the gap
        ([0.9, 0.5], [0.04], (0.5, -0.5), False, False),  # nothing is known of it
        ([0.9, 0.9 - 1e-11, 0.1], [1e-5, 1e-14], (0.5, -0.5), False, False),  # of equal ones a projection is taken
        ([0.9, 0.5, 0.4], [0.04, 0.09, 0.3], (0.5, -0.21), False, True),
    ],
)
def test_when_a_vector_or_its_signs_are_good_enough(values, residuals, vector, exact, signs):
    for signs_only, expected in ((False, exact), (True, signs)):
        assert vector_is_known(signs_only)(ritz(values, residuals, vector)) is expected


@pytest.mark.parametrize(
    ("values", "residuals", "expected"),
    [
        ([0.9, 0.8, 0.3], [1e-10, 4.9e-9], True),  # 1e-8 of the gap between the second and the third
        ([0.9, 0.8, 0.3], [1e-10, 5.1e-9], False),
        ([0.9, 0.8, 0.3], [5.1e-9, 1e-10], False),
        ([0.9, 0.8], [1e-16, 1e-16], False),  # the gap is not known
        ([0.9, 0.8, 0.8], [1e-13, 1e-13], True),  # whatever the gap
        ([0.9, 0.8, 0.8], [1e-11, 1e-13], False),
    ],
)
def test_when_several_vectors_are_good_enough(values, residuals, expected):
    assert span_is_known(2)(ritz(values, residuals)) is expected


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_guess_is_near(kind):
    graph, W, weights = graph_of(n=200, noise=0.2, limits=replace(KINDS[kind], guess_nodes=50))
    _, _, vectors = normalised(W, weights)
    guess = first_guess(graph, 3)
    assert guess.shape == (3, len(W))
    basis = np.linalg.qr(guess.T)[0]
    assert np.linalg.norm(basis.T @ vectors[1]) > 0.9
    assert np.linalg.norm(guess, axis=1) == pytest.approx(1, abs=0.2)
    assert (guess == first_guess(graph, 3)).all()


def test_unit():
    found = _unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert found.tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_eigenvectors_that_do_not_converge_are_told():
    graph, _, _ = graph_of(n=200, noise=0.8, limits=replace(KINDS["operator"], max_products=1))
    with pytest.warns(UserWarning, match=r"only known to \de-\d+: rows on the border"):
        second_vector(graph)
    with pytest.warns(UserWarning, match="only known to"):
        spectral_embedding(graph, 3)


# The block Krylov iteration against a dense solver.


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
