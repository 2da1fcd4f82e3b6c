"""Groups that are refined by the values of their rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_partitions import noisy, uncollapsed
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Graph, Signatures, collapse
from clusterforests.consensus.eigenvectors import spectral_embedding
from clusterforests.consensus.methods import ConsensusGraph
from clusterforests.consensus.nodes import CutSettings, Nodes, with_values
from clusterforests.consensus.placement import MostLinked
from clusterforests.consensus.refinement import LEAST_LEFT, log_densities, refine


def tight_in_wide(n=600, p=4, seed=0):
    """A cluster inside another that spreads three times as far: their centres are the same."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return rng.normal(size=(n, p)) * np.where(truth, 3.0, 1.0)[:, None], truth


def test_log_densities_are_those_of_normal_distributions():
    rng = np.random.default_rng(0)
    values, member = rng.normal(size=(40, 3)), rng.random((40, 2))
    mass = member.sum(axis=0)
    centers = [np.average(values, axis=0, weights=own) for own in member.T]
    own = [np.cov(values.T, aweights=m, ddof=0) for m in member.T]
    common = np.average(own, axis=0, weights=mass)
    expected = [
        np.log(mass[g] / mass.sum())
        + multivariate_normal(centers[g], (mass[g] * own[g] + 4 * common) / (mass[g] + 4) + 0.01 * np.eye(3)).logpdf(
            values
        )
        for g in range(2)
    ]
    constant = 1.5 * np.log(2 * np.pi)
    assert np.allclose(log_densities(values, member, np.full(3, 0.01)), np.transpose(expected) + constant, atol=1e-12)


def test_clusters_that_differ_in_spread_are_found():
    X, truth = tight_in_wide()
    found = {name: ClusterForest(2, consensus=name, random_state=0).fit(X) for name in ("auto", "kway")}
    index = {name: adjusted_rand_score(truth, forest.labels_) for name, forest in found.items()}
    assert index["auto"] > 0.55
    assert index["kway"] < 0.35
    assert found["auto"].chosen_params_["consensus"].value == "refined"
    assert "refined by the values" in found["auto"].chosen_params_["consensus"].reason


def refined(labels, values, groups, weights=None):
    n = labels.shape[1]
    nodes = Signatures(labels, np.arange(n), np.ones(n) if weights is None else weights, values=values)
    return refine(CpuBackend(), nodes, groups)


@given(seed=st.integers(0, 200), k=st.integers(1, 5), p=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_every_group_keeps_some_of_its_size(seed, k, p):
    rng = np.random.default_rng(seed)
    labels, groups = rng.integers(0, 4, (10, 30), dtype=np.int32), (np.arange(30) % k).astype(np.int32)
    moved = refined(labels, np.round(rng.standard_t(1, (30, p)), 1), groups)
    assert moved.dtype == np.int32
    assert (np.bincount(moved, minlength=k) > LEAST_LEFT * np.bincount(groups)).all()


def test_a_column_of_two_values_does_not_take_over():
    """Groups that follow it have no variance in it, which would outweigh all other columns."""
    rng = np.random.default_rng(0)
    X, truth = tight_in_wide(400, 3)
    X[:, 0] += 4 * truth
    two = (rng.random(400) < np.where(truth, 0.8, 0.2)).astype(np.int32)
    labels = noisy(400, k=2)[0]
    moved = refined(labels, np.column_stack([X, two]), two)
    assert adjusted_rand_score(truth, moved) > 0.6
    assert adjusted_rand_score(two, moved) < 0.5


def test_rows_that_are_all_equal_stay_where_they_are():
    labels, truth = noisy()
    assert (refined(labels, np.ones((60, 2)), truth.astype(np.int32)) == truth).all()


def test_units_and_the_size_of_weights_do_not_matter():
    X, _ = tight_in_wide(200, 3)
    labels, groups = noisy(200, k=2)[0], (X[:, 0] > 0).astype(np.int32)
    found = refined(labels, X, groups)
    assert (found != groups).any()
    assert (refined(labels, X * [1e6, 1.0, 1e-6] + 3, groups) == found).all()
    assert (refined(labels, X, groups, np.full(200, 0.125)) == found).all()


def test_a_weight_is_a_row_repeated():
    X, _ = tight_in_wide(300)
    times = np.random.default_rng(1).integers(1, 4, len(X))
    weighted = ClusterForest(2, random_state=0).fit(X, sample_weight=times)
    repeated = ClusterForest(2, random_state=0).fit(np.repeat(X, times, axis=0))
    assert (np.repeat(weighted.labels_, times) == repeated.labels_).all()


def test_the_even_graph_divides_links_by_the_roots_of_degrees():
    rng = np.random.default_rng(0)
    W, weights = rng.random((30, 30)) + np.eye(30), rng.integers(1, 4, 30).astype(float)
    W += W.T
    graph = Graph(CpuBackend(), W, weights)
    root = np.sqrt(graph.degrees)
    plain = Graph(CpuBackend(), W / root[:, None] / root, weights)
    assert np.allclose(
        np.abs(spectral_embedding(graph.degree_corrected(), 3)), np.abs(spectral_embedding(plain, 3)), atol=1e-8
    )


def test_without_values_all_parts_are_cut_at_once():
    nodes = uncollapsed(noisy()[0])
    graph = ConsensusGraph(CpuBackend(), nodes, CutSettings(3, "refined"))
    cut = graph.cut("refined")
    assert cut.method == "kway"
    assert (cut.groups == graph.cut("kway").groups).all()


def test_nodes_have_the_means_of_their_rows_in_any_order():
    rng = np.random.default_rng(0)
    labels, X = rng.integers(0, 2, (3, 50), dtype=np.int32), rng.normal(size=(50, 2))
    weights = rng.integers(0, 3, 50).astype(float)
    signatures = collapse(labels, weights)
    kept = np.flatnonzero(signatures.weights > 0)
    nodes = Nodes(Signatures(np.ascontiguousarray(signatures.labels[:, kept]), kept, signatures.weights[kept]))
    means = with_values(nodes, labels, weights, lambda rows: X[rows]).signatures.values
    for node, number in enumerate(kept):
        own = signatures.inverse == number
        assert np.allclose(means[node], np.average(X[own], axis=0, weights=weights[own]))
    order = rng.permutation(50)
    shuffled = with_values(nodes, labels[:, order], weights[order], lambda rows: X[order][rows])
    assert (shuffled.signatures.values == means).all()


def test_nodes_without_rows_leave_values_unknown():
    labels = np.array([[0, 0, 1]], dtype=np.int32)
    nodes = Nodes(collapse(labels))
    assert with_values(nodes, labels[:, :2], None, lambda rows: np.ones((len(rows), 1))) is nodes


def test_rows_beside_the_nodes_go_where_they_are_linked_most():
    X, truth = tight_in_wide(900)
    forest = ClusterForest(2, trees="varied", n_landmarks=300, random_state=0).fit(X)
    assert isinstance(forest._predictor.placement.rule, MostLinked)
    assert (forest.predict(X) == forest.labels_).all()
    assert adjusted_rand_score(truth, forest.labels_) > 0.45
