"""Match counts, regularisation, cuts, linkage and the labels-only entry."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from clusterforests import _core, consensus_clustering
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Graph, affinity, coassociate, collapse, regularise
from clusterforests.consensus.eigenvectors import second_vector
from clusterforests.consensus.methods import METHODS, needs_values
from clusterforests.consensus.normalized_cut import CutNode, _best_cutoff, _propose, recursive_cut

BACKEND = CpuBackend(2)
OF_LABELS = [m for m in METHODS if not needs_values(m)]
CUTS = [m for m in METHODS if m.startswith("ncut")]


def noisy_partitions(n=60, members=30, k=3, noise=0.25, seed=0):
    """Copies of a truth in which some labels are random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.tile(truth, (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    return labels.astype(np.int32), truth


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


def test_regularisation():
    labels, _ = noisy_partitions(members=10)
    signatures = collapse(labels)
    W = affinity(BACKEND, signatures, threshold=0.4, scale=3.0)
    P = reference.coassociation(signatures.labels, signatures.labels)
    assert pytest.approx(reference.regularised(P, 0.4, 3.0)) == W
    assert regularise(np.array([0.39, 0.4]), 0.4, 10.0) == pytest.approx([1.0, np.exp(4.0)])
    unlabelled = labels.copy()
    unlabelled[0, :7] = -1
    signatures = collapse(unlabelled)
    P = reference.coassociation(signatures.labels, signatures.labels)
    assert affinity(BACKEND, signatures, 0.4, 3.0) == pytest.approx(reference.regularised(P, 0.4, 3.0))


def weighted_graph(seed, n=40, dense=False):
    rng = np.random.default_rng(seed)
    labels, _ = noisy_partitions(n=n, seed=seed)
    signatures = collapse(labels)
    weights = rng.integers(1, 4, len(signatures)).astype(float)
    W = affinity(BACKEND, signatures, 0.3, 4.0)
    return Graph(BACKEND, W, weights), np.repeat(np.arange(len(weights)), weights.astype(int))


@pytest.mark.parametrize("seed", range(8))
def test_second_vector_with_weights_is_that_of_repeated_rows(seed):
    graph, rows = weighted_graph(seed)
    expected, gap = reference.second_vector(graph.W[np.ix_(rows, rows)])
    assert gap > 1e-6
    z = second_vector(graph)[rows]
    z /= np.linalg.norm(z)
    assert min(abs(z - expected).max(), abs(z + expected).max()) < 1e-7


def test_degenerate_graph_has_one_answer():
    """Four equal groups: the second eigenvalue is threefold."""
    labels = np.repeat(np.arange(4), 10)[None, :].astype(np.int32)
    noise = np.random.default_rng(0).integers(0, 2, size=(9, 40)).astype(np.int32) * 0
    partitions = np.vstack([labels, noise])
    first, second = (consensus_clustering(partitions, 4) for _ in range(2))
    assert (first == second).all()
    assert adjusted_rand_score(labels[0], first) == 1


@pytest.mark.parametrize("seed", range(5))
def test_recursive_cut_matches_the_plain_one(seed):
    labels, _ = noisy_partitions(seed=seed, k=4, members=40)
    P = reference.coassociation(labels, labels)
    expected = reference.recursive_cut(reference.regularised(P, 0.4, 4.0), 4)
    assert adjusted_rand_score(expected, consensus_clustering(labels, 4)) == 1


@pytest.mark.parametrize("rule", CUTS)
def test_cut_tree_is_a_tree_of_cuts(rule):
    graph, _ = weighted_graph(3, n=80)
    tree = recursive_cut(graph, 5, rule)
    assert len(tree.nodes) == 9
    assert sorted(node.label for node in tree.nodes if node.left < 0) == list(range(5))
    for node in tree.nodes:
        if node.left >= 0:
            left, right = tree.nodes[node.left], tree.nodes[node.right]
            assert sorted([*left.members, *right.members]) == sorted(node.members)
            part = graph.W[np.ix_(node.members, node.members)]
            w = graph.weights[node.members]
            side = np.isin(node.members, right.members)
            assert node.ncut == pytest.approx(reference.ncut_value(part * np.outer(w, w), side))
    sizes = np.bincount(tree.labels(), weights=graph.weights)
    assert (np.diff(sizes) <= 0).all()


def test_largest_part_is_split_next():
    graph, _ = weighted_graph(5, n=90)
    nodes = recursive_cut(graph, 6, "ncut").nodes
    for step in range(1, 5):
        children = 1 + 2 * step
        split = next(i for i, node in enumerate(nodes) if node.left == children)
        open_then = [i for i in range(children) if nodes[i].left < 0 or nodes[i].left >= children]
        assert nodes[split].size == max(nodes[i].size for i in open_then)


def test_best_cutoff_has_the_lowest_ncut():
    graph, _ = weighted_graph(6)
    vector = second_vector(graph)
    values = np.unique(vector)
    weighted = graph.W * np.outer(graph.weights, graph.weights)
    every = [reference.ncut_value(weighted, vector > v) for v in values[:-1]]
    assert reference.ncut_value(weighted, vector >= _best_cutoff(graph, vector)) == pytest.approx(min(every))


def test_shifted_cutoff_moves_towards_the_smaller_side():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [60, 12])
    labels = np.tile(truth, (40, 1))
    wrong = rng.random(labels.shape) < 0.3
    labels[wrong] = 1 - labels[wrong]
    signatures = collapse(labels.astype(np.int32))
    graph = Graph(BACKEND, affinity(BACKEND, signatures, 0.4, 4.0), signatures.weights)
    node = CutNode(np.arange(len(signatures)), 72.0)
    _propose(graph, node, "ncut-shifted")
    z = node.vector
    small = z >= 0 if graph.weights[z >= 0].sum() < 36 else z < 0
    assert np.sign(node.cutoff) == np.sign(z[small].mean())
    gamma = graph.weights[small].sum() / graph.weights[~small].sum()
    large_mean, small_mean = (np.average(z[s], weights=graph.weights[s]) for s in (~small, small))
    expected = (large_mean + np.sqrt(gamma) * small_mean) / (1 + np.sqrt(gamma))
    assert node.cutoff == pytest.approx(expected)


@pytest.mark.parametrize("method", OF_LABELS)
def test_consensus_finds_the_truth(method):
    noise = 0.02 if method == "single" else 0.25
    labels, truth = noisy_partitions(noise=noise)
    assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) > 0.95


