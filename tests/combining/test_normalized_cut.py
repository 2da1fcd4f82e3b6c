"""The cuts of the consensus graph in small: every step against plain linear algebra."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose

from clusterforests.backends import CpuBackend
from clusterforests.combining import affinity
from clusterforests.combining import affinity_operator as pairs
from clusterforests.combining import normalized_cut as spectral
from clusterforests.combining.affinity import collapse, regularise
from clusterforests.combining.normalized_cut import (
    CutNode,
    CutTree,
    Graph,
    _best_cutoff,
    _on_right,
    _propose,
    _shifted_cutoff,
    cut,
)

BACKEND = CpuBackend(1)
KINDS = ["dense", "operator"]


@pytest.fixture(params=KINDS)
def kind(request, monkeypatch):
    """W as a matrix, or as an operator down to the smallest part."""
    if request.param == "operator":
        monkeypatch.setattr(affinity, "DENSE_NODES", 0)
        monkeypatch.setattr(pairs, "DENSE_PART", 0)
    return request.param


def graph_of(n=60, members=25, k=3, noise=0.3, seed=0, weighted=True):
    rng = np.random.default_rng(seed)
    labels = np.tile(np.sort(rng.integers(0, k, n)), (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    signatures = collapse(labels.astype(np.int32))
    weights = rng.integers(1, 4, len(signatures)).astype(float) if weighted else np.ones(len(signatures))
    graph = Graph(BACKEND, affinity.affinity(BACKEND, signatures, 0.4, 5.0), weights)
    P = (signatures.labels[:, :, None] == signatures.labels[:, None, :]).mean(axis=0)
    return graph, reference.regularised(P, 0.4, 5.0), weights


def from_matrix(W, weights=None):
    W = np.asarray(W, dtype=float)
    return Graph(BACKEND, W, np.ones(len(W)) if weights is None else np.asarray(weights, dtype=float))


def normalised(W, weights):
    """S W S with S = sqrt(weights / degrees), and its eigenvectors, largest first."""
    root = np.sqrt(weights / (W @ weights))
    matrix = root[:, None] * W * root[None, :]
    values, vectors = np.linalg.eigh(matrix)
    return matrix, values[::-1], vectors[:, ::-1].T


def test_graph_is_the_normalised_operator(kind):
    graph, W, weights = graph_of()
    assert graph.pairs.dense == (kind == "dense")
    matrix, _, vectors = normalised(W, weights)
    v = np.random.default_rng(0).normal(size=(3, len(W)))
    assert_allclose(graph.W, W, rtol=1e-9)
    assert graph.degrees == pytest.approx(W @ weights)
    assert np.linalg.norm(graph.first) == pytest.approx(1)
    assert graph.first * np.sign(vectors[0, 0]) == pytest.approx(vectors[0])
    assert graph.apply(v[0]) == pytest.approx(matrix @ v[0])
    rest = matrix - np.outer(vectors[0], vectors[0])
    assert_allclose(graph.deflated(), rest, atol=1e-12)
    assert_allclose(graph.apply_rest(v), v @ rest, atol=1e-12)
    assert graph._apply_deflated(v[0]) == pytest.approx(rest @ v[0], abs=1e-12)
    some = np.arange(5, len(W), 3)
    part = graph.part(some)
    assert_allclose(part.W, W[np.ix_(some, some)], rtol=1e-9)
    assert (part.weights == weights[some]).all()


@pytest.mark.parametrize("signs_only", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_second_vector(kind, seed, signs_only):
    """Per row, first entry that counts below zero, length as the operator's product gives it."""
    graph, W, weights = graph_of(seed=seed)
    matrix, _, vectors = normalised(W, weights)
    expected = matrix @ vectors[1] / np.sqrt(weights)
    expected *= -np.sign(expected[0])
    z = graph.second_vector(signs_only=True) if signs_only else graph.second_vector()
    assert z[0] < 0
    if signs_only:
        assert ((z >= 0) == (expected >= 0)).all()
    assert z == pytest.approx(expected, abs=1e-2 if signs_only else 1e-8)


def test_where_all_weights_are_equal_the_vector_itself_decides():
    z = from_matrix(np.ones((6, 6))).second_vector()
    start = spectral._start_vector(6)
    expected = start - start.mean()
    expected *= -np.sign(expected[0]) / np.linalg.norm(expected)
    assert z == pytest.approx(expected)


