"""W as a matrix, as stored match counts and counted anew at each product: all give what the plain versions give."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import reference
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from clusterforests import _core, consensus_clustering
from clusterforests.backends import CpuBackend
from clusterforests.consensus import affinity
from clusterforests.consensus.affinity import LIMITS, Graph, GraphLimits, collapse, weight_table
from clusterforests.consensus.consensus_clustering import combine
from clusterforests.consensus.eigenvectors import leading_vectors, second_vector, spectral_embedding
from clusterforests.consensus.nodes import CutSettings
from clusterforests.consensus.normalized_cut import recursive_cut

BACKEND = CpuBackend(2)
# Limits that force one representation, of the parts as well.
KINDS = {
    "dense": LIMITS,
    "stored": GraphLimits(matrix_nodes=0, matrix_part=0, stored_bytes=2**28),
    "counted": GraphLimits(matrix_nodes=0, matrix_part=0, stored_bytes=0),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def noisy_labels(n, members, k=4, noise=0.35, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(0, k, n))
    labels = np.tile(truth, (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    return labels.astype(np.int32), truth


def graph_of(kind, labels, threshold, scale, weights=None):
    signatures = collapse(labels, weights)
    return graph_between(signatures, threshold, scale, KINDS[kind]), signatures


def graph_between(signatures, threshold, scale, limits):
    W = affinity.affinity(BACKEND, signatures, threshold, scale, limits)
    return Graph(BACKEND, W, signatures.weights, limits)


def cut_by(kind, labels, n_clusters, method="ncut", threshold=0.4, scale="auto", weights=None):
    """What `consensus` gives, with W in one representation."""
    return combine(
        BACKEND, labels, CutSettings(n_clusters, method, threshold, scale), weights, limits=KINDS[kind]
    ).labels


@pytest.mark.parametrize("threshold", [0.4, 0.0, 0.95, "auto"])
@pytest.mark.parametrize("members", [7, 100, 255, 300])
def test_products(kind, members, threshold):
    labels, _ = noisy_labels(170, members, seed=members)
    weights = np.random.default_rng(1).integers(1, 5, 170).astype(float)
    graph, signatures = graph_of(kind, labels, threshold, 6.0, weights)
    assert graph.affinity.is_matrix == (kind == "dense")
    assert kind == "dense" or graph.affinity.fits == (kind == "stored")
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(members, threshold, 6.0))
    vectors = np.random.default_rng(0).normal(size=(11, len(W)))
    expected = pytest.approx(vectors @ W, rel=1e-12, abs=1e-12 * W.max())
    assert graph.affinity.multiply(vectors) == expected
    assert graph.degrees == pytest.approx(W @ signatures.weights)
    before = graph.affinity.multiply(vectors)
    graph.affinity.release()
    assert (graph.affinity.multiply(vectors) == before).all()
    some = np.arange(0, len(W), 3)
    assert (W[np.ix_(some, some)] == graph.part(some).W).all()
    assert graph.part(some).affinity.multiply(vectors[:, some]) == pytest.approx(
        vectors[:, some] @ W[np.ix_(some, some)]
    )
    assert graph.affinity.multiply_columns(some, vectors[:, some]) == pytest.approx(vectors[:, some] @ W[some])


def test_labels_below_zero_match_nothing():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(-2, 3, size=(9, 40)).astype(np.int32), rng.integers(-2, 3, (9, 70)).astype(np.int32)
    table = rng.normal(size=10)
    vectors = rng.normal(size=(2, 70))
    found = BACKEND.matches(columns, table).multiply(rows, vectors)
    assert found == pytest.approx(vectors @ reference.match_weights(rows, columns, table).T)


@pytest.mark.parametrize("threshold", [0.4, "auto"])
@pytest.mark.parametrize("members", [30, 260])
def test_a_row_depends_on_nothing_else(members, threshold):
    """Neither on the other rows, nor on threads, instruction set or whether counts were stored: bit for bit."""
    labels, _ = noisy_labels(4500, members, noise=0.5)
    table = weight_table(members, threshold, 8.0)
    vectors = np.random.default_rng(0).normal(size=(5, 4500))
    packed = _core.Matches(labels, table)
    expected = packed.multiply(labels, vectors, 1)
    packed.store(labels, 2)
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            assert (packed.multiply(labels, vectors, 2) == expected).all()
            assert (packed.multiply(None, vectors, 2) == expected).all()
            some = np.ascontiguousarray(labels[:, 4001:4040:3])
            assert (packed.multiply(some, vectors, 2) == expected[:, 4001:4040:3]).all()
            again = _core.Matches(labels, table)
            again.store(labels, 1)
            assert (again.multiply(None, vectors, 1) == expected).all()
    finally:
        _core.use_instruction_set("auto")


def test_only_what_counts_is_stored():
    labels, _ = noisy_labels(2000, 50, k=8, noise=0.3)
    sparse, dense = (_core.Matches(labels, weight_table(50, threshold, 5.0)) for threshold in (0.4, "auto"))
    for packed in (sparse, dense):
        packed.store(labels, 2)
    assert dense.stored_bytes >= 2000**2
    assert sparse.stored_bytes < dense.stored_bytes / 2


@pytest.mark.parametrize(("members", "threshold"), [(100, 0.4), (100, "auto"), (300, 0.3), (7, 0.0)])
@pytest.mark.parametrize("seed", range(3))
def test_second_vector_and_cuts(kind, members, threshold, seed):
    labels, _ = noisy_labels(150, members, k=3, seed=seed)
    weights = np.random.default_rng(seed).integers(1, 4, 150).astype(float)
    graph, signatures = graph_of(kind, labels, threshold, 5.0, weights)
    rows = np.repeat(np.arange(len(signatures)), signatures.weights.astype(int))
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(members, threshold, 5.0))
    repeated = W[np.ix_(rows, rows)]
    expected, gap = reference.second_vector(repeated)
    assert gap > 1e-6
    z = second_vector(graph)[rows]
    z /= np.linalg.norm(z)
    assert min(abs(z - expected).max(), abs(z + expected).max()) < 1e-7
    signs = second_vector(graph, signs_only=True)[rows] >= 0
    assert (signs == (expected >= 0)).all() or (signs == (expected < 0)).all()
    found = recursive_cut(graph, 3).labels()[rows]
    assert adjusted_rand_score(reference.recursive_cut(repeated, 3), found) == 1


@pytest.mark.parametrize("threshold", [0.4, "auto"])
def test_embedding(kind, threshold):
    labels, truth = noisy_labels(300, 100)
    graph, signatures = graph_of(kind, labels, threshold, 10.0)
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(100, threshold, 10.0))
    W = W * np.sqrt(np.outer(graph.weights, graph.weights))  # the operator that repeated rows have
    root = np.sqrt(W @ np.sqrt(graph.weights) / np.sqrt(graph.weights))
    values, vectors = np.linalg.eigh(W / np.outer(root, root))
    expected = vectors[:, -4:] / np.linalg.norm(vectors[:, -4:], axis=1, keepdims=True)
    assert values[-4] - values[-5] > 0.01
    found = spectral_embedding(graph, 4)
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-6)
    plain = KMeans(4, n_init=5, random_state=0).fit_predict(expected)[signatures.inverse]
    assert adjusted_rand_score(plain, cut_by(kind, labels, 4, "kway", threshold)) == 1
    assert adjusted_rand_score(plain, truth) > 0.99


@pytest.mark.parametrize("method", ["ncut", "kway"])
def test_consensus_is_that_of_the_matrix(kind, method):
    labels, _ = noisy_labels(900, 60, noise=0.6)
    weights = np.random.default_rng(0).random(900) + 0.5
    found = cut_by(kind, labels, 4, method, weights=weights)
    assert (
        found == consensus_clustering(labels, 4, method=method, affinity_threshold=0.4, sample_weight=weights)
    ).all()


def test_few_and_equal_nodes(kind):
    """As many groups as there are signatures, all weights equal, degenerate eigenvalues."""
    labels, _ = noisy_labels(12, 8, noise=0.9)
    for method in ("ncut", "kway"):
        groups = len(collapse(labels))
        assert len(set(cut_by(kind, labels, groups, method))) == groups
        assert len(set(cut_by(kind, labels, 2, method, "auto", scale=0))) == 2
    four = np.tile(np.repeat(np.arange(4), 10), (10, 1))
    assert adjusted_rand_score(four[0], cut_by(kind, four, 4)) == 1


@pytest.mark.parametrize("threshold", [0.4, "auto"])
@pytest.mark.parametrize("members", [60, 255])
def test_rows_not_clustered_everywhere(kind, members, threshold):
    labels, truth = noisy_labels(200, members, k=3, noise=0.1)
    labels[np.random.default_rng(1).random(labels.shape) < 0.4] = -1
    graph, signatures = graph_of(kind, labels, threshold, 5.0)
    assert graph.affinity.is_matrix == (kind == "dense")
    P = reference.coassociation(signatures.labels, signatures.labels)
    W = np.expm1(5 * P) if threshold == "auto" else reference.regularised(P, threshold, 5.0)
    vectors = np.random.default_rng(0).normal(size=(3, len(W)))
    assert graph.affinity.multiply(vectors) == pytest.approx(vectors @ W, rel=1e-12, abs=1e-10)
    some = np.arange(0, len(W), 2)
    assert pytest.approx(W[np.ix_(some, some)]) == graph.part(some).W
    found = cut_by(kind, labels, 3, threshold=threshold)
    assert adjusted_rand_score(reference.recursive_cut(W, 3)[signatures.inverse], found) == 1
    assert adjusted_rand_score(truth, found) > 0.95


def test_many_partitions_with_gaps_need_a_matrix(monkeypatch):
    labels, _ = noisy_labels(450, 256, k=3)
    labels[0, :5] = -1
    assert graph_of("counted", labels, 0.4, 5.0)[0].affinity.is_matrix
    signatures = collapse(labels)
    monkeypatch.setattr("clusterforests._utils.memory.available_memory", lambda: 2**22)
    with pytest.raises(MemoryError, match="at most 255 partitions if rows may have no label"):
        affinity.affinity(BACKEND, signatures, 0.4, 5.0)
    with pytest.raises(ValueError, match="one entry per possible count"):
        affinity.affinity(BACKEND, signatures, 0.4, 5.0, GraphLimits(matrix_nodes=0, most_with_missing_labels=300))


def test_slow_convergence_is_told(kind):
    """Of an operator; a matrix is left to LAPACK."""
    labels, _ = noisy_labels(900, 60, noise=0.9)
    limits = replace(KINDS[kind], max_products=2)
    graph = graph_between(collapse(labels), "auto", 3.0, limits)
    expected = second_vector(graph_of("dense", labels, "auto", 3.0)[0])
    if kind == "dense":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert second_vector(graph) == pytest.approx(expected, abs=1e-8)
    else:
        with pytest.warns(UserWarning, match="either side"):
            second_vector(graph)


def test_the_basis_starts_again_from_its_best():
    rng = np.random.default_rng(0)
    values = np.concatenate([[1.0, 0.9, 0.89], np.linspace(0, 0.85, 297)])
    basis = np.linalg.qr(rng.normal(size=(300, 300)))[0]
    A = (basis * values) @ basis.T - np.outer(basis[:, 0], basis[:, 0])
    sizes = []

    def operator(vectors):
        sizes.append(len(vectors))
        return vectors @ A

    start = rng.normal(size=(4, 300))
    limits = GraphLimits(max_basis=16)
    found, converged = leading_vectors(
        operator, basis[:, 0], start, 2, lambda ritz: ritz.residuals.max() < 1e-10, limits
    )
    assert converged
    assert len(sizes) > 4
    assert found.values[:2] == pytest.approx([0.9, 0.89])
    assert abs(np.abs(found.vectors @ basis[:, 1:3]) - np.eye(2)).max() < 1e-7


def test_bad_operators_are_refused():
    labels = np.zeros((4, 10), dtype=np.int32)
    with pytest.raises(ValueError, match="one entry per possible count"):
        _core.Matches(labels, np.zeros(4))
    packed = _core.Matches(labels, np.zeros(5))
    with pytest.raises(ValueError, match="one entry per column"):
        packed.multiply(labels, np.zeros((1, 9)), 1)
    with pytest.raises(ValueError, match="same partitions"):
        packed.multiply(labels[:3].copy(), np.zeros((1, 10)), 1)
    with pytest.raises(ValueError, match=r"at most 2\^22 labels"):
        _core.Matches(np.full((1, 2), 2**31 - 1, np.int32), np.zeros(2))


def test_another_diagonal(kind):
    """Of a graph of landmarks: what two rows that one stands for share, not what a row shares with itself."""
    labels, _ = noisy_labels(150, 40)
    signatures = collapse(labels)
    m = len(signatures)
    rng = np.random.default_rng(0)
    inside = affinity.Inside(rng.random(m) / 2, rng.random(m))
    graph = graph_between(replace(signatures, inside=inside), 0.4, 6.0, KINDS[kind])
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(40, 0.4, 6.0))
    others = np.exp(6.0 * np.where(inside.P < 0.4, 0, inside.P))
    np.fill_diagonal(W, inside.same * np.exp(6.0) + (1 - inside.same) * others)
    vectors = rng.normal(size=(3, m))
    np.testing.assert_allclose(graph.affinity.multiply(vectors), vectors @ W, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(graph.W, W)
    some = np.arange(0, m, 2)
    np.testing.assert_allclose(graph.part(some).W, W[np.ix_(some, some)])
    np.testing.assert_allclose(
        graph.affinity.multiply_columns(some, vectors[:, some]), vectors[:, some] @ W[some], atol=1e-8
    )
