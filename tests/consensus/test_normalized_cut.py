"""The cuts of the consensus graph in small: every step against plain linear algebra."""

import numpy as np
import pytest
import reference
from noisy_partitions import noisy
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from small_graphs import from_matrix, graph_of

from clusterforests import ClusterForest
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Graph, affinity, collapse
from clusterforests.consensus.normalized_cut import (
    BACKGROUND_WEIGHT,
    SCALE,
    conductance,
    cut_at_gaps,
    fine_shares,
    kmeans_groups,
    recursive_cut,
)

BACKEND = CpuBackend(1)

# Recursive cuts.


def weighted_graph(seed, n=40):
    labels, _ = noisy(n=n, seed=seed)
    signatures = collapse(labels)
    weights = np.random.default_rng(seed).integers(1, 4, len(signatures)).astype(float)
    return Graph(BACKEND, affinity(BACKEND, signatures, 0.3, 4.0), weights)


def blocks(sizes, within=1.0, between=0.01):
    group = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(group[:, None] == group[None, :], within, between), group


def test_a_tree_of_cuts():
    graph = weighted_graph(3, n=80)
    tree = recursive_cut(graph, 5)
    assert len(tree.nodes) == 9
    assert sorted(node.label for node in tree.nodes if node.left < 0) == list(range(5))
    for node in tree.nodes:
        if node.left >= 0:
            left, right = tree.nodes[node.left], tree.nodes[node.right]
            assert sorted([*left.members, *right.members]) == sorted(node.members)
            w, side = graph.weights[node.members], np.isin(node.members, right.members)
            part = graph.W[np.ix_(node.members, node.members)] * np.outer(w, w)
            assert node.ncut == pytest.approx(reference.ncut_value(part, side))
    assert (np.diff(np.bincount(tree.labels(), weights=graph.weights)) <= 0).all()


def test_the_largest_part_is_split_next():
    nodes = recursive_cut(weighted_graph(5, n=90), 6).nodes
    for step in range(1, 5):
        children = 1 + 2 * step
        split = next(i for i, node in enumerate(nodes) if node.left == children)
        open_then = [i for i in range(children) if nodes[i].left < 0 or nodes[i].left >= children]
        assert nodes[split].size == max(nodes[i].size for i in open_then)


def test_clear_blocks():
    W, group = blocks([5, 4, 3])
    tree = recursive_cut(from_matrix(W), 3)
    assert tree.labels().tolist() == group.tolist()
    assert tree.labels().dtype == np.int32
    root = tree.nodes[0]
    assert (root.left, root.right, root.label, root.size) == (1, 2, -1, 12.0)
    assert root.degrees == pytest.approx(W.sum(axis=1))
    assert tree.nodes[root.left].members.tolist() == np.flatnonzero(root.vector < root.cutoff).tolist()
    leaves = [node for node in tree.nodes if node.left < 0]
    assert sorted((node.label, node.size) for node in leaves) == [(0, 5.0), (1, 4.0), (2, 3.0)]
    assert {(node.left, node.right, node.ncut) for node in leaves} == {(-1, -1, np.inf)}


def test_labels_go_by_weight_and_ties_by_place():
    W, group = blocks([2, 2])
    for heavy in (0, 1):
        weights = np.where(group == heavy, 9, 1)
        assert (recursive_cut(from_matrix(W, weights), 2).labels() == (group != heavy)).all()
    assert recursive_cut(from_matrix(W), 2).labels().tolist() == [0, 0, 1, 1]


def test_as_many_clusters_as_nodes_and_no_more():
    assert recursive_cut(from_matrix(np.ones((3, 3))), 1).labels().tolist() == [0, 0, 0]
    W, _ = blocks([1, 1, 1])
    assert sorted(recursive_cut(from_matrix(W), 3).labels()) == [0, 1, 2]
    with pytest.raises(ValueError, match="n_clusters=5 is more than the 3"):
        recursive_cut(from_matrix(W), 5)