def test_the_start_vector_is_fixed_and_centred():
    """Degenerate graphs are cut by it, so that it must be the same in every version."""
    assert spectral._start_vector(3) == pytest.approx([0.3833108082136426, -0.06847200295149003, -0.47356622840740226])
    start = spectral._start_vector(2000)
    assert -0.5 <= start.min() < -0.49
    assert 0.49 < start.max() < 0.5


def test_an_entry_on_the_cutoff_goes_right():
    vector = np.array([-2.0, -1e-9, 0.0, 1e-9, 1.0, 0.5, 0.5 - 1e-8, 0.5 - 3e-8])
    assert _on_right(vector, 0.0).tolist() == [False, True, True, True, True, True, True, True]
    assert _on_right(vector, 0.5).tolist() == [False, False, False, False, True, True, True, False]


def test_equal_eigenvalues_have_one_answer(kind):
    """Three groups alike: the second eigenvalue is twofold, and the fixed start vector's projection is taken."""
    labels = np.tile(np.repeat(np.arange(3), 4), (4, 1)).astype(np.int32)
    labels = np.vstack([labels, np.arange(12, dtype=np.int32)[None, :]])  # no two rows alike
    signatures = collapse(labels)
    graph = Graph(BACKEND, affinity.affinity(BACKEND, signatures, 0.4, 5.0), signatures.weights)
    W = regularise(reference.coassociation(signatures.labels, signatures.labels), 0.4, 5.0)
    matrix, values, vectors = normalised(W, signatures.weights)
    assert values[1] == pytest.approx(values[2])
    assert values[2] > values[3] + 0.1
    along = vectors[1:3] @ spectral._start_vector(12)
    expected = matrix @ (along @ vectors[1:3]) / np.linalg.norm(along)
    z = graph.second_vector()
    assert z[0] < -0.01
    assert z == pytest.approx(-expected * np.sign(expected[0]), abs=1e-7)


def test_the_sign_is_that_of_the_first_entry_that_counts():
    """Node 0 lies between two groups: its own entry is rounding and decides nothing."""
    W = np.full((7, 7), 0.01)
    W[1:4, 1:4] = W[4:, 4:] = 1.0
    W[0, :] = W[:, 0] = 0.5
    z = from_matrix(W).second_vector()
    assert abs(z[0]) < 1e-8
    assert (z[1:4] < 0).all()
    assert (z[4:] > 0).all()


def test_what_counts_is_relative_to_the_largest_entry(monkeypatch):
    graph = from_matrix(np.ones((3, 3)))
    for share, sign in ((1e-7, 1), (1e-9, -1)):
        vote = 0.02 * np.array([-share, 1.0, -0.5])
        monkeypatch.setattr(spectral, "_leading_vector", lambda _: np.ones(3))
        monkeypatch.setattr(Graph, "apply", lambda *_, vote=vote: vote)
        assert graph.second_vector().tolist() == (sign * vote).tolist()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_embedding(kind, count, monkeypatch):
    graph, W, weights = graph_of(n=80, k=4)
    _, values, vectors = normalised(W, weights)
    assert values[count - 1] - values[count] > 0.001
    expected = vectors[:count].T / np.linalg.norm(vectors[:count].T, axis=1, keepdims=True)
    found = {"as it is": graph.embedding(count)}
    if kind == "dense":
        monkeypatch.setattr(spectral, "DENSE", 10)
        assert len(W) > 16
        found["iterated"] = graph.embedding(count)

        def give_up(*_, **options):
            assert options["maxiter"] == spectral.MAX_RESTARTS
            raise spectral.scipy.sparse.linalg.ArpackNoConvergence("too slow", [], [])

        monkeypatch.setattr(spectral.scipy.sparse.linalg, "eigsh", give_up)
        found["fallen back"] = graph.embedding(count)
    for rows in found.values():
        assert rows.shape == (len(W), count)
        assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-6)


