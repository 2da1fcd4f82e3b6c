"""Variants of the paper's cut against plain linear algebra, and single linkage against SciPy's."""

import numpy as np
import pytest
import reference
from noisy_partitions import noisy
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from small_graphs import from_matrix, graph_of

from clusterforests.consensus.eigenvectors import second_vector
from clusterforests.consensus.normalized_cut import recursive_cut
from paper.consensus import single_linkage
from paper.consensus.graph_cuts import best_cutoff, recursive_groups, shifted_cutoff


def blocks(sizes, within=1.0, between=0.01):
    group = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(group[:, None] == group[None, :], within, between), group


@pytest.mark.parametrize("seed", range(3))
def test_the_best_cutoff_is_halfway_across_the_best_gap(seed):
    graph, W, weights = graph_of(seed=seed, noise=0.6)
    vector = second_vector(graph)
    values = np.unique(vector)
    every = [reference.ncut_value(W * np.outer(weights, weights), vector > v) for v in values[:-1]]
    best = int(np.argmin(every))
    assert best_cutoff(graph, vector) == pytest.approx((values[best] + values[best + 1]) / 2)


@pytest.mark.parametrize(("gap", "wide"), [(2.5e-7, True), (1.5e-7, False)])
def test_a_gap_that_is_rounding_is_no_place_to_cut(gap, wide):
    """Twice ZERO of the largest entry: nothing in it would go left or right for certain."""
    vector = np.array([-10.0, 1.0, 1.0 + gap, 5.0, 10.0])
    assert (abs(best_cutoff(from_matrix(blocks([2, 3])[0]), vector) - 1.0) < 1e-6) == wide


@pytest.mark.parametrize("sign", [1, -1])
def test_the_shifted_cutoff_is_nearer_to_the_larger_side(sign):
    graph, _, weights = graph_of(seed=2)
    z = sign * (np.sin(np.arange(len(weights))) + 0.4)
    z[3] = 0.0  # on the cutoff: right
    small = z < 0 if sign > 0 else z >= 0
    gamma = weights[small].sum() / weights[~small].sum()
    assert gamma < 1
    few, many = (np.average(z[side], weights=weights[side]) for side in (small, ~small))
    assert shifted_cutoff(graph, z) == pytest.approx((many + np.sqrt(gamma) * few) / (1 + np.sqrt(gamma)))


def test_the_part_with_the_lowest_ncut_is_next():
    """Two pairs of blocks: the larger pair hangs together, the smaller one falls apart."""
    W, group = blocks([6, 6, 3, 3], between=0.001)
    W[np.ix_(group < 2, group < 2)] = np.where(group[group < 2][:, None] == group[group < 2], 1.0, 0.9)
    W[np.ix_(group > 1, group > 1)] = np.where(group[group > 1][:, None] == group[group > 1], 1.0, 0.05)
    graph = from_matrix(W)
    assert len(set(recursive_cut(graph, 3).labels()[12:])) == 1
    lowest = recursive_groups(graph, 3, lambda *_: 0.0, lowest=True)
    assert lowest.tolist() == [0] * 12 + [1] * 3 + [2] * 3


@pytest.mark.parametrize("seed", range(3))
def test_cut_at_0_and_largest_next_it_is_the_library_s_cut(seed):
    graph, _, _ = graph_of(seed=seed, k=4, noise=0.5)
    assert (recursive_groups(graph, 5, lambda *_: 0.0) == recursive_cut(graph, 5).labels()).all()


def test_single_linkage_is_scipy_s():
    labels, _ = noisy(members=101, noise=0.3)
    P = reference.coassociation(labels, labels)
    expected = fcluster(linkage(squareform(1 - P, checks=False), "single"), 5, criterion="maxclust")
    if len(set(expected)) == 5:  # it has no ties there
        assert adjusted_rand_score(expected, single_linkage(labels, 5)) == 1
