"""W as a matrix, as stored match counts and counted anew at each product: all give what the plain versions give."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import reference
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from clusterforests import _core, consensus
from clusterforests.backends import CpuBackend
from clusterforests.combining import affinity
from clusterforests.combining import affinity_operator as pairs
from clusterforests.combining import eigenvectors as krylov
from clusterforests.combining.affinity import collapse, weight_table
from clusterforests.combining.normalized_cut import Graph, _best_cutoff, cut

BACKEND = CpuBackend(2)
KINDS = ["dense", "stored", "counted"]


@pytest.fixture(params=KINDS)
def kind(request, monkeypatch):
    """Force one representation, of the parts as well."""
    if request.param != "dense":
        monkeypatch.setattr(affinity, "DENSE_NODES", 0)
        monkeypatch.setattr(pairs, "DENSE_PART", 0)
        monkeypatch.setattr(pairs, "STORED_BYTES", 0 if request.param == "counted" else 2**28)
    return request.param


def noisy_labels(n, members, k=4, noise=0.35, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(0, k, n))
    labels = np.tile(truth, (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    return labels.astype(np.int32), truth


def graph_of(labels, threshold, sharpness, weights=None):
    signatures = collapse(labels, weights)
    return Graph(BACKEND, affinity.affinity(BACKEND, signatures, threshold, sharpness), signatures.weights), signatures


@pytest.mark.parametrize("threshold", [0.4, 0.0, 0.95, "auto"])
@pytest.mark.parametrize("members", [7, 100, 255, 300])
def test_products(kind, members, threshold):
    labels, _ = noisy_labels(170, members, seed=members)
    weights = np.random.default_rng(1).integers(1, 5, 170).astype(float)
    graph, signatures = graph_of(labels, threshold, 6.0, weights)
    assert graph.pairs.dense == (kind == "dense")
    assert kind == "dense" or graph.pairs.fits == (kind == "stored")
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(members, threshold, 6.0))
    vectors = np.random.default_rng(0).normal(size=(11, len(W)))
    expected = pytest.approx(vectors @ W, rel=1e-12, abs=1e-12 * W.max())
    assert graph.pairs.multiply(vectors) == expected
    assert graph.degrees == pytest.approx(W @ signatures.weights)
    before = graph.pairs.multiply(vectors)
    graph.pairs.release()
    assert (graph.pairs.multiply(vectors) == before).all()
    some = np.arange(0, len(W), 3)
    assert (W[np.ix_(some, some)] == graph.part(some).W).all()
    assert graph.part(some).pairs.multiply(vectors[:, some]) == pytest.approx(vectors[:, some] @ W[np.ix_(some, some)])
    assert graph.pairs.spread(some, vectors[:, some]) == pytest.approx(vectors[:, some] @ W[some])


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
    graph, signatures = graph_of(labels, threshold, 5.0, weights)
    rows = np.repeat(np.arange(len(signatures)), signatures.weights.astype(int))
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(members, threshold, 5.0))
    repeated = W[np.ix_(rows, rows)]
    expected, gap = reference.second_vector(repeated)
    assert gap > 1e-6
    z = graph.second_vector()[rows]
    z /= np.linalg.norm(z)
    assert min(abs(z - expected).max(), abs(z + expected).max()) < 1e-7
    signs = graph.second_vector(signs_only=True)[rows] >= 0
    assert (signs == (expected >= 0)).all() or (signs == (expected < 0)).all()
    found = cut(graph, 3, "ncut").labels()[rows]
    assert adjusted_rand_score(reference.recursive_cut(repeated, 3), found) == 1
    vector = graph.second_vector()
    weighted = W * np.outer(graph.weights, graph.weights)
    every = [reference.ncut_value(weighted, vector > v) for v in np.unique(vector)[:-1]]
    assert reference.ncut_value(weighted, vector >= _best_cutoff(graph, vector)) == pytest.approx(min(every))


@pytest.mark.parametrize("threshold", [0.4, "auto"])
def test_embedding(kind, threshold):
    labels, truth = noisy_labels(300, 100)
    graph, signatures = graph_of(labels, threshold, 10.0)
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(100, threshold, 10.0))
    W = W * np.sqrt(np.outer(graph.weights, graph.weights))  # the operator that repeated rows have
    root = np.sqrt(W @ np.sqrt(graph.weights) / np.sqrt(graph.weights))
    values, vectors = np.linalg.eigh(W / np.outer(root, root))
    expected = vectors[:, -4:] / np.linalg.norm(vectors[:, -4:], axis=1, keepdims=True)
    assert values[-4] - values[-5] > 0.01
    found = graph.embedding(4)
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-6)
    plain = KMeans(4, n_init=5, random_state=0).fit_predict(expected)[signatures.inverse]
    assert adjusted_rand_score(plain, consensus(labels, 4, method="kway", threshold=threshold)) == 1
    assert adjusted_rand_score(plain, truth) > 0.99


@pytest.mark.parametrize("method", ["ncut", "ncut-lowest", "ncut-best", "ncut-shifted", "kway"])
def test_consensus_is_that_of_the_matrix(kind, method, monkeypatch):
    labels, _ = noisy_labels(900, 60, noise=0.6)
    weights = np.random.default_rng(0).random(900) + 0.5
    found = consensus(labels, 4, method=method, sample_weight=weights)
    monkeypatch.undo()
    assert (found == consensus(labels, 4, method=method, sample_weight=weights)).all()


def test_few_and_equal_nodes(kind):
    """As many groups as there are signatures, all weights equal, degenerate eigenvalues."""
    labels, _ = noisy_labels(12, 8, noise=0.9)
    for method in ("ncut", "kway", "ncut-best"):
        groups = len(collapse(labels))
        assert len(set(consensus(labels, groups, method=method))) == groups
        assert len(set(consensus(labels, 2, method=method, sharpness=0))) == 2
    four = np.tile(np.repeat(np.arange(4), 10), (10, 1))
    assert adjusted_rand_score(four[0], consensus(four, 4)) == 1


@pytest.mark.parametrize("threshold", [0.4, "auto"])
@pytest.mark.parametrize("members", [60, 255])
def test_rows_not_clustered_everywhere(kind, members, threshold):
    labels, truth = noisy_labels(200, members, k=3, noise=0.1)
    labels[np.random.default_rng(1).random(labels.shape) < 0.4] = -1
    graph, signatures = graph_of(labels, threshold, 5.0)
    assert graph.pairs.dense == (kind == "dense")
    P = reference.coassociation(signatures.labels, signatures.labels)
    W = np.expm1(5 * P) if threshold == "auto" else reference.regularised(P, threshold, 5.0)
    vectors = np.random.default_rng(0).normal(size=(3, len(W)))
    assert graph.pairs.multiply(vectors) == pytest.approx(vectors @ W, rel=1e-12, abs=1e-10)
    some = np.arange(0, len(W), 2)
    assert pytest.approx(W[np.ix_(some, some)]) == graph.part(some).W
    found = consensus(labels, 3, threshold=threshold)
    assert adjusted_rand_score(reference.recursive_cut(W, 3)[signatures.inverse], found) == 1
    assert adjusted_rand_score(truth, found) > 0.95


def test_many_partitions_with_gaps_need_a_matrix(monkeypatch):
    monkeypatch.setattr(affinity, "DENSE_NODES", 0)
    labels, _ = noisy_labels(40, 256, k=3)
    labels[0, :5] = -1
    assert graph_of(labels, 0.4, 5.0)[0].pairs.dense
    signatures = collapse(labels)
    monkeypatch.setattr("os.sysconf", lambda name: 1 if name == "SC_PAGE_SIZE" else 1000)
    monkeypatch.setattr("clusterforests._base.memory_limits.SMALL", 0)
    with pytest.raises(MemoryError, match="at most 255 partitions where some have no label"):
        affinity.affinity(BACKEND, signatures, 0.4, 5.0)
    monkeypatch.setattr(affinity, "MOST_WITH_GAPS", 300)
    with pytest.raises(ValueError, match="one entry per possible count"):
        affinity.affinity(BACKEND, signatures, 0.4, 5.0)


def test_slow_convergence_is_told(kind, monkeypatch):
    labels, _ = noisy_labels(900, 60, noise=0.9)
    graph, _ = graph_of(labels, "auto", 3.0)
    monkeypatch.setattr(krylov, "MAX_PRODUCTS", 2)
    if kind == "dense":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph.second_vector()
    else:
        with pytest.warns(UserWarning, match="either side"):
            graph.second_vector()


def test_the_basis_starts_again_from_its_best(monkeypatch):
    rng = np.random.default_rng(0)
    values = np.concatenate([[1.0, 0.9, 0.89], np.linspace(0, 0.85, 297)])
    basis = np.linalg.qr(rng.normal(size=(300, 300)))[0]
    A = (basis * values) @ basis.T - np.outer(basis[:, 0], basis[:, 0])
    monkeypatch.setattr(krylov, "MOST", 16)
    sizes = []

    def operator(vectors):
        sizes.append(len(vectors))
        return vectors @ A

    start = rng.normal(size=(4, 300))
    found, converged = krylov.leading(operator, basis[:, 0], start, 2, lambda ritz: ritz.residuals.max() < 1e-10)
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
    graph = Graph(BACKEND, affinity.affinity(BACKEND, replace(signatures, inside=inside), 0.4, 6.0), signatures.weights)
    W = reference.match_weights(signatures.labels, signatures.labels, weight_table(40, 0.4, 6.0))
    others = np.exp(6.0 * np.where(inside.P < 0.4, 0, inside.P))
    np.fill_diagonal(W, inside.same * np.exp(6.0) + (1 - inside.same) * others)
    vectors = rng.normal(size=(3, m))
    np.testing.assert_allclose(graph.pairs.multiply(vectors), vectors @ W, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(graph.W, W)
    some = np.arange(0, m, 2)
    np.testing.assert_allclose(graph.part(some).W, W[np.ix_(some, some)])
    np.testing.assert_allclose(graph.pairs.spread(some, vectors[:, some]), vectors[:, some] @ W[some], atol=1e-8)