def test_several_vectors_are_dense_up_to_a_size(monkeypatch):
    """Few nodes, or few for the vectors asked for, are not worth an iteration."""
    graph, _, _ = graph_of(n=80, k=4)
    nodes = len(graph.weights)
    asked = []
    real = spectral.scipy.sparse.linalg.eigsh

    def eigsh(operator, k, **options):
        asked.append(k)
        assert options["which"] == "LA"
        return real(operator, k, **options)

    monkeypatch.setattr(spectral.scipy.sparse.linalg, "eigsh", eigsh)
    monkeypatch.setattr(spectral, "DENSE", nodes)
    graph.embedding(3)
    assert asked == []
    monkeypatch.setattr(spectral, "DENSE", nodes - 1)
    graph.embedding(3)
    assert asked == [2]
    graph.embedding(nodes // 4 + 1)
    assert asked == [2]


def test_ncut(kind):
    graph, W, weights = graph_of(seed=5)
    right = np.arange(len(W)) % 3 == 0
    assert graph.ncut(right) == pytest.approx(reference.ncut_value(W * np.outer(weights, weights), right))


def test_best_cutoff_is_halfway_across_the_best_gap(kind, monkeypatch):
    monkeypatch.setattr(spectral, "ROWS", 16)  # several blocks of the operator
    for seed in range(3):
        graph, W, weights = graph_of(seed=seed, noise=0.6)
        vector = graph.second_vector()
        values = np.unique(vector)
        weighted = W * np.outer(weights, weights)
        every = [reference.ncut_value(weighted, vector > v) for v in values[:-1]]
        best = int(np.argmin(every))
        assert _best_cutoff(graph, vector) == pytest.approx((values[best] + values[best + 1]) / 2)


@pytest.mark.parametrize(("gap", "wide"), [(2.5e-7, True), (1.5e-7, False)])
def test_a_gap_that_is_rounding_is_no_place_to_cut(gap, wide):
    """Twice ZERO of the largest entry: nothing in it would go left or right for certain."""
    W, _ = blocks([2, 3])
    vector = np.array([-10.0, 1.0, 1.0 + gap, 5.0, 10.0])
    assert (abs(_best_cutoff(from_matrix(W), vector) - 1.0) < 1e-6) == wide


def test_links_to_earlier_nodes(kind, monkeypatch):
    monkeypatch.setattr(spectral, "ROWS", 16)
    graph, W, weights = graph_of()
    order = np.random.default_rng(0).permutation(len(W))
    expected = [
        2 * sum(W[v, u] * weights[u] for u in order[:place]) + W[v, v] * weights[v] for place, v in enumerate(order)
    ]
    between = []
    real = type(graph.pairs).between
    monkeypatch.setattr(type(graph.pairs), "between", lambda self, a, b: between.append(len(a)) or real(self, a, b))
    assert_allclose(spectral._earlier(graph, order), expected)
    assert max(between, default=0) == (0 if kind == "dense" else 16)


@pytest.mark.parametrize("sign", [1, -1])
def test_shifted_cutoff(sign):
    """Both with the smaller side left and right."""
    graph, _, weights = graph_of(seed=2)
    z = sign * (np.sin(np.arange(len(weights))) + 0.4)
    z[3] = 0.0  # on the cutoff: right
    small = z < 0 if sign > 0 else z >= 0
    gamma = weights[small].sum() / weights[~small].sum()
    assert gamma < 1
    few, many = (np.average(z[side], weights=weights[side]) for side in (small, ~small))
    assert _shifted_cutoff(graph, z) == pytest.approx((many + np.sqrt(gamma) * few) / (1 + np.sqrt(gamma)))


def blocks(sizes, within=1.0, between=0.01):
    group = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(group[:, None] == group, within, between), group


def test_cut_tree():
    W, group = blocks([5, 4, 3])
    tree = cut(from_matrix(W), 3, "ncut")
    assert tree.labels().tolist() == group.tolist()
    assert tree.labels().dtype == np.int32
    root = tree.nodes[0]
    assert (root.left, root.right, root.label, root.size) == (1, 2, -1, 12.0)
    assert root.cutoff == 0
    assert root.degrees == pytest.approx(W.sum(axis=1))
    assert len(root.vector) == 12
    leaves = [node for node in tree.nodes if node.left < 0]
    assert sorted((node.label, node.size) for node in leaves) == [(0, 5.0), (1, 4.0), (2, 3.0)]
    assert {(node.left, node.right) for node in leaves} == {(-1, -1)}
    assert [node.ncut for node in leaves] == [np.inf] * 3
    left = tree.nodes[root.left]
    assert left.members.tolist() == np.flatnonzero(~_on_right(root.vector, 0.0)).tolist()


def test_one_cluster_is_not_cut():
    tree = cut(from_matrix(np.ones((3, 3))), 1, "ncut")
    assert len(tree.nodes) == 1
    assert tree.labels().tolist() == [0, 0, 0]


def test_largest_part_next_or_lowest_ncut():
    """Two pairs of blocks: the larger pair hangs together, the smaller one falls apart."""
    W, group = blocks([6, 6, 3, 3], between=0.001)
    W[np.ix_(group < 2, group < 2)] = np.where(group[group < 2][:, None] == group[group < 2], 1.0, 0.9)
    W[np.ix_(group > 1, group > 1)] = np.where(group[group > 1][:, None] == group[group > 1], 1.0, 0.05)
    graph = from_matrix(W)
    largest, lowest = cut(graph, 3, "ncut"), cut(graph, 3, "ncut-lowest")
    assert len(set(largest.labels()[12:])) == 1
    assert lowest.labels().tolist() == [0] * 12 + [1] * 3 + [2] * 3
    for tree in (largest, lowest):
        for node in tree.nodes:
            if node.left >= 0:
                own = W[np.ix_(node.members, node.members)]
                right = np.isin(node.members, tree.nodes[node.right].members)
                assert node.ncut == pytest.approx(reference.ncut_value(own, right))


def test_labels_go_by_weight_and_ties_by_place():
    W, group = blocks([2, 2])
    for heavy in (0, 1):
        weights = np.where(group == heavy, 9, 1)
        assert (cut(from_matrix(W, weights), 2, "ncut").labels() == (group != heavy)).all()
    assert cut(from_matrix(W), 2, "ncut").labels().tolist() == [0, 0, 1, 1]


def test_more_clusters_than_groups():
    W, _ = blocks([1, 1, 1])
    assert sorted(cut(from_matrix(W), 3, "ncut").labels()) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"n_clusters=5 is more than the 3 groups of rows"):
        cut(from_matrix(W), 5, "ncut")


