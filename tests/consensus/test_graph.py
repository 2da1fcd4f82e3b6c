"""The normalised operator of a graph against plain linear algebra."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from small_graphs import KINDS, graph_of, normalised


@pytest.mark.parametrize("kind", KINDS)
def test_graph_is_the_normalised_operator(kind):
    graph, W, weights = graph_of(limits=KINDS[kind])
    assert graph.affinity.is_matrix == (kind == "dense")
    matrix, _, vectors = normalised(W, weights)
    v = np.random.default_rng(0).normal(size=(3, len(W)))
    assert len(graph) == len(W)
    assert_allclose(graph.W, W, rtol=1e-9)
    assert graph.degrees == pytest.approx(W @ weights)
    assert np.linalg.norm(graph.first) == pytest.approx(1)
    assert graph.first * np.sign(vectors[0, 0]) == pytest.approx(vectors[0])
    assert graph.apply(v) == pytest.approx(v @ matrix)
    rest = matrix - np.outer(vectors[0], vectors[0])
    assert_allclose(graph.deflated(), rest, atol=1e-12)
    assert_allclose(graph.apply_deflated(v), v @ rest, atol=1e-12)
    some = np.arange(5, len(W), 3)
    part = graph.part(some)
    assert_allclose(part.W, W[np.ix_(some, some)], rtol=1e-9)
    assert (part.weights == weights[some]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_ncut(kind):
    graph, W, weights = graph_of(seed=5, limits=KINDS[kind])
    right = np.arange(len(W)) % 3 == 0
    assert graph.ncut(right) == pytest.approx(reference.ncut_value(W * np.outer(weights, weights), right))
