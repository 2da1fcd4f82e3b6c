"""The cuts of the consensus graph in small: every step against plain linear algebra."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from small_graphs import KINDS, from_matrix, graph_of

from clusterforests.consensus import normalized_cut
from clusterforests.consensus.eigenvectors import second_vector
from clusterforests.consensus.normalized_cut import (
    CutNode,
    CutTree,
    _best_cutoff,
    _links_to_earlier,
    _on_right,
    _propose,
    _shifted_cutoff,
    recursive_cut,
)


def test_an_entry_on_the_cutoff_goes_right():
    vector = np.array([-2.0, -1e-9, 0.0, 1e-9, 1.0, 0.5, 0.5 - 1e-8, 0.5 - 3e-8])
    assert _on_right(vector, 0.0).tolist() == [False, True, True, True, True, True, True, True]
    assert _on_right(vector, 0.5).tolist() == [False, False, False, False, True, True, True, False]


@pytest.mark.parametrize("kind", KINDS)
def test_best_cutoff_is_halfway_across_the_best_gap(kind):
    for seed in range(3):
        graph, W, weights = graph_of(seed=seed, noise=0.6, limits=KINDS[kind])
        vector = second_vector(graph)
        values = np.unique(vector)
        weighted = W * np.outer(weights, weights)
        every = [reference.ncut_value(weighted, vector > v) for v in values[:-1]]
        best = int(np.argmin(every))
        found = _best_cutoff(graph, vector, step=16)  # several blocks of the operator
        assert found == pytest.approx((values[best] + values[best + 1]) / 2)


@pytest.mark.parametrize(("gap", "wide"), [(2.5e-7, True), (1.5e-7, False)])
def test_a_gap_that_is_rounding_is_no_place_to_cut(gap, wide):
    """Twice ZERO of the largest entry: nothing in it would go left or right for certain."""
    W, _ = blocks([2, 3])
    vector = np.array([-10.0, 1.0, 1.0 + gap, 5.0, 10.0])
    assert (abs(_best_cutoff(from_matrix(W), vector) - 1.0) < 1e-6) == wide


@pytest.mark.parametrize("kind", KINDS)
def test_links_to_earlier_nodes(kind):
    graph, W, weights = graph_of(limits=KINDS[kind])
    order = np.random.default_rng(0).permutation(len(W))
    expected = [
        2 * sum(W[v, u] * weights[u] for u in order[:place]) + W[v, v] * weights[v] for place, v in enumerate(order)
    ]
    assert_allclose(_links_to_earlier(graph, order, step=16), expected)


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
    tree = recursive_cut(from_matrix(W), 3, "ncut")
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
    tree = recursive_cut(from_matrix(np.ones((3, 3))), 1, "ncut")
    assert len(tree.nodes) == 1
    assert tree.labels().tolist() == [0, 0, 0]


def test_largest_part_next_or_lowest_ncut():
    """Two pairs of blocks: the larger pair hangs together, the smaller one falls apart."""
    W, group = blocks([6, 6, 3, 3], between=0.001)
    W[np.ix_(group < 2, group < 2)] = np.where(group[group < 2][:, None] == group[group < 2], 1.0, 0.9)
    W[np.ix_(group > 1, group > 1)] = np.where(group[group > 1][:, None] == group[group > 1], 1.0, 0.05)
    graph = from_matrix(W)
    largest, lowest = recursive_cut(graph, 3, "ncut"), recursive_cut(graph, 3, "ncut-lowest")
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
        assert (recursive_cut(from_matrix(W, weights), 2, "ncut").labels() == (group != heavy)).all()
    assert recursive_cut(from_matrix(W), 2, "ncut").labels().tolist() == [0, 0, 1, 1]


def test_more_clusters_than_groups():
    W, _ = blocks([1, 1, 1])
    assert sorted(recursive_cut(from_matrix(W), 3, "ncut").labels()) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"n_clusters=5 is more than the 3 groups of rows"):
        recursive_cut(from_matrix(W), 5, "ncut")


def test_a_node_is_looked_at_once(monkeypatch):
    W, _ = blocks([3, 2])
    graph = from_matrix(W)
    node = CutNode(np.arange(5), 5.0)
    assert len(node.vector) == len(node.degrees) == 0
    _propose(graph, node, "ncut")
    before = node.vector
    monkeypatch.setattr(normalized_cut, "second_vector", lambda *_: pytest.fail("again"))
    _propose(graph, node, "ncut")
    assert node.vector is before


@pytest.mark.parametrize(
    ("rule", "signs"), [("ncut", True), ("ncut-lowest", True), ("ncut-best", False), ("ncut-shifted", False)]
)
def test_rules_have_their_cutoffs_and_need_signs_or_more(rule, signs, monkeypatch):
    graph, _, _ = graph_of(seed=1)
    asked = []
    monkeypatch.setattr(
        normalized_cut, "second_vector", lambda g, signs_only: asked.append(signs_only) or second_vector(g)
    )
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
    monkeypatch.setattr(graph.affinity, "release", lambda: released.append(True), raising=False)
    everyone = np.arange(len(graph.weights))
    _propose(graph, CutNode(everyone, 1.0), "ncut")
    assert released == []
    _propose(graph, CutNode(everyone[::2], 1.0), "ncut")
    assert released == [True]


def test_labels_of_a_tree():
    whole = CutNode(np.arange(4), 4.0, left=1, right=2)
    tree = CutTree([whole, CutNode(np.array([1, 3]), 2.0, label=1), CutNode(np.array([0, 2]), 2.0, label=0)])
    assert tree.labels().tolist() == [0, 1, 0, 1]