def test_a_node_is_looked_at_once(monkeypatch):
    W, _ = blocks([3, 2])
    graph = from_matrix(W)
    node = CutNode(np.arange(5), 5.0)
    assert len(node.vector) == len(node.degrees) == 0
    _propose(graph, node, "ncut")
    before = node.vector
    monkeypatch.setattr(Graph, "second_vector", lambda *_: pytest.fail("again"))
    _propose(graph, node, "ncut")
    assert node.vector is before


@pytest.mark.parametrize(
    ("rule", "signs"), [("ncut", True), ("ncut-lowest", True), ("ncut-best", False), ("ncut-shifted", False)]
)
def test_rules_have_their_cutoffs_and_need_signs_or_more(rule, signs, monkeypatch):
    graph, _, _ = graph_of(seed=1)
    asked = []
    real = Graph.second_vector
    monkeypatch.setattr(Graph, "second_vector", lambda g, signs_only=False: asked.append(signs_only) or real(g))
    node = CutNode(np.arange(len(graph.weights)), float(graph.weights.sum()))
    _propose(graph, node, rule)
    assert asked == [signs]
    expected = {"ncut-best": _best_cutoff, "ncut-shifted": _shifted_cutoff}.get(rule, lambda *_: 0.0)(
        graph, node.vector
    )
    assert node.cutoff == expected
    assert node.ncut == pytest.approx(graph.ncut(_on_right(node.vector, node.cutoff)))


def test_memory_is_released_before_a_part_is_cut(monkeypatch):
    graph, _, _ = graph_of()
    released = []
    monkeypatch.setattr(graph.pairs, "release", lambda: released.append(True), raising=False)
    everyone = np.arange(len(graph.weights))
    _propose(graph, CutNode(everyone, 1.0), "ncut")
    assert released == []
    _propose(graph, CutNode(everyone[::2], 1.0), "ncut")
    assert released == [True]


@pytest.fixture
def products(monkeypatch):
    """Counts the products with the operator."""
    counted = []
    real = Graph.apply
    monkeypatch.setattr(Graph, "apply", lambda graph, vector: counted.append(1) or real(graph, vector))
    return counted


def test_lanczos_falls_back_to_the_dense_method(monkeypatch, products):
    graph, _, _ = graph_of(seed=3)
    expected = graph.second_vector()
    products.clear()
    monkeypatch.setattr(spectral, "MAX_STEPS", 3)
    assert graph.second_vector() == pytest.approx(expected, abs=1e-8)
    assert len(products) == 3 + 1  # and one for the vote


def test_lanczos_looks_every_fifth_step_and_stops_early(products):
    graph, _, _ = graph_of(n=200, seed=3)
    graph.second_vector()
    assert len(graph.weights) > 150
    assert len(products) - 1 in (10, 15, 20, 25)


