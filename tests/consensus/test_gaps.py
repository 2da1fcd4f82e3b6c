"""Cuts at gaps."""

import numpy as np
import pytest
import reference
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.gaps import JOINED, SCALE, cut_at_gaps, fine_shares, leak

BACKEND = CpuBackend(1)


def partitions(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return np.array(
        [np.r_[np.arange(k), rng.integers(0, k, n - k)] for k in (2, 3, 3, 2, 9, 2, 12, 3, 2, 11)], np.int32
    )


def test_the_finest_partitions_make_the_graph():
    labels = partitions()
    nodes = collapse(labels)
    W = np.expm1(SCALE * fine_shares(BACKEND, nodes)) + JOINED * reference.coassociation(nodes.labels, nodes.labels)
    expected = reference.gaps_weights(nodes.labels, 3, SCALE, JOINED)
    np.testing.assert_allclose(W, expected, rtol=1e-9, atol=1e-12)


def test_what_leaks_is_the_mean_share_of_links_that_lead_out():
    labels = partitions(1)
    nodes = collapse(labels, np.arange(1.0, 61.0))
    groups = (np.arange(len(nodes)) % 2).astype(np.int32)
    fine = labels[[4, 6, 9]][:, np.unique(nodes.inverse, return_index=True)[1]]
    P = reference.coassociation(fine, fine) * nodes.weights[:, None] * nodes.weights
    out = [P[groups == g][:, groups != g].sum() / P[groups == g].sum() for g in (0, 1)]
    assert leak(BACKEND, nodes, groups) == pytest.approx(np.mean(out))


def test_a_gap_around_an_outlier_is_no_cut():
    nodes = collapse(partitions())
    groups = np.zeros(len(nodes), np.int32)
    groups[0] = 1
    assert leak(BACKEND, nodes, groups) == np.inf


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