def test_memory_is_released_before_a_part_is_cut(monkeypatch):
    graph, _, _ = graph_of()
    released = []
    monkeypatch.setattr(graph.affinity, "release", lambda: released.append(True), raising=False)
    recursive_cut(graph, 2)
    assert not released
    recursive_cut(graph, 3)
    assert released == [True]


# K-means in the spectral embedding.

RNG = np.random.default_rng(0)
TRUTH = np.repeat(np.arange(120), 4)
ROWS = np.eye(120)[TRUTH] + 0.01 * RNG.normal(size=(480, 120))


def test_most_of_many_clear_groups_are_found():
    found = kmeans_groups(CpuBackend(), ROWS, np.ones(480), 120)
    assert len(np.unique(found)) == 120
    assert adjusted_rand_score(TRUTH, found) > 0.95


def test_threads_do_not_show():
    assert (
        kmeans_groups(CpuBackend(1), ROWS, TRUTH + 1.0, 120) == kmeans_groups(CpuBackend(3), ROWS, TRUTH + 1.0, 120)
    ).all()


def test_more_clusters_than_different_rows_are_refused():
    with pytest.raises(ValueError, match="n_clusters=121 is more than the 120 different rows"):
        kmeans_groups(CpuBackend(), np.eye(120)[TRUTH], np.ones(480), 121)
    assert len(np.unique(kmeans_groups(CpuBackend(), np.eye(120)[TRUTH], np.ones(480), 120))) == 120


# Cuts at gaps.


def partitions(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return np.array(
        [np.r_[np.arange(k), rng.integers(0, k, n - k)] for k in (2, 3, 3, 2, 9, 2, 12, 3, 2, 11)], np.int32
    )


def test_the_finest_partitions_make_the_graph():
    labels = partitions()
    nodes = collapse(labels)
    W = np.expm1(SCALE * fine_shares(BACKEND, nodes)) + BACKGROUND_WEIGHT * reference.coassociation(
        nodes.labels, nodes.labels
    )
    expected = reference.gaps_weights(nodes.labels, 3, SCALE, BACKGROUND_WEIGHT)
    np.testing.assert_allclose(W, expected, rtol=1e-9, atol=1e-12)


def test_what_leaks_is_the_mean_share_of_links_that_lead_out():
    labels = partitions(1)
    nodes = collapse(labels, np.arange(1.0, 61.0))
    groups = (np.arange(len(nodes)) % 2).astype(np.int32)
    fine = labels[[4, 6, 9]][:, np.unique(nodes.inverse, return_index=True)[1]]
    P = reference.coassociation(fine, fine) * nodes.weights[:, None] * nodes.weights
    out = [P[groups == g][:, groups != g].sum() / P[groups == g].sum() for g in (0, 1)]
    assert conductance(BACKEND, nodes, groups) == pytest.approx(np.mean(out))


def test_a_gap_around_an_outlier_is_no_cut():
    nodes = collapse(partitions())
    groups = np.zeros(len(nodes), np.int32)
    groups[0] = 1
    assert conductance(BACKEND, nodes, groups) == np.inf


def test_groups_are_as_many_as_asked_for():
    assert len(np.unique(cut_at_gaps(BACKEND, collapse(partitions()), 4))) == 4


@pytest.mark.parametrize("shape", [make_moons, make_circles])
def test_curved_shapes(shape):
    more = {"factor": 0.5} if shape is make_circles else {}
    X, y = shape(400, noise=0.05, random_state=0, **more)
    forest = ClusterForest(2, random_state=0).fit(X)
    assert forest.chosen_params_["consensus"].value == "gaps"
    assert adjusted_rand_score(y, forest.labels_) > 0.99
    assert (forest.predict(X) == forest.labels_).all()
    noisy = np.column_stack([X, np.random.default_rng(0).normal(size=(400, 10))])
    if shape is make_moons:
        assert adjusted_rand_score(y, ClusterForest(2, random_state=0).fit(noisy).labels_) > 0.9