@pytest.mark.parametrize("method", OF_LABELS)
def test_unclustered_rows_get_labels(method):
    labels, truth = noisy_partitions(noise=0.02, members=60)
    hidden = np.random.default_rng(1).random(labels.shape) < 0.5
    hidden[0] = False
    found = consensus_clustering(np.where(hidden, -1, labels), 3, method=method)
    assert adjusted_rand_score(truth, found) > 0.95


def test_label_names_do_not_matter():
    labels, _ = noisy_partitions()
    renamed = labels * 1000 + np.arange(len(labels))[:, None]
    assert (consensus_clustering(labels, 3) == consensus_clustering(renamed, 3)).all()
    assert (consensus_clustering(labels.tolist(), 3) == consensus_clustering(labels, 3)).all()


def test_many_nodes_are_iterated():
    labels, truth = noisy_partitions(n=700, members=60, noise=0.4)
    assert len(collapse(labels)) > 600
    for method in ("kway", "ncut"):
        assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) > 0.9


@pytest.mark.parametrize("method", OF_LABELS)
def test_one_cluster_and_all_clusters(method):
    labels, _ = noisy_partitions(n=12, noise=0.9)
    assert set(consensus_clustering(labels, 1, method=method)) == {0}
    groups = len(collapse(labels))
    assert len(set(consensus_clustering(labels, groups, method=method))) == groups
    with pytest.raises(ValueError, match=f"n_clusters={12} is more than the"):
        consensus_clustering(np.vstack([labels[:, :6], labels[:, :6]]).repeat(2, axis=1), 12, method=method)


@pytest.mark.parametrize("method", CUTS)
def test_equal_weights_can_be_cut(method):
    """Rows that are never told apart where both are clustered have weight 1."""
    gaps = [[5, 5, 100, 100, -7, 7], [0, 0, 1, 1, 1, 1], [3, 3, 3, 9, 9, -1]]
    assert len(set(consensus_clustering(gaps, 4, method=method))) == 4


