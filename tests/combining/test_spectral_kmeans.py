"""K-means in the spectral embedding."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests.backends import CpuBackend
from clusterforests.combining.spectral_kmeans import kmeans_groups, starts_for


@pytest.mark.parametrize(("n_clusters", "starts"), [(1, 20), (100, 20), (101, 19), (400, 5), (1000, 2), (10**6, 2)])
def test_many_clusters_have_fewer_starts(n_clusters, starts):
    assert starts_for(n_clusters) == starts


def test_most_of_many_clear_groups_are_found():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(120), 4)
    rows = np.eye(120)[truth] + 0.01 * rng.normal(size=(480, 120))
    found = kmeans_groups(CpuBackend(), rows, np.ones(480), 120)
    assert len(np.unique(found)) == 120
    assert adjusted_rand_score(truth, found) > 0.8