def test_lanczos_stops_when_nothing_is_left():
    """As many steps as the graph has dimensions beside the known one, and no more."""
    for n in (2, 3, 4, 9):
        W = np.exp(-(np.abs(np.subtract.outer(np.arange(n), np.arange(n)) + 0.0) ** 1.5) / 2)
        matrix, _, vectors = normalised(W, np.ones(n))
        expected = matrix @ vectors[1]
        z = from_matrix(W).second_vector()
        assert z == pytest.approx(-expected * np.sign(expected[0]), abs=1e-9)


def test_ritz_of_a_projected_problem():
    diagonal, side, norm = [0.9, 0.5, 0.1], [0.2, 0.05], 0.01
    T = np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1)
    values, vectors = np.linalg.eigh(T)
    coefficients, error = spectral._ritz(diagonal, side, norm)
    assert np.abs(coefficients) == pytest.approx(np.abs(vectors[:, -1]))
    assert error == pytest.approx(norm * abs(vectors[-1, -1]) / (values[-1] - values[-2]))
    one, error = spectral._ritz([0.3], [], 0.7)
    assert one.tolist() == [1.0]
    assert error == 0.7
    assert spectral._ritz(diagonal, side, 1e-15)[1] == 0.0


def ritz(values, residuals, vector=(0.5, -0.5), exhausted=False):
    vectors = np.asarray(vector) + 10.0 * np.arange(len(residuals))[:, None]
    return spectral.Ritz(np.array(values), vectors, vectors, np.array(residuals), exhausted)


def test_leading_group():
    assert spectral._leading_group(ritz([1.0, 1 - 1e-11, 0.5, 0.2], [1e-3, 2e-3, 5e-3])) == (2, pytest.approx(4e-3))
    assert spectral._leading_group(ritz([1.0, 1 - 1e-11, 1 - 2e-11, 0.2], [2e-3, 1e-3])) == (2, pytest.approx(1e8))
    assert spectral._leading_group(ritz([1.0, 0.5], [1e-15, 1.0])) == (1, 0.0)
    assert spectral._leading_group(ritz([1.0, 1.0], [1e-5, 1e-3])) == (2, np.inf)


def rule(monkeypatch, ask):
    """The rule by which an iteration is told that it is good enough."""

    class Asked(Exception):
        pass

    rules = []

    def converged(_graph, _count, enough):
        rules.append(enough)
        raise Asked

    monkeypatch.setattr(spectral, "_converged", converged)
    with pytest.raises(Asked):
        ask()
    return rules[0]


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
def test_when_a_vector_or_its_signs_are_good_enough(values, residuals, vector, exact, signs, monkeypatch):
    for signs_only, expected in ((False, exact), (True, signs)):
        enough = rule(monkeypatch, lambda asked=signs_only: spectral._operator_vector(graph_of()[0], asked))
        assert enough(ritz(values, residuals, vector)) is expected


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
def test_when_several_vectors_are_good_enough(values, residuals, expected, monkeypatch):
    enough = rule(monkeypatch, lambda: spectral._operator_vectors(graph_of()[0], 2))
    assert enough(ritz(values, residuals)) is expected


def test_the_first_guess_is_near(monkeypatch):
    monkeypatch.setattr(affinity, "DENSE_NODES", 0)
    graph, W, weights = graph_of(n=200, noise=0.2)
    _, _, vectors = normalised(W, weights)
    monkeypatch.setattr(spectral, "SAMPLE", 50)
    guess = spectral._first_guess(graph, 3)
    assert guess.shape == (3, len(W))
    basis = np.linalg.qr(guess.T)[0]
    assert np.linalg.norm(basis.T @ vectors[1]) > 0.9
    assert np.linalg.norm(guess, axis=1) == pytest.approx(1, abs=0.2)
    assert (guess == spectral._first_guess(graph, 3)).all()


def test_unit():
    found = spectral._unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert found.tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_eigenvectors_that_do_not_converge_are_told(monkeypatch):
    monkeypatch.setattr(affinity, "DENSE_NODES", 0)
    graph, _, _ = graph_of(n=200, noise=0.8)
    monkeypatch.setattr("clusterforests.combining.eigenvectors.MAX_PRODUCTS", 1)
    with pytest.warns(UserWarning, match=r"only known to \de-\d+: rows on the border"):
        graph.second_vector()
    with pytest.warns(UserWarning, match="only known to"):
        graph.embedding(3)


def test_labels_of_a_tree():
    whole = CutNode(np.arange(4), 4.0, left=1, right=2)
    tree = CutTree([whole, CutNode(np.array([1, 3]), 2.0, label=1), CutNode(np.array([0, 2]), 2.0, label=0)])
    assert tree.labels().tolist() == [0, 1, 0, 1]