@pytest.mark.parametrize("method", OF_LABELS)
def test_many_partitions_and_sharp_graphs(method):
    labels, truth = noisy_partitions(members=2000, noise=0.1)
    assert adjusted_rand_score(truth, consensus_clustering(labels, 3, method=method)) == 1
    assert adjusted_rand_score(truth, consensus_clustering(labels[:100], 3, method=method, affinity_scale=50)) == 1
    assert len(set(consensus_clustering(np.tile(np.arange(6) // 2, (8000, 1)), 3, method=method))) == 3


@pytest.mark.parametrize(
    ("partitions", "error", "message"),
    [
        ([[0, 1], [0]], ValueError, "same number of rows"),
        ([0, 1, 0], ValueError, r"shape \(n_partitions, n_samples\)"),
        (np.empty((0, 3), int), ValueError, "both at least 1"),
        ([[0.0, 1.5, 2.0]], TypeError, "integer labels, not float64"),
        ([["a", "b", "b"]], TypeError, "Encode other labels as integers"),
        ([[0, 1, -1], [0, 1, -1]], ValueError, "the first is row 2"),
    ],
)
def test_bad_partitions(partitions, error, message):
    with pytest.raises(error, match=message):
        consensus_clustering(partitions, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("method", "ward"),
        ("affinity_threshold", 1.1),
        ("affinity_scale", "sharp"),
    ],
)
def test_bad_parameters(name, value):
    labels, _ = noisy_partitions()
    arguments = {"n_clusters": 3, name: value}
    with pytest.raises(ValueError, match=f"{name}={value!r} is not allowed"):
        consensus_clustering(labels, **arguments)


def weighted_partitions(seed):
    labels, _ = noisy_partitions(n=50, members=12, seed=seed)
    labels[:, 40:] = labels[:, 30:40]  # some rows share their signature
    rng = np.random.default_rng(seed)
    labels[rng.random(labels.shape) < 0.1] = -1
    labels[0] = np.abs(labels[0])
    return labels, rng.integers(0, 4, 50)


@pytest.mark.parametrize("method", OF_LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repeated_rows(method, seed):
    labels, weights = weighted_partitions(seed)
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(50), weights))
    found = consensus_clustering(labels, 3, method=method, sample_weight=weights)
    assert (consensus_clustering(labels[:, rows], 3, method=method) == found[rows]).all()
    assert (consensus_clustering(labels, 3, method=method, sample_weight=np.full(50, 2.5)) >= 0).all()
    assert (
        consensus_clustering(labels, 3, method=method, sample_weight=3)
        == consensus_clustering(np.tile(labels, 3), 3, method=method)[:50]
    ).all()


@pytest.mark.parametrize("heavy", range(3))
def test_weights_count(heavy):
    """Cluster 0 is the heaviest, and the heaviest part is split next."""
    truth = np.repeat([0, 1, 2], [6, 4, 4])
    labels = np.array([truth, truth, truth, np.arange(14) % 2], dtype=np.int32)
    weights = np.where(truth == heavy, 50.0, 1.0)
    found = consensus_clustering(labels, 3, method="average", sample_weight=weights)
    assert set(found[truth == heavy]) == {0}
    split = consensus_clustering(labels, 3, sample_weight=weights)
    assert len(set(split[truth == heavy])) == 2


def test_rows_without_weight():
    labels, weights = weighted_partitions(7)
    weights = weights.astype(float)
    signatures = collapse(labels)
    own = np.bincount(signatures.inverse, weights)[signatures.inverse]
    assert (own == 0).any()
    assert ((weights == 0) & (own > 0)).any()
    found = consensus_clustering(labels, 3, method="average", sample_weight=weights)
    P = reference.coassociation(labels, labels)
    for row in np.flatnonzero(weights == 0):
        if own[row] > 0:
            twins = (signatures.inverse == signatures.inverse[row]) & (weights > 0)
            assert set(found[twins]) == {found[row]}
        else:
            shares = [np.average(P[row, found == c], weights=weights[found == c]) for c in range(3)]
            assert found[row] == np.argmax(shares)


def test_weights_do_not_depend_on_the_order_of_rows():
    labels, _ = weighted_partitions(1)
    weights = np.random.default_rng(0).random(50)
    order = np.random.default_rng(1).permutation(50)
    first, second = collapse(labels, weights), collapse(labels[:, order], weights[order])
    assert (first.weights == second.weights).all()
    assert first.weights.sum() == pytest.approx(weights.sum())


@pytest.mark.parametrize("weights", [[1, 2], [-1] * 60, [0] * 60, [np.nan] * 60, ["a"] * 60])
def test_bad_weights(weights):
    labels, _ = noisy_partitions()
    with pytest.raises(ValueError, match="sample_weight"):
        consensus_clustering(labels, 3, sample_weight=weights)
