"""From partitions to the graph in small: every table, matrix and operator against plain loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from small_graphs import KINDS, graph_of, normalised

from clusterforests import _core
from clusterforests.backends import CpuBackend
from clusterforests.consensus import affinity
from clusterforests.consensus.affinity import (
    AffinityWithDiagonal,
    GraphLimits,
    Inside,
    MatchCountAffinity,
    affinity_scale_for,
    check_pairs,
    coassociate,
    collapse,
    link_weights,
    regularise,
    share_table,
    weight_table,
)

BACKEND = CpuBackend(1)
THRESHOLDS = [0.4, 0.5, 0.0, "auto"]


def random_labels(n=30, members=10, gaps=False, seed=0):
    return np.random.default_rng(seed).integers(-1 if gaps else 0, 3, size=(members, n)).astype(np.int32)


def plain_weight(P, threshold, scale):
    if threshold == "auto":
        return math.exp(scale * P) - 1
    return 1.0 if threshold > P else math.exp(scale * P)


def plain_weights(P, threshold, scale):
    return np.array([[plain_weight(p, threshold, scale) for p in row] for row in P])


@pytest.fixture
def few_bytes(monkeypatch):
    """A machine with 5 million bytes of memory."""
    monkeypatch.setattr("clusterforests._utils.memory.available_memory", lambda: 5 * 10**6)


def test_collapse():
    labels = np.array([[1, 0, 1, 0, 1], [2, 2, 2, 2, 0]], dtype=np.int32)
    found = collapse(labels)
    assert (found.labels[:, found.inverse] == labels).all()
    assert len(found) == 3
    assert found.weights[found.inverse].tolist() == [2, 2, 2, 2, 1]
    weighted = collapse(labels, np.array([0.5, 3.0, 0.25, 4.0, 8.0]))
    assert weighted.weights[weighted.inverse].tolist() == [0.75, 7.0, 0.75, 7.0, 8.0]
    assert weighted.inside is None


def test_weights_add_up_in_one_order():
    """Sums of floats depend on their order; that of the rows must not show."""
    weights = np.array([1e16, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    labels = np.zeros((2, 7), dtype=np.int32)
    assert {float(collapse(labels, np.roll(weights, i)).weights[0]) for i in range(7)} == {1e16 + 6}


@pytest.mark.parametrize(("gaps_a", "gaps_b"), [(False, False), (True, False), (False, True), (True, True)])
def test_coassociate(gaps_a, gaps_b):
    a, b = random_labels(gaps=gaps_a), random_labels(20, gaps=gaps_b, seed=1)
    P = coassociate(BACKEND, a, b)
    assert pytest.approx(reference.coassociation(a, b)) == P
    assert P.max() <= 1
    for threshold in THRESHOLDS:
        assert link_weights(BACKEND, a, b, threshold, 3.0) == pytest.approx(plain_weights(P, threshold, 3.0))


class Counting(CpuBackend):
    """A back end that knows how often it counted matches."""

    counted = 0

    def coassociate(self, a, b, table):
        self.counted += 1
        return super().coassociate(a, b, table)


@pytest.mark.parametrize(("gaps", "times"), [(False, 1), (True, 2)])
def test_matches_are_counted_twice_only_where_labels_are_missing(gaps, times):
    a, b = random_labels(), random_labels(gaps=gaps, seed=1)
    for pair in ((a, b), (b, a)):
        backend = Counting(1)
        coassociate(backend, *pair)
        link_weights(backend, *pair, 0.4, 3.0)
        assert backend.counted == 2 * times
    backend = Counting(1)
    affinity.affinity(backend, collapse(b), 0.4, 3.0)
    assert backend.counted == times


def test_rows_never_clustered_together_have_nothing():
    labels = np.array([[0, -1], [-1, 0]], dtype=np.int32)
    assert coassociate(BACKEND, labels, labels).tolist() == [[1, 0], [0, 1]]


def test_what_does_not_fit_is_refused(few_bytes):
    wide = np.zeros((3, 1000), dtype=np.int32)
    assert coassociate(BACKEND, wide[:, :625], wide).shape == (625, 1000)  # 5,000,000 bytes
    with pytest.raises(MemoryError, match=r"A 626 by 1000 co-association matrix .*Ask for fewer rows or columns"):
        coassociate(BACKEND, wide[:, :626], wide)
    check_pairs(collapse(np.arange(456, dtype=np.int32)[None, :]))  # 4,990,464 bytes
    with pytest.raises(MemoryError, match=r"The consensus graph of 457 different rows of labels .*Use fewer rows\."):
        check_pairs(collapse(np.arange(457, dtype=np.int32)[None, :]))
    with pytest.raises(MemoryError, match="Use a bigger machine"):
        check_pairs(collapse(np.arange(457, dtype=np.int32)[None, :]), "Use a bigger machine.")


def test_regularise():
    P = np.array([0.0, 0.3999, 0.4, 0.7, 1.0])
    assert regularise(P, 0.4, 2.0) == pytest.approx([1, 1, np.exp(0.8), np.exp(1.4), np.exp(2)])
    assert regularise(P, "auto", 2.0) == pytest.approx(np.exp(2 * P) - 1)
    assert regularise(np.array([1e-12]), "auto", 1.0)[0] == pytest.approx(1e-12, rel=1e-9)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_tables_hold_every_weight(threshold):
    assert weight_table(10, threshold, 3.0) == pytest.approx([plain_weight(c / 10, threshold, 3.0) for c in range(11)])
    table = share_table(10, threshold, 3.0).reshape(11, 11)  # [both clustered, together]
    for both in range(11):
        for together in range(both + 1):
            share = together / both if both else 0.0
            assert table[both, together] == pytest.approx(plain_weight(share, threshold, 3.0))
    assert np.isfinite(table).all()


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("gaps", [False, True])
def test_affinity_is_a_matrix_or_an_operator(threshold, gaps):
    signatures = collapse(random_labels(gaps=gaps))
    m = len(signatures)
    expected = plain_weights(reference.coassociation(signatures.labels, signatures.labels), threshold, 3.0)

    def made(**limits):
        return affinity.affinity(BACKEND, signatures, threshold, 3.0, GraphLimits(**limits))

    assert made(matrix_nodes=m) == pytest.approx(expected)
    W = made(matrix_nodes=m - 1)
    assert isinstance(W, MatchCountAffinity)
    assert W.between(np.arange(m), np.arange(m)) == pytest.approx(expected)
    if gaps:
        assert isinstance(made(matrix_nodes=m - 1, most_with_missing_labels=10), MatchCountAffinity)
        assert made(matrix_nodes=m - 1, most_with_missing_labels=9) == pytest.approx(expected)


def test_gaps_in_many_partitions_need_room(few_bytes):
    signatures = collapse(random_labels(500, gaps=True))
    with pytest.raises(MemoryError, match="or at most 255 partitions if rows may have no label"):
        affinity.affinity(BACKEND, signatures, 0.4, 3.0)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_weight_of_a_landmark_with_itself(threshold):
    signatures = collapse(random_labels())
    m = len(signatures)
    rng = np.random.default_rng(0)
    inside = Inside(rng.random(m), rng.random(m))
    own = plain_weight(1.0, threshold, 3.0)
    expected = [s * own + (1 - s) * plain_weight(P, threshold, 3.0) for s, P in zip(inside.same, inside.P, strict=True)]
    assert inside.weights(threshold, 3.0) == pytest.approx(expected)
    plain = affinity.affinity(BACKEND, signatures, threshold, 3.0)
    np.fill_diagonal(plain, expected)
    landmarks = replace(signatures, inside=inside)
    assert affinity.affinity(BACKEND, landmarks, threshold, 3.0) == pytest.approx(plain)
    W = affinity.affinity(BACKEND, landmarks, threshold, 3.0, GraphLimits(matrix_nodes=0))
    assert isinstance(W, AffinityWithDiagonal)
    assert len(W) == m
    assert W.between(np.arange(m), np.arange(m)) == pytest.approx(plain)
    part = W.part(np.arange(0, m, 2))
    assert pytest.approx(plain[::2, ::2]) == part.W


def test_automatic_scale():
    assert [affinity_scale_for("auto", members) for members in (1, 50, 100, 200)] == [0.1, 5.0, 10.0, 10.0]
    assert affinity_scale_for(7, 50) == 7.0
    assert isinstance(affinity_scale_for(7, 50), float)


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
@pytest.mark.parametrize(("members", "k", "n"), [(1, 2, 5), (7, 3, 70), (100, 5, 33), (300, 2, 17), (8, 40, 65)])
def test_match_counts(instruction_set, members, k, n):
    rng = np.random.default_rng(members)
    a = rng.integers(-1, k, size=(members, n)).astype(np.int32)
    b = rng.integers(-1, k, size=(members, n + 3)).astype(np.int32)
    assert coassociate(BACKEND, a, b) == pytest.approx(reference.coassociation(a, b))
    assert coassociate(BACKEND, abs(a), abs(b)) == pytest.approx(reference.coassociation(abs(a), abs(b)))


def test_match_counts_across_panels():
    labels = np.random.default_rng(0).integers(0, 3, size=(20, 4200)).astype(np.int32)
    P = coassociate(BACKEND, labels[:, :50], labels)
    expected = (labels[:, :50, None] == labels[:, None, :]).mean(axis=0)
    assert (expected == P).all()


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
def test_products(instruction_set):
    rng = np.random.default_rng(0)
    for n in (1, 15, 16, 400):
        matrix, vectors = rng.normal(size=(n + 2, n)), rng.normal(size=(3, n))
        assert BACKEND.multiply(matrix, vectors) == pytest.approx(vectors @ matrix.T)


@given(arrays(np.int32, st.tuples(st.integers(1, 6), st.integers(1, 12)), elements=st.integers(-1, 2)))
@settings(max_examples=100)
def test_collapse_keeps_every_row(partitions):
    signatures = collapse(partitions)
    assert (signatures.labels[:, signatures.inverse] == partitions).all()
    assert signatures.weights.sum() == partitions.shape[1]
    assert len(np.unique(signatures.labels, axis=1).T) == len(signatures)


# The graph's normalised operator.


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
